"""The steps of `benchmarks.operations`: an operation forward, and backward from ones if it has a gradient.

Matrices have rows of 100 elements, so "along rows" means along short rows. Values are drawn from the operation's domain.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from inspect import Parameter, signature
from operator import attrgetter

import numpy as np

from autograd_cy._core.ops.registry import OPS
from benchmarks.large import backward_step
from benchmarks.workloads import Library, Step, Tensor

COLUMNS = 100
# the required ratio of a family at 1000 elements, and from 10^5 on
FAMILIES = {"elementwise": (4, 1), "reductions and scans": (3, 1), "shapes": (3, 1), "selections": (2, 1), "spectral": (0, 1),
            "pooling": (2, 1)}
LARGE = 10**5
Interval = tuple[float, float]
Function = Callable[[Library, list[Tensor], dict[str, Tensor]], Tensor]


@dataclass(frozen=True)
class Operation:
    """One row: `f(library, inputs, indices)`, the intervals of its inputs, and whether they are matrices or vectors."""

    family: str
    name: str
    f: Function
    domains: tuple[Interval, ...] = ((-3, 3),)
    is_matrix: bool = True

    def minimum(self, size: int) -> float:
        """The required ratio."""
        return FAMILIES[self.family][size >= LARGE]

    def step(self, torch: Library, size: int, dtype: type) -> Step:
        """A step: forward, and backward from ones if there is a gradient."""
        random = np.random.default_rng(0)
        shape = (size // COLUMNS, COLUMNS) if self.is_matrix else (size,)
        inputs = [torch.tensor(random.uniform(*domain, shape).astype(dtype), requires_grad=True) for domain in self.domains]
        indices = {
            "rows": random.integers(0, shape[0], shape[0]),
            "columns": random.integers(0, shape[-1], shape),
            "permutation": random.permutation(shape[0]),
            "mask": random.random(shape) < 0.5,
            "fixed": random.uniform(1.1, 5, shape).astype(dtype),
        }
        known = {name: torch.tensor(value) for name, value in indices.items()}
        with torch.no_grad():
            example = self.f(torch, inputs, known)
        if not (example.is_floating_point() or example.is_complex()) or not self.f(torch, inputs, known).requires_grad:
            return lambda: (self.f(torch, inputs, known),)
        return backward_step(torch, lambda *x: self.f(torch, list(x), known), inputs)


# the domains of elementwise operations whose inputs are restricted

ANY, UNIT, POSITIVE, ABOVE_ONE, PART = (-3, 3), (-0.95, 0.95), (0.2, 5), (1.1, 5), (0.05, 0.95)
DOMAINS: dict[str, tuple[Interval, ...]] = {
    **dict.fromkeys(("asin", "acos", "atanh", "erfinv"), (UNIT,)),
    **dict.fromkeys(("logit", "special.entr", "special.ndtri"), (PART,)),
    **dict.fromkeys(("log", "log1p", "log2", "log10", "sqrt", "rsqrt", "digamma", "lgamma"), (POSITIVE,)),
    "acosh": (ABOVE_ONE,),
    **dict.fromkeys(("pow", "float_power"), (POSITIVE, POSITIVE)),
    **dict.fromkeys(("igamma", "igammac", "special.zeta"), (POSITIVE,)),
    **dict.fromkeys(("xlogy", "special.xlog1py"), (ANY, POSITIVE)),
    "addcdiv": (ANY, ANY, POSITIVE),
}
NOT_COMPARED = {                        # only for integers or complex numbers, or without computation
    "gcd", "lcm", "complex", "polar", "conj", "conj_physical", "resolve_conj", "resolve_neg", "positive", "isreal",
    *(name for name in OPS if "bitwise" in name or "polynomial" in name or "bessel" in name or "airy" in name)}
CALLS: dict[str, Function] = {
    "nn.functional.threshold": lambda t, x, known: t.nn.functional.threshold(x[0], 0.5, 1.0),
    "where": lambda t, x, known: t.where(known["mask"], x[0], x[1]),
    "clamp": lambda t, x, _: x[0].clamp(-0.5, 0.5),
    "igamma": lambda t, x, known: t.igamma(known["fixed"], x[0]),
    "igammac": lambda t, x, known: t.igammac(known["fixed"], x[0]),
    "special.zeta": lambda t, x, known: t.special.zeta(known["fixed"], x[0]),
    "floor_divide": lambda t, x, _: t.floor_divide(x[0].detach(), x[1].detach()),
    "heaviside": lambda t, x, _: t.heaviside(x[0].detach(), x[1].detach()),
}
INPUTS = {"where": 2, "clamp": 1, "nn.functional.threshold": 1}       # compute gradients, too


def count_of(name: str) -> int:
    """The number of tensors that an elementwise operation accepts."""
    if name in INPUTS:
        return INPUTS[name]
    parameters = signature(OPS[name].function).parameters.values()
    return sum(p.default is Parameter.empty and p.kind is not Parameter.KEYWORD_ONLY for p in parameters)


def elementwise(name: str) -> Operation:
    """elementwise(name) -> the row of an operation of the table."""

    def call(torch: Library, inputs: list[Tensor], _: dict[str, Tensor]) -> Tensor:
        return attrgetter(name)(torch)(*inputs)

    domains = DOMAINS.get(name, (ANY,) * count_of(name))
    return Operation("elementwise", name, CALLS.get(name, call), domains, is_matrix=False)


def rows(family: str, functions: dict[str, Function], domains: Sequence[Interval] = ((-3, 3),)) -> list[Operation]:
    """rows(family, functions) -> rows of operations on matrices."""
    return [Operation(family, name, f, tuple(domains)) for name, f in functions.items()]


def along(functions: Sequence[str]) -> dict[str, Function]:
    """along(functions) -> methods with a dimension: along rows and along columns."""
    found: dict[str, Function] = {}
    for name in functions:
        for dim, title in ((1, "rows"), (0, "columns")):
            found[f"{name}, {title}"] = lambda t, x, _, name=name, dim=dim: first(getattr(t, name)(x[0], dim))
    return found


def first(result: object) -> Tensor:
    """The inputs of an operation with indices."""
    return result[0] if isinstance(result, tuple) else result


ALONG = ("sum", "mean", "prod", "amax", "amin", "max", "min", "var", "std", "logsumexp", "softmax", "log_softmax", "cumsum",
         "cumprod", "cummax", "cummin", "logcumsumexp", "argmax", "nansum", "nanmean", "median", "mode")
WHOLE = ("sum", "mean", "prod", "max", "min", "var", "std", "norm", "nansum", "trace")

def planes(inputs: list[Tensor]) -> Tensor:
    """The rows of a matrix as planes of 10 by 10."""
    return inputs[0].reshape(1, -1, 10, 10)


FUNCTIONS = [
    *rows("pooling", {
        "max_pool2d": lambda t, x, _: t.nn.functional.max_pool2d(planes(x), 2),
        "avg_pool2d": lambda t, x, _: t.nn.functional.avg_pool2d(planes(x), 2),
        "adaptive_avg_pool2d": lambda t, x, _: t.nn.functional.adaptive_avg_pool2d(planes(x), 1),
        "adaptive_max_pool2d": lambda t, x, _: t.nn.functional.adaptive_max_pool2d(planes(x), 3),
        "interpolate, nearest": lambda t, x, _: t.nn.functional.interpolate(planes(x), scale_factor=2),
        "interpolate, bilinear": lambda t, x, _: t.nn.functional.interpolate(planes(x), scale_factor=2, mode="bilinear"),
        "interpolate, bicubic": lambda t, x, _: t.nn.functional.interpolate(planes(x), scale_factor=2, mode="bicubic"),
    }),
    *(elementwise(name) for name, op in OPS.items() if op.kind == "elementwise" and name not in NOT_COMPARED),
    *rows("elementwise", {
        "polygamma": lambda t, x, _: t.polygamma(1, x[0]),
        "mvlgamma": lambda t, x, _: t.mvlgamma(x[0] + 2, 2),
        "softplus by hand": lambda t, x, _: t.log1p(t.exp(x[0])),
        "mse_loss": lambda t, x, _: t.nn.functional.mse_loss(x[0], x[0].detach() + 1),
        "masked_fill": lambda t, x, known: x[0].masked_fill(known["mask"], 0.5),
        "fill": lambda t, x, _: t.fill(x[0], 0.5),
    }, [POSITIVE]),
    *rows("reductions and scans", {f"{name}, all": lambda t, x, _, name=name: getattr(t, name)(x[0]) for name in WHOLE}),
    *rows("reductions and scans", along(ALONG)),
    *rows("reductions and scans", {"norm, rows": lambda t, x, _: t.linalg.vector_norm(x[0], dim=1),
                                   "norm, columns": lambda t, x, _: t.linalg.vector_norm(x[0], dim=0)}),
    *rows("shapes", {
        "cat, rows": lambda t, x, _: t.cat((x[0], x[1]), 1), "cat, columns": lambda t, x, _: t.cat((x[0], x[1])),
        "stack, rows": lambda t, x, _: t.stack((x[0], x[1]), 1), "stack, columns": lambda t, x, _: t.stack((x[0], x[1])),
    }, [ANY, ANY]),
    *rows("shapes", {
        "flip, rows": lambda t, x, _: x[0].flip(1), "flip, columns": lambda t, x, _: x[0].flip(0),
        "roll, rows": lambda t, x, _: x[0].roll(3, 1), "roll, columns": lambda t, x, _: x[0].roll(3, 0),
        "pad": lambda t, x, _: t.nn.functional.pad(x[0], (1, 2, 1, 2)) if hasattr(t.nn.functional, "pad")
        else t.constant_pad_nd(x[0], (1, 2, 1, 2)),
        "repeat": lambda t, x, _: x[0].repeat(2, 2), "tile": lambda t, x, _: t.tile(x[0], (2, 2)),
        "repeat_interleave": lambda t, x, _: x[0].repeat_interleave(2, 0),
        "tril": lambda t, x, _: x[0].tril(), "triu": lambda t, x, _: x[0].triu(), "rot90": lambda t, x, _: t.rot90(x[0]),
        "clone": lambda t, x, _: x[0].clone(), "expand": lambda t, x, _: x[0].expand(2, *x[0].shape).sum(),
        "diff": lambda t, x, _: t.diff(x[0]), "unfold": lambda t, x, _: x[0].unfold(1, 4, 2),
        "diagonal": lambda t, x, _: x[0].diagonal(), "diag_embed": lambda t, x, _: t.diag_embed(x[0][:, :10]),
        "transpose": lambda t, x, _: x[0].transpose(0, 1).contiguous(), "split": lambda t, x, _: x[0].split(50, 1)[0],
        "select_scatter": lambda t, x, _: t.select_scatter(x[0], x[0][0].detach(), 0, 1),
    }),
    *rows("selections", {
        "sort, rows": lambda t, x, _: t.sort(x[0])[0], "sort, columns": lambda t, x, _: t.sort(x[0], 0)[0],
        "argsort": lambda t, x, _: t.argsort(x[0].detach()),
        "topk, rows": lambda t, x, _: t.topk(x[0], 5)[0], "kthvalue": lambda t, x, _: t.kthvalue(x[0], 5)[0],
        "gather, rows": lambda t, x, known: x[0].gather(1, known["columns"]),
        "gather, columns": lambda t, x, known: x[0].gather(0, known["columns"] % x[0].shape[0]),
        "take": lambda t, x, known: t.take(x[0], known["columns"]),
        "scatter, rows": lambda t, x, known: t.zeros_like(x[0]).scatter(1, known["columns"], x[0]),
        "scatter_add, rows": lambda t, x, known: t.zeros_like(x[0]).scatter_add(1, known["columns"], x[0]),
        "scatter_add, columns": lambda t, x, known: t.zeros_like(x[0]).scatter_add(0, known["columns"] % x[0].shape[0], x[0]),
        "scatter_reduce amax": lambda t, x, known: x[0].scatter_reduce(1, known["columns"], x[0].detach(), "amax"),
        "scatter_reduce sum": lambda t, x, known: x[0].scatter_reduce(1, known["columns"], x[0].detach(), "sum"),
        "index_select, rows": lambda t, x, known: x[0].index_select(0, known["rows"]),
        "index_select, columns": lambda t, x, known: x[0].index_select(1, known["columns"][0]),
        "index_add": lambda t, x, known: t.zeros_like(x[0]).index_add(0, known["rows"], x[0]),
        "index_copy": lambda t, x, known: t.zeros_like(x[0]).index_copy(0, known["permutation"], x[0]),
        "x[rows]": lambda t, x, known: x[0][known["rows"]], "x[mask]": lambda t, x, known: x[0][known["mask"]],
        "masked_select": lambda t, x, known: x[0].masked_select(known["mask"]),
        "masked_scatter": lambda t, x, known: x[0].masked_scatter(known["mask"], x[0].detach()),
        "x[1:, ::2]": lambda t, x, _: x[0][1:, ::2],
        "index_put": lambda t, x, known: t.zeros_like(x[0]).index_put((known["rows"],), x[0], accumulate=True),
    }),
    Operation("spectral", "fft", lambda t, x, _: t.fft.fft(x[0]), is_matrix=False),
    Operation("spectral", "rfft", lambda t, x, _: t.fft.rfft(x[0]), is_matrix=False),
    Operation("spectral", "irfft", lambda t, x, _: t.fft.irfft(x[0]), is_matrix=False),
    Operation("spectral", "rfft, rows", lambda t, x, _: t.fft.rfft(x[0])),
]
OPERATIONS = {row.name: row for row in FUNCTIONS}
