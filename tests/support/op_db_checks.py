"""What test_op_db.py compares of a sample: one function a check, which raises where the libraries differ."""

import numpy as np
from op_db import Call, Rows, Unsupported

import autograd_cy as ag

# relative and absolute, of the largest value of a result
NEAR = {"float16": 5e-3, "float32": 2e-5, "complex64": 2e-5, "float64": 1e-9, "complex128": 1e-9}


class NumbersDiffer(AssertionError):
    """Results agree in all but their numbers."""


class StridesDiffer(AssertionError):
    """Results agree, but not how they lie in memory."""


class NotThere(Exception):
    """PyTorch does not support what a check asks for."""


def both(ours: Call, theirs: Call, run) -> tuple:
    """`run` of both calls. What PyTorch refuses is not compared."""
    try:
        expected = run(theirs)
    except Exception as error:
        raise NotThere(str(error)) from None
    return run(ours), expected


def values(rows, op, ours, theirs):
    """Values, dtypes, shapes, strides, and which results require grad."""
    found, expected = both(ours, theirs, lambda call: call(*call.variables(requires_grad=True)))
    assert_same(found, expected)
    graphs = [[getattr(y, "requires_grad", False) for y in side] for side in (found, expected)]
    assert graphs[0] == graphs[1], f"requires_grad is {graphs[0]}, not {graphs[1]}"


def gradients(rows, op, ours, theirs):
    """The first gradients."""
    assert_same(*both(ours, theirs, lambda call: _gradients(call)[1]), strides=False)


def second_gradients(rows, op, ours, theirs):
    """The gradients of the first gradients, for inputs and seeds."""
    if not op.supports_gradgrad:
        return

    def run(call):
        leaves, found = _gradients(call, create_graph=True)
        found = [g for g in found if g.requires_grad]
        if not found:
            raise ArithmeticError("constant")
        seeds = seeds_for(call, found, 1)
        return call.module.autograd.grad(found, leaves, seeds, allow_unused=True, materialize_grads=True)

    try:
        found, expected = both(ours, theirs, run)
    except ArithmeticError:  # of ours: what remains constant for PyTorch has zeros
        raise AssertionError("the gradient has no graph") from None
    assert_same(found, expected, strides=False)


def tangents(rows, op, ours, theirs):
    """Forward mode."""
    if not op.supports_forward_ad:
        return

    def run(call):
        forward_ad = call.module.autograd.forward_ad
        variables = call.variables()
        with forward_ad.dual_level():
            duals = map(forward_ad.make_dual, variables, seeds_for(call, variables, 2))
            pairs = [forward_ad.unpack_dual(y) for y in call(*duals) if is_inexact(call, y)]
            return [y.detach() * 0 if t is None else t for y, t in pairs]

    assert_same(*both(ours, theirs, run), strides=False)


def batches(rows, op, ours, theirs):
    """vmap over two samples, of which the second has its values the other way round."""

    def run(call):
        variables = call.variables()
        stacked = [call.module.stack([t, t.flip(tuple(range(t.ndim))) if t.ndim else t]) for t in variables]
        return call.flat(call.module.vmap(lambda *ts: tuple(call(*ts)), randomness="error")(*stacked))

    assert_same(*both(ours, theirs, run), strides=False)


def in_place(rows, op, ours, theirs):
    """The in-place variant: the value, and the gradient through it."""
    if op.inplace_variant is None or theirs.broadcasts_input:
        return
    variant = op.inplace_variant

    def run(call):
        method = variant if call.module is not ag else rows.ours(variant, f"Tensor.{getattr(variant, '__name__', '')}")
        leaves = call.variables(requires_grad=True)
        found = call(*leaves, function=lambda x, *args, **kwargs: method(x.clone(), *args, **kwargs))
        return [*found, *_first(call, leaves, found)]

    assert_same(*both(ours, theirs, run), strides=False)


def out_argument(rows, op, ours, theirs):
    """The results into empty tensors."""
    if not op.supports_out:
        return

    def run(call):
        variables = call.variables()
        made = call.raw(*variables)
        out = _empty_like(call, made)
        found = call.raw(*variables, out=out)
        flat = call.flat(out)
        assert all(y is o for y, o in zip(call.flat(found), flat, strict=True)), "out= is not what is returned"
        return flat

    assert_same(*both(ours, theirs, run))


def _empty_like(call, made):
    if isinstance(made, (list, tuple)):
        return tuple(_empty_like(call, y) for y in made)
    if not isinstance(made, call.module.Tensor):
        raise TypeError("out= of a number")
    return call.module.empty((0,), dtype=made.dtype)


def _gradients(call, create_graph=False):
    """(The leaves and seeds, the gradients.)"""
    leaves = call.variables(requires_grad=True)
    results = [y for y in call(*leaves) if is_inexact(call, y) and y.requires_grad]
    if not results:
        raise NotThere("no graph")
    seeds = [seed.requires_grad_(create_graph) for seed in seeds_for(call, results)]
    options = {"create_graph": create_graph, "allow_unused": True, "materialize_grads": True}
    return [*leaves, *seeds], call.module.autograd.grad(results, leaves, seeds, **options)


def _first(call, leaves, results):
    results = [y for y in results if is_inexact(call, y) and y.requires_grad]
    options = {"allow_unused": True, "materialize_grads": True}
    return call.module.autograd.grad(results, leaves, seeds_for(call, results), **options) if results else ()


def is_inexact(call, y) -> bool:
    """Whether a result can have a gradient."""
    return isinstance(y, call.module.Tensor) and (y.is_floating_point() or y.is_complex())


def seeds_for(call, results, salt=0) -> list:
    """A tensor of random numbers for each result."""
    rng, seeds = np.random.default_rng(7 + salt), []
    for y in results:
        values = rng.uniform(-1, 1, tuple(y.shape)) + (1j * rng.uniform(-1, 1, tuple(y.shape)) if y.is_complex() else 0)
        seeds.append(call.module.from_numpy(np.asarray(values, str(y.dtype).removeprefix("torch."))))
    return seeds


def assert_same(found, expected, strides=True):
    """Both lists of results agree; their strides are looked at last."""
    steps = []
    assert len(found) == len(expected), f"{len(found)} results, not {len(expected)}"
    for ours, theirs in zip(found, expected, strict=True):
        if not isinstance(ours, ag.Tensor):
            assert type(ours).__name__ == type(theirs).__name__, f"{type(ours)}, not {type(theirs)}"
            assert_near(np.asarray(ours), np.asarray(theirs))
            continue
        if str(theirs.layout) != "torch.strided":
            raise Unsupported("sparse")
        described = [f"{y.dtype} of {tuple(y.shape)}" for y in (ours, theirs)]
        assert described[0] == described[1], f"{described[0]}, not {described[1]}"
        assert_near(*(y.numpy(force=True) for y in (ours, theirs)))
        steps.append([significant_strides(y) for y in (ours, theirs)])
    for ours, theirs in steps if strides else ():
        if ours != theirs:
            raise StridesDiffer(f"{ours}, not {theirs}")


def significant_strides(tensor) -> tuple:
    """The strides along dimensions that have any."""
    return tuple(s for s, n in zip(tensor.stride(), tensor.shape, strict=True) if n > 1) if tensor.numel() else ()


def assert_near(ours: np.ndarray, theirs: np.ndarray):
    """Arrays agree within what their dtype tells apart."""
    near = NEAR.get(str(ours.dtype), 0)
    with np.errstate(all="ignore"):
        largest = np.max(np.abs(theirs), initial=0, where=np.isfinite(theirs)) if near else 0
    scale = min(float(largest), 1e3) if near else 0
    if not np.allclose(ours, theirs, rtol=near, atol=near * max(scale, 1.0), equal_nan=True):
        raise NumbersDiffer(f"{shortened(ours)}, not {shortened(theirs)}")


def shortened(array: np.ndarray) -> str:
    """An array in one line."""
    text = " ".join(np.array2string(array, threshold=12, edgeitems=3, precision=6).split())
    return text if len(text) < 160 else text[:160] + "..."


# which checks a dtype gets
WHOLE = (values, gradients, second_gradients, tangents, batches, in_place, out_argument)
CHECKS = {
    "float64": WHOLE, "complex128": WHOLE, "float32": (values, gradients, in_place), "complex64": (values,),
    "float16": (values,), "int64": (values, in_place, out_argument), "bool": (values, in_place), "uint8": (values,),
}  # fmt: skip


def problems(rows: Rows, op, ignored=()) -> tuple[list[tuple[str, str, str]], int]:
    """(check, dtype, what differs) for each of the row's samples, and how many samples were compared."""
    found, compared = [], 0
    supported = op.supported_dtypes("cpu")
    backward = op.supported_backward_dtypes("cpu")
    function = rows.ours(op.op, op.name)
    for dtype, checks in CHECKS.items():
        theirs = getattr(rows.torch, dtype)
        if theirs not in supported:
            continue
        differentiable = op.supports_autograd and theirs in backward and dtype not in ("float16", "complex64")
        for i, sample in enumerate(rows.samples(op, dtype, differentiable, 40 if checks is WHOLE else 15)):
            try:
                calls = Call(rows, ag, function, sample), Call(rows, rows.torch, op.op, sample)
            except Unsupported:
                continue
            except AttributeError as error:
                found.append(("arguments", dtype, f"sample {i}: {error}"))
                continue
            calls[1].broadcasts_input = sample.broadcasts_input
            compared += 1
            for check in checks if differentiable else [c for c in checks if c not in (gradients, second_gradients, tangents)]:
                try:
                    check(rows, op, *calls)
                except (NotThere, Unsupported, *ignored):
                    pass
                except StridesDiffer as error:
                    found.append(("strides", dtype, f"sample {i}: {error}"))
                except Exception as error:
                    text = str(error).partition("\n")[0] if isinstance(error, AssertionError) else repr(error)[:300]
                    found.append((check.__name__, dtype, f"sample {i}: {text}"))
    return found, compared
