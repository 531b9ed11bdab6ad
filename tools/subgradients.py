"""Write docs/subgradients.md: the gradient of each operation at its kinks, ties and jumps.

    python -m tools.subgradients

Each row is an expression and a place. Slopes are measured from values on both sides, gradients by a backward.
tests/testing/test_subgradients.py compares the page with this output, and each row with PyTorch.
"""

import importlib
import textwrap
import warnings
from collections.abc import Sequence
from math import inf, isfinite, isinf, isnan
from pathlib import Path
from typing import Any, NamedTuple

TARGET = Path(__file__).resolve().parents[1] / "docs" / "subgradients.md"

Numbers = list[Any]


class Row(NamedTuple):
    """A place where an operation has more than one slope, or none."""

    op: str  # its key in the table of operations
    expression: str  # an expression of torch, F and the variables
    place: dict[str, Numbers]
    remark: str = ""


class Measured(NamedTuple):
    """The kinds of point: an entry for each number of the place."""

    left: Numbers
    right: Numbers
    gradient: Numbers
    forward: Numbers


LAST = "the last write counts; all get the gradient"

SECTIONS: dict[str, list[Row]] = {
    "Kinks": [
        Row("relu", "torch.relu(x)", {"x": [0]}),
        Row("nn.functional.leaky_relu", "F.leaky_relu(x, 0.1)", {"x": [0]}, "the slope of the negative side"),
        Row("abs", "torch.abs(x)", {"x": [0]}, "the middle one"),
        Row("abs", "torch.abs(x)", {"x": [0j]}, "complex; moved along the real axis"),
        Row("clamp", "torch.clamp(x, -1, 1)", {"x": [-1, 1]}, "the edges are inside"),
        Row("clamp", "torch.clamp(x, min=0)", {"x": [0]}, "such a relu has 1 at 0"),
        Row("clamp", "torch.clamp(x, min=y)", {"x": [1], "y": [1]}, "all to `x`; `maximum` shares"),
        Row("clamp", "torch.clamp(x, max=y)", {"x": [1], "y": [1]}, "all to `x`"),
        Row("clamp_min", "torch.clamp_min(x, 0)", {"x": [0]}, "as `clamp`"),
        Row("clamp_max", "torch.clamp_max(x, 0)", {"x": [0]}, "as `clamp`"),
        Row("logit", "torch.logit(x, 0.25)", {"x": [0.25]}, "the edges are inside"),
        Row("nn.functional.l1_loss", "F.l1_loss(x, y)", {"x": [2], "y": [2]}, "as `abs`"),
        Row("where", "torch.where(x > 0, x, -x)", {"x": [0]}, "that of the branch taken"),
    ],
    "Ties": [
        Row("maximum", "torch.maximum(x, y)", {"x": [2], "y": [2]}, "shared: 0.5 each"),
        Row("minimum", "torch.minimum(x, y)", {"x": [2], "y": [2]}, "shared"),
        Row("fmax", "torch.fmax(x, y)", {"x": [2], "y": [2]}, "all to `x`"),
        Row("fmin", "torch.fmin(x, y)", {"x": [2], "y": [2]}, "all to `x`"),
        Row("maximum", "torch.maximum(x, torch.zeros(1))", {"x": [0]}, "such a relu has 0.5 at 0"),
        Row("max", "torch.max(x)", {"x": [3, 1, 3]}, "shared among all that are equal"),
        Row("min", "torch.min(x)", {"x": [1, 1, 3]}, "shared"),
        Row("amax", "torch.amax(x, 0)", {"x": [3, 1, 3]}, "shared"),
        Row("amin", "torch.amin(x, 0)", {"x": [1, 1, 3]}, "shared"),
        Row("max", "torch.max(x, 0).values", {"x": [3, 1, 3]}, "all to the first: the one that `indices` names"),
        Row("min", "torch.min(x, 0).values", {"x": [1, 1, 3]}, "all to the first"),
        Row("aminmax", "torch.aminmax(x).max", {"x": [3, 3]}, "shared equally"),
        Row("cummax", "torch.cummax(x, 0).values", {"x": [3, 3]}, "to the last one"),
        Row("cummin", "torch.cummin(x, 0).values", {"x": [3, 3]}, "to the last one"),
        Row("median", "torch.median(x)", {"x": [3, 3, 1]}, "shared equally"),
        Row("nanmedian", "torch.nanmedian(x)", {"x": [3, 3, 1]}, "shared equally"),
        Row("kthvalue", "torch.kthvalue(x, 1).values", {"x": [3, 3]}, "all to the one that `indices` names"),
        Row("sort", "torch.sort(x).values", {"x": [3, 3]}, "each element gets that of its sorted place"),
        Row("msort", "torch.msort(x)", {"x": [3, 3]}, "as `sort`"),
        Row("mode", "torch.mode(x).values", {"x": [3, 3]}, "all to the one that `indices` names, the last"),
        Row("quantile", "torch.quantile(x, 0.)", {"x": [3, 3]}, "all to the first"),
        Row("nanquantile", "torch.nanquantile(x, 0.)", {"x": [3, 3]}, "all to the first"),
        Row("topk", "torch.topk(x, 1).values", {"x": [3, 3]}, "all to the one that `indices` names"),
        Row("scatter_reduce", "torch.scatter_reduce(x[:1], 0, torch.tensor([0]), x[1:], 'amax')", {"x": [3, 3]}, "shared"),
        Row("norm", "torch.norm(x, p=inf)", {"x": [2, -2]}, "shared"),
        Row("norm", "torch.norm(x, p=-inf)", {"x": [2, -2]}, "shared"),
    ],
    "Norms at zero": [
        Row("dist", "torch.dist(x, y)", {"x": [0], "y": [0]}, "as `norm`"),
        Row("linalg.vector_norm", "torch.linalg.vector_norm(x)", {"x": [0, 0]}, "as `norm`"),
        Row("linalg.norm", "torch.linalg.norm(x)", {"x": [0, 0]}, "as `norm`"),
        Row("linalg.matrix_norm", "torch.linalg.matrix_norm(x[None])", {"x": [0, 0]}, "as `norm`"),
        Row("hypot", "torch.hypot(x, y)", {"x": [0], "y": [0]}, "as `norm`; PyTorch's is nan"),
        Row("renorm", "torch.renorm(x[None], 2, 0, 1.0)", {"x": [1, 0]}, "as within the bound"),
        Row("std_mean", "torch.std_mean(x)[0]", {"x": [2, 2]}, "as `std`"),
        Row("norm", "torch.norm(x)", {"x": [0, 0]}, "the middle one"),
        Row("norm", "torch.norm(x, p=1)", {"x": [0, 0]}, "as `abs`"),
        Row("norm", "torch.norm(x, p=3)", {"x": [0, 0]}),
        Row("norm", "torch.norm(x, p=1.5)", {"x": [0, 4]}, "a smooth entry"),
        Row("norm", "torch.norm(x, p=0.5)", {"x": [0, 4]}, "infinite on both sides, opposite in sign"),
        Row("norm", "torch.norm(x, p=inf)", {"x": [0, 0]}),
        Row("norm", "torch.norm(x, p=0)", {"x": [0, 4]}, "a count: constant except for jumps"),
        Row("std", "torch.std(x)", {"x": [1, 1]}, "a norm of the deviations from the mean"),
    ],
    "Roots, powers, quotients": [
        Row("sqrt", "torch.sqrt(x)", {"x": [0]}, "the limit; times 0 it becomes nan in earlier operations"),
        Row("rsqrt", "torch.rsqrt(x)", {"x": [0]}),
        Row("log", "torch.log(x)", {"x": [0]}),
        Row("reciprocal", "torch.reciprocal(x)", {"x": [0]}, "-1 / 0**2"),
        Row("div", "x / y", {"x": [1], "y": [0]}),
        Row("pow", "x**0.5", {"x": [0]}),
        Row("pow", "x**1.5", {"x": [0]}),
        Row("pow", "x**1", {"x": [0]}, "smooth, also at 0"),
        Row("pow", "x**0", {"x": [0]}, "a constant: 0, not `0 * inf`"),
        Row("pow", "0.0**x", {"x": [0]}, "1 at 0, 0 to the right"),
        Row("pow", "x**y", {"x": [0], "y": [2]}, "smooth; `log(0)` plays no part"),
        Row("pow", "x**y", {"x": [0], "y": [0]}),
        Row("float_power", "torch.float_power(x, 1.5)", {"x": [0]}),
        Row("xlogy", "torch.xlogy(x, y)", {"x": [0], "y": [1]}, "smooth"),
        Row("xlogy", "torch.xlogy(x, x)", {"x": [0]}, "0 / 0 for the second operand"),
        Row("where", "torch.where(x > 0, torch.sqrt(x), 0.0)", {"x": [0]}, "the branch not taken gives 0 times inf"),
    ],
    "Products with zeros": [
        Row("prod", "torch.prod(x)", {"x": [0, 2, 3]}, "smooth: the product of the others"),
        Row("prod", "torch.prod(x)", {"x": [0, 0, 3]}, "smooth"),
    ],
    "Jumps": [
        Row("sgn", "torch.sgn(x)", {"x": [0]}, "constant on both sides"),
        Row("sign", "torch.sign(x)", {"x": [0]}, "constant on both sides"),
        Row("floor", "torch.floor(x)", {"x": [1]}, "constant on both sides"),
        Row("ceil", "torch.ceil(x)", {"x": [1]}, "constant on both sides"),
        Row("trunc", "torch.trunc(x)", {"x": [1]}, "constant on both sides"),
        Row("round", "torch.round(x)", {"x": [0.5]}, "constant on both sides"),
        Row("frac", "torch.frac(x)", {"x": [1]}, "as within a period"),
        Row("angle", "torch.angle(x)", {"x": [0]}, "constant on both sides"),
        Row("copysign", "torch.copysign(x, y)", {"x": [0], "y": [1]}, "the middle"),
        Row("nan_to_num", "torch.nan_to_num(x)", {"x": [inf]}, "0 for replaced elements"),
        Row("special.entr", "torch.special.entr(x)", {"x": [0]}),
        Row("remainder", "torch.remainder(x, y)", {"x": [3], "y": [1]}, "as within a period"),
        Row("remainder", "torch.remainder(x, 1)", {"x": [0]}, "as within a period"),
        Row("fmod", "torch.fmod(x, y)", {"x": [3], "y": [1]}, "as within a period"),
        Row("fmod", "torch.fmod(x, 1)", {"x": [0]}, "no jump near: smooth at 0"),
        Row("div", "torch.div(x, y, rounding_mode='floor')", {"x": [3], "y": [1]}, "constant on both sides"),
        Row("div", "torch.div(x, y, rounding_mode='trunc')", {"x": [3], "y": [1]}, "constant on both sides"),
        Row("frexp", "torch.frexp(x)[0]", {"x": [1]}, "as above it: 1 is 0.5 * 2"),
    ],
    "Elements that are written twice, or ignored": [
        Row("scatter", "torch.zeros(1).scatter(0, torch.tensor([0, 0]), x)", {"x": [1, 2]}, LAST),
        Row("index_put", "torch.zeros(1).index_put((torch.tensor([0, 0]),), x)", {"x": [1, 2]}, LAST),
        Row(
            "nn.functional.cross_entropy", "F.cross_entropy(x[None], torch.tensor([-100]))", {"x": [1, 2]},
            "the mean of no targets is nan, its gradient 0",
        ),
    ],
}  # fmt: skip


def rows() -> list[Row]:
    return [row for section in SECTIONS.values() for row in section]


def leaves_of(m: Any, place: dict[str, Numbers]) -> dict[str, Any]:
    """The variables as tensors of the module `m`."""
    dtype = m.complex128 if any(isinstance(x, complex) for xs in place.values() for x in xs) else m.float64
    return {name: m.tensor(numbers, dtype=dtype) for name, numbers in place.items()}


def value_of(m: Any, row: Row, variables: dict[str, Any]) -> Any:
    """The sum of the expression's result."""
    usual = m.get_default_dtype()
    m.set_default_dtype(m.float64)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return eval(row.expression, {"torch": m, "F": m.nn.functional, "inf": inf, **variables}).sum()
    finally:
        m.set_default_dtype(usual)


def gradient_of(m: Any, row: Row) -> Numbers:
    """The gradient by reverse mode; 0 if there is no graph."""
    variables = leaves_of(m, row.place)
    leaves = [leaf.requires_grad_() for leaf in variables.values()]
    total = value_of(m, row, variables)
    zeros = [m.zeros(leaf.shape, dtype=leaf.dtype) for leaf in leaves]
    if not total.requires_grad:
        grads: Sequence[Any] = zeros
    else:
        grads = m.autograd.grad(total, leaves, allow_unused=True, materialize_grads=True)
    return [entry for zero, grad in zip(zeros, grads, strict=True) for entry in (zero + grad).tolist()]


def forward_of(m: Any, row: Row) -> Numbers:
    """The derivative by forward mode, for one number at a time."""
    found = []
    for name, index in entries_of(row):
        with m.autograd.forward_ad.dual_level():
            variables = leaves_of(m, row.place)
            direction = m.zeros_like(variables[name])
            direction[index] = 1
            variables[name] = m.autograd.forward_ad.make_dual(variables[name], direction)
            tangent = m.autograd.forward_ad.unpack_dual(value_of(m, row, variables)).tangent
            found.append(0.0 if tangent is None else (m.zeros((), dtype=tangent.dtype) + tangent).item())
    return found


def entries_of(row: Row) -> list[tuple[str, int]]:
    return [(name, index) for name, numbers in row.place.items() for index in range(len(numbers))]


def slope(m: Any, row: Row, name: str, index: int, sign: int) -> Any:
    """The slope on one side, from values there: a number, `inf`, "jump", or None if undefined."""

    def value(step: float) -> float:
        moved = [number + sign * step if k == index else number for k, number in enumerate(row.place[name])]
        total = value_of(m, row, leaves_of(m, {**row.place, name: moved}))
        return float(total.real if total.is_complex() else total)

    here, near, far = value(0), value(1e-8), value(1e-4)
    change = sign * (near - here)
    if isnan(change):
        return None
    if isinf(change):
        return change
    if abs(change) > 1e-3 and abs(change) > 0.5 * abs(far - here):
        return "jump"
    steep, mild = change / 1e-8, sign * (far - here) / 1e-4
    if abs(steep) > 10 * abs(mild) and abs(steep) > 100:
        return inf if steep > 0 else -inf
    return round(steep, 3)


def measured(m: Any, row: Row) -> Measured:
    left, right = ([slope(m, row, name, index, sign) for name, index in entries_of(row)] for sign in (-1, 1))
    return Measured(left, right, gradient_of(m, row), forward_of(m, row))


def shown(number: Any) -> str:
    if number is None:
        return "none"
    if isinstance(number, str):
        return number
    if isinstance(number, complex):
        number = number.real if number.imag == 0 else number
    if isinstance(number, (int, float)) and isfinite(number):
        return f"{round(number, 4) + 0.0:g}"
    return str(number)


def listed(numbers: Numbers) -> str:
    return ", ".join(map(shown, numbers))


def smooth() -> list[str]:
    """The differentiable operations without a row."""
    ops = importlib.import_module("autograd_cy._core.ops.operations").OPS
    return sorted(set(ops) - {row.op for row in rows()} - set(NOT_DIFFERENTIABLE))


NOT_DIFFERENTIABLE = (
    "all any argmax argmin argsort argwhere bincount bitwise_and bitwise_left_shift bitwise_not bitwise_or "
    "bitwise_right_shift bitwise_xor bucketize count_nonzero detach_copy eq floor_divide gcd ge geqrf gt hash_tensor "
    "heaviside histc histogram histogramdd isclose isfinite isin isinf isnan isneginf isposinf isreal lcm le "
    "linalg.ldl_factor linalg.ldl_factor_ex linalg.ldl_solve linalg.matrix_rank logical_and logical_not logical_or "
    "logical_xor lt ne nn.functional.ctc_loss nn.functional.one_hot nonzero nonzero_static searchsorted signbit "
    "special.airy_ai special.bessel_j0 special.bessel_j1 special.bessel_y0 special.bessel_y1 special.chebyshev_polynomial_t "
    "special.chebyshev_polynomial_u special.chebyshev_polynomial_v special.chebyshev_polynomial_w "
    "special.hermite_polynomial_h special.hermite_polynomial_he special.laguerre_polynomial_l special.legendre_polynomial_p "
    "special.modified_bessel_i0 special.modified_bessel_i1 special.modified_bessel_k0 special.modified_bessel_k1 "
    "special.scaled_modified_bessel_k0 special.scaled_modified_bessel_k1 special.shifted_chebyshev_polynomial_t "
    "special.shifted_chebyshev_polynomial_u special.shifted_chebyshev_polynomial_v special.shifted_chebyshev_polynomial_w "
    "special.spherical_bessel_j0 unique unique_consecutive unravel_index"
).split()

HEAD = """<!-- Generated by `python -m tools.subgradients` (part of `make docs`). Do not edit. -->
# Gradients at kinks, ties and jumps

Where a function has no derivative, `backward` has to choose a value. These choices are PyTorch's: a test compares each row
with PyTorch 2.13 if it is installed. The page was generated by measurement. The *slopes* come from values on both sides of
the point, moving one number at a time; the *gradient* is that of the sum of the results, by a backward in float64. Several
numbers have as many entries, in order. *none* means that the function is not defined on that side, *jump* that it is not
continuous from there. Forward mode gives the same values, unless a row says otherwise. It agrees with PyTorch, except for
the two clamps with a tensor and `hypot` ([differences](differences.md)).

A gradient between the two slopes of its entry is right for that number alone. `gradcheck` cannot judge it, because a central
difference gives the mean of the slopes. Note:

* **relu has three gradients at 0**, depending on how it is written: `relu(x)` has 0, `maximum(x, 0)` 0.5, `clamp(x, min=0)` 1.
* **Ties share the gradient** in functions that return values only (`max(x)`, `amax`, `maximum`, the norm with `p=inf`).
  Functions that also return an index (`max(x, dim)`, `topk`) give it to one element.
* **inf spreads**: an earlier operation may multiply it by 0, and 0 times inf is NaN. Let `where` choose the argument of
  `sqrt`, not its result: `sqrt(where(x > 0, x, 1))`; or run the backward within `autograd.safe_where()`.
"""


def wrapped(names: list[str]) -> list[str]:
    """The names, wrapped, with a full stop at the end."""
    return textwrap.wrap(", ".join(f"`{name}`" for name in names) + ".", 120, break_on_hyphens=False)


def render() -> str:
    """The text of the page."""
    m = importlib.import_module("autograd_cy")
    lines = HEAD.splitlines()
    for title, section in SECTIONS.items():
        lines += ["", f"## {title}", "", "| operation | at | slopes to the left | to the right | gradient | |"]
        lines.append("|---|---|---|---|---|---|")
        for row in section:
            left, right, gradient, forward = map(listed, measured(m, row))
            at = "; ".join(f"{name} = {listed(numbers)}" for name, numbers in row.place.items())
            given = f"**{gradient}**" + (f" (forward mode: {forward})" if forward != gradient else "")
            lines.append(f"| `{row.expression}` | {at} | {left} | {right} | {given} | {row.remark} |")
    lines += ["", "## Other operations", "", "These have a derivative wherever they are defined:"]
    lines += wrapped(smooth())
    lines += ["", "Comparisons, tests and indices have no derivative:", *wrapped(NOT_DIFFERENTIABLE)]
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    TARGET.write_text(render(), encoding="utf-8", newline="\n")
