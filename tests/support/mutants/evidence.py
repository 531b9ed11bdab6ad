"""In which respects a mutant differs from its right version: a differential test, which has both, where a checker has one."""

import numpy as np

__all__ = ["differences"]


def _tuple(value) -> tuple:
    return tuple(value) if isinstance(value, (tuple, list)) else (value,)


def _numbers(tensor):
    return None if tensor is None else tensor.detach().numpy().copy()


def _leaves(t, arrays, needed=None):
    leaves = [t.from_numpy(np.array(a)) for a in arrays]
    return [x.requires_grad_() if needed is None or k in needed else x for k, x in enumerate(leaves)]


def _seed(t, y, salt=0):
    values = np.random.default_rng(11 + salt).uniform(0.5, 1.5, tuple(y.shape))
    dtype = _numbers(y).dtype
    return t.from_numpy(np.asarray(values * (1 - 0.5j) if dtype.kind == "c" else values, dtype))


def _gradients(t, f, leaves, seed=_seed, outputs=None, recorded=False):
    """The gradients by those of the leaves that need one, and the seeds."""
    ys = [y for k, y in enumerate(_tuple(f(*leaves))) if outputs is None or k in outputs]
    seeds = [seed(t, y) for y in ys]
    needing = [x for x in leaves if x.requires_grad]
    return t.autograd.grad(ys, needing, seeds, create_graph=recorded, allow_unused=True), seeds


def _laid_out(array, layout):
    """The same numbers in another layout."""
    if layout == "transposed":
        return np.asfortranarray(array)
    if layout == "negative":
        return np.flip(np.flip(array).copy())
    if layout == "read-only":
        array = array.copy()
        array.flags.writeable = False
        return array
    wide = np.full([2 * n + 1 for n in array.shape], 9, array.dtype)
    part = wide[tuple(slice(1, None, 2) for _ in array.shape)]
    part[...] = array
    return part


def _aspects(mutant, t):
    """Yields (name, function of a freshly made f): what is seen of f in one respect."""
    arrays = mutant.inputs.arrays()

    def gradient(f, arrays=arrays, **how):
        return [_numbers(g) for g in _gradients(t, f, _leaves(t, arrays, how.pop("needed", None)), **how)[0]]

    yield "value", lambda f: [_numbers(y) for y in _tuple(f(*_leaves(t, arrays)))]
    yield "gradient", gradient
    yield "recorded", lambda f: gradient(f, recorded=True)
    yield "zero seed", lambda f: gradient(f, seed=lambda t, y: 0 * _seed(t, y))
    yield "seed of ones", lambda f: gradient(f, seed=lambda t, y: t.ones_like(y.detach()))
    yield "again", lambda f: [gradient(f) for _ in range(12)]
    yield "another", lambda f: [gradient(f, [a * (1 + 0.1 * k) for a in arrays]) for k in range(2)]
    yield "single", lambda f: gradient(f, [a.astype("F" if a.dtype.kind == "c" else "f") for a in arrays])
    for k in range(len(arrays)):
        yield f"input {k} alone", lambda f, k=k: gradient(f, needed={k})
    for k in range(2):
        yield f"output {k} alone", lambda f, k=k: gradient(f, outputs={k})
    for layout in ("transposed", "negative", "read-only", "sliced"):
        yield (
            f"{layout} input",
            lambda f, a=layout: [
                _numbers(g) for g in _gradients(t, f, [t.from_numpy(_laid_out(x, a)).requires_grad_() for x in arrays])[0]
            ],
        )
        yield (
            f"{layout} seed",
            lambda f, a=layout: gradient(f, seed=lambda t, y: t.from_numpy(_laid_out(_seed(t, y).numpy(), a))),
        )
    yield "expanded seed", lambda f: gradient(f, seed=lambda t, y: t.ones(1, dtype=y.dtype).expand(y.shape))
    yield "second order", lambda f: _second(t, f, arrays)
    yield "forward mode", lambda f: _forward(t, f, arrays)
    yield "batched", lambda f: _batched(t, f, arrays)
    yield "left behind", lambda f: _left_behind(t, f, arrays)
    yield "evaluated", lambda f: _evaluated(t, f, arrays)
    if mutant.inputs.at is None:
        for size in (0, 1, 2, 100):
            if size >= mutant.inputs.smallest:
                names = {w: size for w in mutant.inputs.shapes.replace(",", " ").split() if not w.isdigit()}
                for some in (names, *[{w: size} for w in names]):
                    yield f"size {some}", lambda f, some=some: gradient(f, mutant.inputs.arrays(**some))


def _second(t, f, arrays):
    leaves = _leaves(t, arrays)
    seeds = [_seed(t, y).requires_grad_() for y in _tuple(f(*leaves))]
    first = t.autograd.grad(_tuple(f(*leaves)), leaves, seeds, create_graph=True)
    directions = [_seed(t, g, 1) for g in first]
    return [_numbers(g) for g in t.autograd.grad(first, leaves + seeds, directions, allow_unused=True)]


def _forward(t, f, arrays):
    fw = t.autograd.forward_ad
    with fw.dual_level():
        duals = [fw.make_dual(x, _seed(t, x, 2)) for x in _leaves(t, arrays, needed=())]
        return [_numbers(fw.unpack_dual(y).tangent) for y in _tuple(f(*duals))]


def _batched(t, f, arrays):
    seen = []
    for dims in ([0] * len(arrays), [0] + [None] * (len(arrays) - 1)):
        for size in (3, 4):  # 4: as long as a dimension
            made = [np.stack([a * (1 + k) for k in range(size)]) if d == 0 else a for a, d in zip(arrays, dims, strict=True)]
            leaves = _leaves(t, made, needed=())
            seen.append([_numbers(y) for y in _tuple(t.func.vmap(f, tuple(dims))(*leaves))])
    return seen


def _left_behind(t, f, arrays):
    """The inputs and seeds after a backward, and which gradients share memory with what."""
    own = [np.array(a) for a in arrays]
    leaves = [t.from_numpy(a).requires_grad_() for a in own]
    first, seeds = _gradients(t, f, leaves, seed=lambda t, y: t.ones_like(y.detach()))
    second, _ = _gradients(t, f, leaves)
    memory = [g.detach().numpy() for g in (*first, *second, *seeds) if g is not None] + own
    shared = [[np.shares_memory(a, b) for a in memory] for b in memory]
    return [*own, *[_numbers(s) for s in seeds], shared]


def _evaluated(t, f, arrays):
    leaves = _leaves(t, arrays)
    ys = _tuple(f(*leaves))
    f(*[2 * x.detach() for x in leaves])
    return [_numbers(g) for g in t.autograd.grad(ys, leaves, [_seed(t, y) for y in ys], allow_unused=True)]


def _same(a, b) -> bool:
    if isinstance(a, list) and isinstance(b, list):
        return len(a) == len(b) and all(map(_same, a, b))
    if isinstance(a, np.ndarray) and isinstance(b, np.ndarray):
        return a.dtype == b.dtype and a.shape == b.shape and np.allclose(a, b, rtol=1e-12, atol=1e-14, equal_nan=True)
    return type(a) is type(b) and (a is None or bool(a == b))


def _seen(look, f):
    with np.errstate(all="ignore"):
        try:
            return look(f)
        except Exception as error:
            return type(error).__name__


def differences(mutant, library: str, t) -> list[str]:
    """The respects in which the wrong version differs from the right one; an error is seen by its type alone."""
    return [
        name
        for name, look in _aspects(mutant, t)
        if not _same(*[_seen(look, mutant.function(library, t, wrong)) for wrong in (True, False)])
    ]
