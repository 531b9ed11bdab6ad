"""In-place operations on operands of another type: they are recorded as one node, whose gradients both sides get.

The reference writes nothing: the part is taken, computed, converted and put among the rest by where(). The types of the
gradients, their values and those of the second derivatives must agree, and the tangents.
"""

import numpy as np
import pytest
from common import IS_TORCH
from op_calls import to_numpy

import autograd_cy as torch

forward_ad = torch.autograd.forward_ad


def parameters(function):
    return function.__code__.co_varnames[: function.__code__.co_argcount]


def method(name):
    return lambda y, w: getattr(y, name)(w)


def two_operands():
    """From the table of operations: the methods that write a function of two operands into the first, and that function."""
    try:
        from autograd_cy._core.ops.registry import OPS
    except ImportError:  # PyTorch under the package's name
        return {}
    found = {}
    for op in OPS.values():
        for name in op.methods:
            if f"{name}_" in vars(torch.Tensor) and parameters(op.function)[1:] in (("other",), ("exponent",)):
                found[f"{name}_"] = method(f"{name}_"), op.function
    return found


def is_refused(function, dtype):
    """Whether operands of this type, or gradients of theirs, are."""
    try:
        x = torch.ones(2, dtype=dtype, requires_grad=dtype.is_floating_point or dtype.is_complex)
        y = function(x, x + 1)
        if y.requires_grad:
            torch.autograd.grad(y, x, torch.ones_like(y))
    except (NotImplementedError, RuntimeError):
        return True
    return False


TWO_OPERANDS = two_operands()
DIFFERENTIABLE = {n: pair for n, pair in TWO_OPERANDS.items() if not is_refused(pair[1], torch.float32)}
COMPLEX = {n: pair for n, pair in DIFFERENTIABLE.items() if not is_refused(pair[1], torch.complex64)}
BINARY = {
    **COMPLEX,
    "add_ alpha": (lambda y, w: y.add_(w, alpha=2), lambda y, w: torch.add(y, w, alpha=2)),
    "copy_": (lambda y, w: y.copy_(w), lambda y, w: y * 0 + w),
    "item": (lambda y, w: y.__setitem__(slice(None), w), lambda y, w: y * 0 + w),
    "fill_": (lambda y, w: y.fill_(w.reshape(-1)[0]), lambda y, w: y * 0 + w.reshape(-1)[0]),
}
REAL = {
    **{n: pair for n, pair in DIFFERENTIABLE.items() if n not in COMPLEX},
    "clamp_ min": (lambda y, w: y.clamp_(w), lambda y, w: y.clamp(w)),
    "clamp_ both": (lambda y, w: y.clamp_(w, w + 0.5), lambda y, w: y.clamp(w, w + 0.5)),
    "clamp_ max": (lambda y, w: y.clamp_(max=w), lambda y, w: y.clamp(max=w)),
}
# masks and indices choose the same elements of the part as of the reference
CHOOSING = {
    "masked_fill_": (
        lambda y, w: y.masked_fill_(chosen(y), w.reshape(-1)[0]),
        lambda y, w: torch.where(chosen(y), w.reshape(-1)[0], y),
    ),
    "mask": (
        lambda y, w: y.__setitem__(chosen(y), w.reshape(-1)[0]),
        lambda y, w: torch.where(chosen(y), w.reshape(-1)[0], y),
    ),
    "index": (
        lambda y, w: y.__setitem__(torch.tensor([0, -1]), w.reshape(-1)[0]),
        lambda y, w: torch.where(ends(y), w.reshape(-1)[0], y),
    ),
}
VIEWS = {
    "itself": lambda y: y,
    "row": lambda y: y[0],
    "columns": lambda y: y[:, ::2],
    "transposed": lambda y: y.t()[1:],
    "a view of a view": lambda y: y[1:].view(-1)[1:3],
}
TYPES = [
    ("float16", "float32"), ("float16", "float64"), ("float32", "float64"), ("float32", "float16"), ("float64", "float32"),
    ("complex64", "complex128"), ("complex128", "complex64"), ("complex64", "float64"), ("float32", "float32"),
]  # fmt: skip
CASES = [
    (name, own, other)
    for name in (*BINARY, *REAL, *CHOOSING)
    for own, other in TYPES
    if not (name in REAL and "complex" in own)
    if name != "float_power_" or own in ("float64", "complex128")  # it is refused in others
]


@pytest.mark.skipif(IS_TORCH, reason="the table is ours")
def test_the_table_has_them():
    bits = {f"bitwise_{name}_" for name in ("and", "or", "xor", "left_shift", "right_shift")}
    assert TWO_OPERANDS.keys() - DIFFERENTIABLE.keys() == {"floor_divide_", "gcd_", "lcm_", "igamma_", "igammac_", *bits}
    assert {"add_", "sub_", "mul_", "div_", "pow_", "eq_", "logical_or_"} <= COMPLEX.keys()
    assert {"remainder_", "fmod_", "lt_"} <= DIFFERENTIABLE.keys() - COMPLEX.keys()


INTEGERS = ["bool", "uint8", "int8", "int32", "int64"]


def integers(module, dtype, values):
    return module.tensor(values).to(getattr(module, dtype))


def outcome(call):
    try:
        return call().tolist()
    except (RuntimeError, NotImplementedError) as error:
        return type(error)


@pytest.mark.skipif(IS_TORCH, reason="the table is ours")
@pytest.mark.parametrize("view", ["itself", "columns", "transposed"])
@pytest.mark.parametrize("name", TWO_OPERANDS)
def test_integers(name, view):
    """What is written is the function's result in the target's type; types that don't fit are refused by both libraries."""
    theirs = pytest.importorskip("torch")
    for own in INTEGERS:
        for other in [*INTEGERS, "float32"]:
            written = []
            for module in (torch, theirs):
                y = integers(module, own, [[5, 1, 3], [0, 2, 7]])
                part = VIEWS[view](y)
                w = integers(module, other, [1, 2, 3, 1, 2, 1][: part.numel()]).reshape(part.shape)
                found = outcome(lambda: getattr(part, name)(w))  # noqa: B023
                written.append([found, y.tolist()])
                if isinstance(found, list):
                    expected = getattr(VIEWS[view](integers(module, own, [[5, 1, 3], [0, 2, 7]])), name.rstrip("_"))(w)
                    assert found == expected.to(y.dtype).tolist(), (own, other)
            assert written[0] == written[1], (own, other)


def chosen(y):
    """Every third element of a part, counted in its own order."""
    return torch.tensor([k % 3 == 0 for k in range(y.numel())]).reshape(y.shape)


def ends(y):
    places = torch.arange(y.shape[0]).reshape((-1,) + (1,) * (y.ndim - 1)).expand(y.shape)
    return (places == 0) | (places == y.shape[0] - 1)


def tensor(values, dtype, complex_part):
    values = np.array(values)
    return torch.tensor(values + complex_part * 1j if "complex" in dtype else values, dtype=getattr(torch, dtype))


def leaves(own, other, shape):
    x = tensor([[0.5, 1.25, 1.5], [2.0, 0.75, 1.375]], own, 0.5)
    w = np.array([1.5, 0.25, 1.125, 0.625, 2.25, 0.875])[: np.prod(shape, dtype=int)].reshape(shape)
    return x.requires_grad_(), tensor(w, other, -0.25).requires_grad_()


def in_place(name, view, x, w):
    y = x * 1
    {**BINARY, **REAL, **CHOOSING}[name][0](VIEWS[view](y), w)
    return y


def on_copies(name, view, x, w):
    y = x * 1
    places = torch.arange(6).reshape(2, 3)
    part = VIEWS[view](places).reshape(-1)
    value = {**BINARY, **REAL, **CHOOSING}[name][1](VIEWS[view](y), w).to(x.dtype).reshape(-1)
    return y.reshape(-1).index_put((part,), value).reshape(2, 3)


def derivatives(run, name, view, own, other):
    """The result, the first gradients, the second ones, the tangent for each input."""
    shape = np.empty((2, 3))
    shape = VIEWS[view](torch.from_numpy(shape)).shape
    x, w = leaves(own, other, shape)
    y = run(name, view, x, w)
    seed = tensor([[1.0, 0.5, 2.0], [1.5, 0.75, 1.0]], own, 0.25)
    first = torch.autograd.grad(y, (x, w), seed, create_graph=True, allow_unused=True)
    total = sum((g * g).real.sum() for g in first if g is not None and g.requires_grad)
    second = torch.autograd.grad(total, (x, w), allow_unused=True) if isinstance(total, torch.Tensor) else (None, None)
    tangents = []
    for k in range(2):
        with forward_ad.dual_level():
            x, w = (t.detach() for t in (x, w))
            duals = [forward_ad.make_dual(t, t * 0.5 + 1) if i == k else t for i, t in enumerate((x, w))]
            tangents.append(forward_ad.unpack_dual(run(name, view, *duals)).tangent)
    return [y, *first, *second, *tangents], x.dtype, w.dtype


def values(t):
    return 0.0 if t is None else to_numpy(t)


@pytest.mark.parametrize("view", VIEWS)
@pytest.mark.parametrize("name, own, other", CASES)
def test_both_sides_get_the_gradients_of_the_operation_on_copies(name, own, other, view):
    """`y[0] *= w` with a w of a wider type gave x ones as gradient and w none: the node of the conversion took the place."""
    found, own_type, other_type = derivatives(in_place, name, view, own, other)
    expected, _, _ = derivatives(on_copies, name, view, own, other)
    tolerance = 4e-3 if "float16" in (own, other) else 1e-5 if {"float32", "complex64"} & {own, other} else 1e-12
    for k, (ours, reference) in enumerate(zip(found, expected, strict=True)):
        if ours is not None:
            assert ours.dtype == (other_type if k in (2, 4) else own_type), k
        np.testing.assert_allclose(values(ours), values(reference), tolerance, tolerance, err_msg=str(k))


@pytest.mark.parametrize("name, node", [("add_", "AddBackward0"), ("mul_", "MulBackward0"), ("pow_", "PowBackward1"),
                                        ("clamp_ both", "ClampBackward0")])  # fmt: skip
def test_the_node_is_that_of_the_operation(name, node):
    x, w = leaves("float32", "float64", (2, 3))
    y = in_place(name, "itself", x, w)
    assert y.grad_fn.name() == node and y.grad_fn.next_functions[0][0].name() == "MulBackward0"
    assert in_place(name, "columns", *leaves("float32", "float64", (2, 2))).grad_fn.name() == "torch::autograd::CopySlices"


@pytest.mark.filterwarnings("ignore:.torch.jit")
@pytest.mark.skipif(IS_TORCH, reason="against PyTorch")
@pytest.mark.parametrize("view", ["itself", "columns"])
@pytest.mark.parametrize(
    "name, own, other",
    [
        (name, own, other)
        for name, own, other in CASES
        if not name.startswith("logical_")  # a wrong gradient there
        if (name, own, other) != ("ldexp_", "complex64", "float64")  # an error there
        if own == other or name not in ("index", *(() if own[0] == other[0] else ("fill_", "mask", "masked_fill_")))
    ],  # the others are refused there
)
def test_gradients_are_those_of_pytorch(name, own, other, view):
    theirs = pytest.importorskip("torch")
    found = derivatives(in_place, name, view, own, other)[0][:3]
    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(globals(), "torch", theirs)
        patch.setitem(globals(), "forward_ad", theirs.autograd.forward_ad)
        expected = derivatives(in_place, name, view, own, other)[0][:3]
    tolerance = 4e-3 if "float16" in (own, other) else 1e-5
    for ours, reference in zip(found, expected, strict=True):
        assert (ours is None) == (reference is None)
        if ours is not None:
            assert str(ours.dtype) == str(reference.dtype)
            np.testing.assert_allclose(to_numpy(ours), reference.detach().numpy(), tolerance, tolerance)
