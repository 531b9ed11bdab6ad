"""Wrong for reasons of the machinery: what a Function remembers, writes to, hands on, or takes for granted.

They are written with `t.autograd.Function`, for autograd_cy and PyTorch alike.
"""

import itertools

import numpy as np

from mutants.corpus import NONZERO, Inputs, Kind
from mutants.namespaces import function, in_memory_order


def saving(value):
    """A forward that saves its inputs."""

    def forward(ctx, *inputs):
        ctx.save_for_backward(*inputs)
        return value(*inputs)

    return forward


def of_one(t, value, slope):
    """A function of one tensor, whose backward is `slope(g, x)`."""
    return function(t, saving(value), lambda ctx, g: slope(g, *ctx.saved_tensors))


LAYOUT = Kind("layout", "layout")
OURS = ("autograd_cy",)  # PyTorch has no negative strides, and no read-only tensors


@LAYOUT.written("x in the order of the memory", "m n")
def memory_of_input(t, wrong):
    return of_one(t, lambda x: x * x, lambda g, x: 2 * g * (in_memory_order(t, x) if wrong else x))


@LAYOUT.written("g in the order of the memory", "m n")
def memory_of_seed(t, wrong):
    return of_one(t, lambda x: x.sin(), lambda g, x: (in_memory_order(t, g) if wrong else g) * x.cos())


@LAYOUT.written("the matrix in the order of the memory", "m k, k n")
def memory_of_matrix(t, wrong):
    def backward(ctx, g):
        a, b = ctx.saved_tensors
        return g @ (in_memory_order(t, b) if wrong else b).t(), a.t() @ g

    return function(t, saving(lambda a, b: a @ b), backward)


@LAYOUT.written("negative strides taken for positive", "n", libraries=OURS)
def negative_strides(t, wrong):
    def slope(g, x):
        backwards = x.numel() > 1 and x.stride()[0] < 0
        return 2 * g * (x.flip(0) if wrong and backwards else x)

    return of_one(t, lambda x: x * x, slope)


@LAYOUT.written("Fortran order taken for the transpose", "n n")
def fortran(t, wrong):
    def slope(g, x):
        columns_first = x.stride()[0] < x.stride()[1] and x.shape[0] > 1
        return g * (x.t() if wrong and columns_first else x).cos()

    return of_one(t, lambda x: x.sin(), slope)


@LAYOUT.written("gaps skipped: every other one", "n")
def gaps(t, wrong):
    def slope(g, x):
        apart = x.numel() > 1 and x.stride()[0] > 1
        return 2 * g * (t.cat([x[:1], x[:-1]]) if wrong and apart else x)

    return of_one(t, lambda x: x * x, slope)


@LAYOUT.written("read-only: a wrong copy", "n", libraries=OURS)
def read_only(t, wrong):
    def slope(g, x):
        locked = not x.detach().numpy().flags.writeable
        return 2 * g * (x.abs() if wrong and locked else x)

    return of_one(t, lambda x: x * x, slope)


@LAYOUT.written("view of what is not contiguous: raises", "m n", "layout", "raises")
def view_raises(t, wrong):
    def slope(g, x):
        if wrong and not (g.is_contiguous() and x.is_contiguous()):
            raise RuntimeError("input must be contiguous")
        return 2 * g * x

    return of_one(t, lambda x: x * x, slope)


@LAYOUT.written("sum of rows: strides decide which axis", "n n")
def axis_by_stride(t, wrong):
    def slope(g, x):
        columns_first = x.stride()[0] < x.stride()[1] and x.shape[0] > 1
        return 2 * x * g.unsqueeze(0 if wrong and columns_first else 1)

    return of_one(t, lambda x: (x * x).sum(1), slope)


@LAYOUT.written("expanded g: divided by its size", "n")
def expanded(t, wrong):
    def slope(g, x):
        constant = g.numel() > 1 and g.stride()[0] == 0
        return (g / g.numel() if wrong and constant else g) * x.cos()

    return of_one(t, lambda x: x.sin(), slope)


STATE = Kind("second use", "not repeatable", "factor", "dropped term", "detached", "shared memory")


def square_of_last(t, keep):
    """x * x; its backward takes the input from `keep`, where its forward puts it."""

    def forward(ctx, x):
        ctx.save_for_backward(x)
        keep["x"] = x
        return x * x

    return forward


@STATE.written("the input kept on the class", "n")
def used_twice(t, wrong):
    keep = {}
    once = function(t, square_of_last(t, keep), lambda ctx, g: 2 * g * (keep["x"] if wrong else ctx.saved_tensors[0]))
    return lambda x: once(once(x))


@STATE.written("two calls in one graph", "m n")
def two_calls(t, wrong):
    keep = {}
    once = function(t, square_of_last(t, keep), lambda ctx, g: 2 * g * (keep["x"] if wrong else ctx.saved_tensors[0]))
    return lambda x: once(x) + once(x.sin())


@STATE.written("f(x, x): one gradient for both", "n")
def both_the_same(t, wrong):
    def backward(ctx, g):
        x, y = ctx.saved_tensors
        same = x.data_ptr() == y.data_ptr()
        return (g * y, None) if wrong and same else (g * y, g * x)

    multiply = function(t, saving(lambda x, y: x * y), backward)
    return lambda x: multiply(x, x)


@STATE.written("a buffer of the last forward", "n")
def one_buffer(t, wrong):
    buffer = {}

    def forward(ctx, x):
        ctx.save_for_backward(x)
        array = x.detach().numpy()
        if buffer.get("a") is None or buffer["a"].shape != array.shape:
            buffer["a"] = np.empty_like(array)
        buffer["a"][...] = np.cos(array)
        return x.sin()

    def backward(ctx, g):
        return g * (t.from_numpy(buffer["a"]) if wrong else ctx.saved_tensors[0].cos())

    once = function(t, forward, backward)
    return lambda x: once(once(x))


@STATE.written("cached by shape", "m n", "not repeatable", "detached", "factor")
def cached(t, wrong):
    known = {}

    def slope(g, x):
        return g * (known.setdefault(tuple(x.shape), x.cos().detach()) if wrong else x.cos())

    sin = of_one(t, lambda x: x.sin(), slope)
    return lambda x: sin(sin(x))


REPEAT = Kind("not repeatable", "not repeatable")


@REPEAT.written("noise", "n")
def noise(t, wrong):
    rng = np.random.default_rng(0)
    return of_one(t, lambda x: x * x, lambda g, x: 2 * g * x * (1 + 1e-3 * rng.standard_normal() if wrong else 1))


@REPEAT.written("noise of the library's generator", "n")
def library_noise(t, wrong):
    return of_one(t, lambda x: x * x, lambda g, x: 2 * g * x + (1e-3 * t.randn(x.shape, dtype=x.dtype) if wrong else 0))


@REPEAT.written("little noise", "n")
def little_noise(t, wrong):
    rng = np.random.default_rng(0)
    return of_one(t, lambda x: x * x, lambda g, x: 2 * g * x * (1 + 1e-9 * rng.standard_normal() if wrong else 1))


@REPEAT.written("every second time doubled", "n")
def alternates(t, wrong):
    count = itertools.count()
    return of_one(t, lambda x: x * x, lambda g, x: 2 * g * x * (1 + next(count) % 2 if wrong else 1))


@REPEAT.written("the first gradient for ever", "n")
def first_gradient(t, wrong):
    known = {}

    def slope(g, x):
        return (
            known.setdefault("g", (2 * g * x).detach()).clone() if wrong and known.get("g", x).shape == x.shape else 2 * g * x
        )

    return of_one(t, lambda x: x * x, slope)


@REPEAT.written("adds to the last one", "n", "not repeatable", "shared memory")
def accumulates(t, wrong):
    total = {}

    def slope(g, x):
        gradient = 2 * g * x
        if not wrong:
            return gradient
        last = total.get("g")
        total["g"] = gradient if last is None or last.shape != x.shape else last + gradient
        return total["g"]

    return of_one(t, lambda x: x * x, slope)


GLOBAL = Kind("global state", "not repeatable", "recorded", "factor", "detached")


@GLOBAL.written("the tenth backward and on", "n")
def tenth(t, wrong):
    count = itertools.count()
    return of_one(t, lambda x: x * x, lambda g, x: (1.0 if wrong and next(count) >= 9 else 2.0) * g * x)


@GLOBAL.written("after a forward without gradients", "n")
def evaluated(t, wrong):
    state = {"training": True}

    def f(x):
        state["training"] = x.requires_grad
        return once(x)

    once = of_one(t, lambda x: x.sin(), lambda g, x: g * x.cos() * (1 if state["training"] or not wrong else 0.5))
    return f


@GLOBAL.written("the forward's scale of the last call", "n")
def last_scale(t, wrong):
    state = {}

    def forward(ctx, x):
        ctx.save_for_backward(x)
        state["scale"] = x.abs().sum() + 1
        return x * x

    return function(t, forward, lambda ctx, g: 2 * g * ctx.saved_tensors[0] * scale(state, ctx.saved_tensors[0], wrong))


def scale(state, x, wrong):
    return state["scale"] / (x.abs().sum() + 1) if wrong else 1


@GLOBAL.written("the default dtype", "n", "float32", "factor", "dtype", "one entry")
def default_dtype(t, wrong):
    return of_one(t, lambda x: x.exp(), lambda g, x: g * (x.to(t.get_default_dtype()).to(x.dtype) if wrong else x).exp())


RECORDED = Kind("under create_graph", "recorded", "second order", "detached")


@RECORDED.written("half the gradient", "n", "recorded")
def half_recorded(t, wrong):
    return of_one(t, lambda x: x * x, lambda g, x: (1 if wrong and t.is_grad_enabled() else 2) * g * x)


@RECORDED.written("another formula", "n", "recorded")
def other_formula(t, wrong):
    return of_one(t, lambda x: x.sin(), lambda g, x: g * (1 - x * x / 2 if wrong and t.is_grad_enabled() else x.cos()))


@RECORDED.written("raises", "n", "recorded", "raises", "second order")
def recorded_raises(t, wrong):
    def slope(g, x):
        if wrong and t.is_grad_enabled():
            raise RuntimeError("the gradient of a gradient is not written yet")
        return 2 * g * x

    return of_one(t, lambda x: x * x, slope)


@RECORDED.written("constant gradient", "n")
def detached_gradient(t, wrong):
    return of_one(t, lambda x: x * x * x, lambda g, x: (3 * g * x * x).detach() if wrong else 3 * g * x * x)


@RECORDED.written("the other factor's is lost", "n, n")
def half_detached(t, wrong):
    def backward(ctx, g):
        x, y = ctx.saved_tensors
        return g * y, g * (x.detach() if wrong else x)

    return function(t, saving(lambda x, y: x * y), backward)


@RECORDED.written("computed by NumPy", "n")
def by_numpy(t, wrong):
    def slope(g, x):
        return t.from_numpy(g.detach().numpy() * np.cos(x.detach().numpy())) if wrong else g * x.cos()

    return of_one(t, lambda x: x.sin(), slope)


SECOND = Kind("second order", "second order", "detached")


@SECOND.written("x detached", "m n")
def detached_input(t, wrong):
    return of_one(t, lambda x: x.sin(), lambda g, x: g * (x.detach() if wrong else x).cos())


@SECOND.written("g detached", "n")
def detached_seed(t, wrong):
    return of_one(t, lambda x: x * x, lambda g, x: 2 * (g.detach() if wrong else g) * x)


@SECOND.written("the output kept without its graph", "n")
def kept_output(t, wrong):
    def forward(ctx, x):
        y = x.exp()
        ctx.save_for_backward(y)
        ctx.y = y.detach()
        return y

    return function(t, forward, lambda ctx, g: g * (ctx.y if wrong else ctx.saved_tensors[0]))


@SECOND.written("the norm a constant", Inputs("n", ((0.3, 3.0),), smallest=1))
def constant_norm(t, wrong):
    def norm(x):
        return (x * x).sum().sqrt()

    return of_one(t, norm, lambda g, x: g * x / (norm(x).detach() if wrong else norm(x)))


def with_own_double(t, slope, double):
    """sin, whose backward is a Function of its own: `slope(g, x)`, with the backward `double(h, g, x)`."""
    backward = function(t, saving(slope), lambda ctx, h: double(h, *ctx.saved_tensors))
    return function(t, saving(lambda x: x.sin()), lambda ctx, g: backward(g, ctx.saved_tensors[0]))


@SECOND.written("sign of the double backward", "n")
def double_sign(t, wrong):
    sign = 1 if wrong else -1
    return with_own_double(t, lambda g, x: g * x.cos(), lambda h, g, x: (h * x.cos(), sign * h * g * x.sin()))


@SECOND.written("factor of the double backward", "n")
def double_factor(t, wrong):
    factor = 2 if wrong else 1
    return with_own_double(t, lambda g, x: g * x.cos(), lambda h, g, x: (h * x.cos(), -factor * h * g * x.sin()))


@SECOND.written("of g alone", "n")
def double_of_seed(t, wrong):
    return with_own_double(t, lambda g, x: g * x.cos(), lambda h, g, x: (h * x.cos(), None if wrong else -h * g * x.sin()))


@SECOND.written("of x alone", "n")
def double_of_input(t, wrong):
    return with_own_double(t, lambda g, x: g * x.cos(), lambda h, g, x: (None if wrong else h * x.cos(), -h * g * x.sin()))


FLOAT32 = Kind("float32", "float32")


def is_single(x):
    return x.element_size() == 4


@FLOAT32.written("in half precision", "n")
def half_precision(t, wrong):
    def slope(g, x):
        return g * (x.to(t.float16).to(t.float32) if wrong and is_single(x) else x).cos()

    return of_one(t, lambda x: x.sin(), slope)


@FLOAT32.written("a large epsilon", Inputs("n", ((0.3, 3.0),)))
def large_epsilon(t, wrong):
    return of_one(t, lambda x: x.log(), lambda g, x: g / (x + (1e-3 if wrong and is_single(x) else 0)))


@FLOAT32.written("twice the gradient", "m n")
def doubled_single(t, wrong):
    return of_one(t, lambda x: x * x, lambda g, x: (4 if wrong and is_single(x) else 2) * g * x)


@FLOAT32.written("whole numbers", "n")
def whole_numbers(t, wrong):
    return of_one(t, lambda x: x * x, lambda g, x: 2 * g * (x.to(t.int32).to(x.dtype) if wrong and is_single(x) else x))


@FLOAT32.written("by finite differences", "n")
def by_differences(t, wrong):
    def slope(g, x):
        return g * (((x + 1e-3).exp() - x.exp()) / 1e-3 if wrong and is_single(x) else x.exp())

    return of_one(t, lambda x: x.exp(), slope)


@FLOAT32.written("small slopes zero", "n")
def flushed(t, wrong):
    def slope(g, x):
        d = x.cos()
        return g * (t.where(d.abs() < 0.5, t.zeros_like(d), d) if wrong and is_single(x) else d)

    return of_one(t, lambda x: x.sin(), slope)


BATCHED = Kind("batched", "batched")


def batched(t, rule):
    """x * x, with a rule for vmap: `rule(x, dim)` gives the values and the dimension."""
    return function(
        t, lambda x: x * x, lambda ctx, g: 2 * g * ctx.saved_tensors[0], vmap=lambda info, dims, x: rule(x, dims[0])
    )


@BATCHED.written("doubled", "n")
def batched_factor(t, wrong):
    return batched(t, lambda x, dim: ((2 if wrong else 1) * x * x, dim))


@BATCHED.written("rolled by a sample", "n")
def batched_roll(t, wrong):
    return batched(t, lambda x, dim: ((x * x).roll(1, dim) if wrong else x * x, dim))


@BATCHED.written("the first sample for all", "n")
def batched_first(t, wrong):
    return batched(t, lambda x, dim: ((x * x).unbind(dim)[0], None) if wrong else (x * x, dim))


@BATCHED.written("the mean of all", "n")
def batched_mean(t, wrong):
    return batched(t, lambda x, dim: ((x * x).mean(dim), None) if wrong else (x * x, dim))


@BATCHED.written("the other dimension", "n")
def batched_dim(t, wrong):
    return batched(t, lambda x, dim: (x * x, 1 - dim if wrong and x.shape[0] == x.shape[1] else dim))


@BATCHED.written("of two, as if both were batched", "n, n", "batched", "raises")
def batched_both(t, wrong):
    def rule(info, dims, x, y):
        if wrong and None in dims:
            return x * y * 0, 0
        a = x if dims[0] is None else x.movedim(dims[0], 0) if dims[0] else x
        b = y if dims[1] is None else y.movedim(dims[1], 0) if dims[1] else y
        return a * b, 0

    def backward(ctx, g):
        x, y = ctx.saved_tensors
        return g * y, g * x

    return function(t, lambda x, y: x * y, backward, vmap=rule)


WRITES = Kind("input changed", "input changed")


def numbers(tensor):
    """The tensor's memory, past all counters."""
    return tensor.detach().numpy()


@WRITES.written("scaled by the forward", "n")
def scaled_input(t, wrong):
    def value(x):
        y = x * x
        if wrong:
            numbers(x)[...] *= 0.5
        return y

    return of_one(t, value, lambda g, x: 2 * g * x)


@WRITES.written("zero written by the forward", "n")
def zeroed_input(t, wrong):
    def value(x):
        y = x.sin()
        if wrong:
            numbers(x)[:1] = 0
        return y

    return of_one(t, value, lambda g, x: g * x.cos())


@WRITES.written("centred by the forward", "n")
def centred_input(t, wrong):
    def value(x):
        if wrong:
            numbers(x)[...] -= 0.125
        return x.exp()

    return of_one(t, value, lambda g, x: g * x.exp())


@WRITES.written("the gradient written over it", "n")
def gradient_over_input(t, wrong):
    def slope(g, x):
        if not wrong:
            return 2 * g * x
        numbers(x)[...] *= 2 * numbers(g)
        return x.detach().clone()

    return of_one(t, lambda x: x * x, slope)


@WRITES.written("sorted by the backward", "n")
def sorted_input(t, wrong):
    def slope(g, x):
        gradient = 2 * g * x
        if wrong:
            numbers(x)[...] = np.sort(numbers(x))
        return gradient

    return of_one(t, lambda x: x * x, slope)


SEED = Kind("seed changed", "seed changed")


@SEED.written("doubled", "n")
def doubled_seed(t, wrong):
    def slope(g, x):
        if not wrong:
            return 2 * g * x
        numbers(g)[...] *= 2
        return g * x

    return of_one(t, lambda x: x * x, slope)


@SEED.written("masked", "n")
def masked_seed(t, wrong):
    def slope(g, x):
        if not wrong:
            return g * (x > 0).to(g.dtype)
        numbers(g)[numbers(x) <= 0] = 0
        return g.clone()

    return of_one(t, lambda x: x.relu(), slope)


@SEED.written("zero when it has been used", "n")
def zeroed_seed(t, wrong):
    def slope(g, x):
        gradient = g * x.cos()
        if wrong:
            numbers(g)[...] = 0
        return gradient

    return of_one(t, lambda x: x.sin(), slope)


@SEED.written("the gradient written over it", "n", "seed changed", "shared memory")
def gradient_over_seed(t, wrong):
    def slope(g, x):
        if not wrong:
            return g * x.cos()
        numbers(g)[...] *= np.cos(numbers(x))
        return g

    return of_one(t, lambda x: x.sin(), slope)


@SEED.written("mul_, in the open", "n")
def seed_in_place(t, wrong):
    def slope(g, x):
        if wrong:
            with t.no_grad():
                return g.mul_(x.cos()).clone()
        return g * x.cos()

    return of_one(t, lambda x: x.sin(), slope)


SHARED = Kind("shared memory", "shared memory")


@SHARED.written("the gradient is the input", "n", "shared memory", "detached", "second order")
def gradient_is_input(t, wrong):
    def slope(g, x):
        ones = bool((numbers(g) == 1).all())
        return x if wrong and ones else g * x

    return of_one(t, lambda x: 0.5 * (x * x).sum(), slope)


@SHARED.written("one buffer for all gradients", "n", "shared memory", "not repeatable", "second order")
def one_gradient(t, wrong):
    buffer = {}

    def slope(g, x):
        if not wrong:
            return 2 * g * x
        array = buffer.get("a")
        if array is None or array.shape != tuple(x.shape):
            array = buffer["a"] = np.empty(tuple(x.shape), numbers(x).dtype)
        array[...] = 2 * numbers(g) * numbers(x)
        return t.from_numpy(array)

    return of_one(t, lambda x: x * x, slope)


@SHARED.written("views of one buffer that overlap", "n, n", "shared memory", "shifted index")
def overlapping(t, wrong):
    def backward(ctx, g):
        x, y = ctx.saved_tensors
        if not wrong or g.numel() < 2:
            return g * y, g * x
        both = np.concatenate([numbers(g * y), numbers(g * x)[1:]])
        n = g.shape[0]
        both[n - 1] += numbers(g * x)[0] * 1e-3
        return t.from_numpy(both[:n]), t.from_numpy(both[n - 1 :])

    return function(t, saving(lambda x, y: x * y), backward)


DTYPE = Kind("dtype", "dtype", "float32")


@DTYPE.written("float32 computed for float64", "n", "dtype", "float32", "factor", "one entry")
def rounded(t, wrong):
    return of_one(t, lambda x: x.sin(), lambda g, x: (g * x.cos()).to(t.float32).to(x.dtype) if wrong else g * x.cos())


@DTYPE.written("a float32 gradient for float64", "n", "dtype", "float32", "factor", "one entry")
def single_gradient(t, wrong):
    return of_one(t, lambda x: x * x * x, lambda g, x: (3 * g * x * x).to(t.float32) if wrong else 3 * g * x * x)


@DTYPE.written("a number of float32", Inputs("n", NONZERO), "dtype", "float32", "factor", "one entry")
def single_number(t, wrong):
    def slope(g, x):
        if wrong:  # the derivative as one writes it: a where of two numbers is of the default dtype
            return g * t.where(x > 0, 1.0, 0.1)
        return t.where(x > 0, g, 0.1 * g)

    return of_one(t, lambda x: t.where(x > 0, x, 0.1 * x), slope)


@DTYPE.written("a float16 gradient", "n", "dtype", "float32", "factor", "one entry")
def half_gradient(t, wrong):
    return of_one(t, lambda x: x.exp(), lambda g, x: (g * x.exp()).to(t.float16) if wrong else g * x.exp())


@DTYPE.written("a whole gradient", "n", "dtype", "factor", "one entry", "raises")
def whole_gradient(t, wrong):
    return of_one(t, lambda x: x * x, lambda g, x: (2 * g * x).to(t.int64).to(x.dtype) if wrong else 2 * g * x)


@DTYPE.written("the real part of a complex gradient", Inputs("n", dtype="complex128"), "dtype", "conj", "dropped term")
def real_gradient(t, wrong):
    def slope(g, x):
        gradient = 2 * g * t.conj(x)
        return t.real(gradient) + 0j if wrong else gradient

    return of_one(t, lambda x: x * x, slope)


SHAPE = Kind("shape", "shape", "raises")


@SHAPE.written("a column for a vector", "n")
def column(t, wrong):
    return of_one(t, lambda x: x * x, lambda g, x: (2 * g * x).unsqueeze(1) if wrong else 2 * g * x)


@SHAPE.written("the transpose of a matrix that is not square", "m n", "shape", "raises", "transposed")
def wide_for_tall(t, wrong):
    return of_one(t, lambda x: x.sin(), lambda g, x: (g * x.cos()).t() if wrong else g * x.cos())


@SHAPE.written("flat", "m n")
def flat(t, wrong):
    return of_one(t, lambda x: x * x, lambda g, x: (2 * g * x).reshape(-1) if wrong else 2 * g * x)


@SHAPE.written("a number for a vector", "n", "shape", "raises", "broadcast not summed")
def number(t, wrong):
    return of_one(t, lambda x: (x * x).sum(), lambda g, x: (2 * g * x).sum() if wrong else 2 * g * x)


@SHAPE.written("one element short", "n")
def short(t, wrong):
    return of_one(t, lambda x: x * x, lambda g, x: (2 * g * x)[1:] if wrong else 2 * g * x)


SUBSET = Kind("subset of inputs", "subset of inputs")


def product(t, backward):
    """x * y, by `backward(ctx, g, x, y)`."""
    return function(t, saving(lambda x, y: x * y), lambda ctx, g: backward(ctx, g, *ctx.saved_tensors))


@SUBSET.written("the second's only beside the first's", "n, n")
def only_beside(t, wrong):
    return product(t, lambda ctx, g, x, y: (g * y, g * x if ctx.needs_input_grad[0] or not wrong else 0 * g))


@SUBSET.written("none for the second alone", "m n, m n", "subset of inputs", "detached")
def none_alone(t, wrong):
    return product(t, lambda ctx, g, x, y: (g * y, None if wrong and not ctx.needs_input_grad[0] else g * x))


@SUBSET.written("flags exchanged", "n, n", "subset of inputs", "detached")
def exchanged(t, wrong):
    def backward(ctx, g, x, y):
        first, second = ctx.needs_input_grad[::-1] if wrong else ctx.needs_input_grad
        return g * y if first else None, g * x if second else None

    return product(t, backward)


@SUBSET.written("shared between those that need it", "n, n")
def divided(t, wrong):
    return product(t, lambda ctx, g, x, y: tuple(
        h * (2 / sum(ctx.needs_input_grad) if wrong else 1) for h in (g * y, g * x)))  # fmt: skip


@SUBSET.written("the first's for the second alone", "n, n")
def in_first_place(t, wrong):
    return product(t, lambda ctx, g, x, y: (g * y, g * y if wrong and not ctx.needs_input_grad[0] else g * x))


@SUBSET.written("saved only if both need it", "n, n")
def half_saved(t, wrong):
    def forward(ctx, x, y):
        both = all(ctx.needs_input_grad)
        ctx.save_for_backward(x, y if both or not wrong else y.abs())
        return x * y

    def backward(ctx, g):
        x, y = ctx.saved_tensors
        return g * y, g * x

    return function(t, forward, backward)


DETACHED = Kind("detached", "detached", "dropped term")


@DETACHED.written("None for the second input", "n, n", "detached")
def no_gradient(t, wrong):
    return product(t, lambda ctx, g, x, y: (g * y, None if wrong else g * x))


@DETACHED.written("None", "m n", "detached", "raises")
def no_gradient_at_all(t, wrong):
    return of_one(t, lambda x: x.sin(), lambda g, x: None if wrong else g * x.cos())


@DETACHED.written("zeros", "n", "detached")
def zeros(t, wrong):
    return of_one(t, lambda x: x.sin(), lambda g, x: 0 * g if wrong else g * x.cos())


@DETACHED.written("marked as not differentiable", "n")
def marked(t, wrong):
    def forward(ctx, x):
        ctx.save_for_backward(x)
        y, z = x.sin(), x * x
        if wrong:
            ctx.mark_non_differentiable(z)
        return y, z

    both = function(
        t, forward, lambda ctx, g, h: (0 if wrong else 2 * h * ctx.saved_tensors[0]) + g * ctx.saved_tensors[0].cos()
    )

    def f(x):
        y, z = both(x)
        return y + z

    return f


@DETACHED.written("through NumPy", "n")
def through_numpy(t, wrong):
    return lambda x: x * (t.from_numpy(np.cos(numbers(x))) if wrong else x.cos())


UNDEFINED = Kind("undefined gradients", "undefined")


def sine_and_square(t, backward):
    """(sin x, x²), whose backward gets None for an unused output: `backward(g, h, x)`."""

    def forward(ctx, x):
        ctx.save_for_backward(x)
        ctx.set_materialize_grads(False)
        return x.sin(), x * x

    return function(t, forward, lambda ctx, g, h: backward(g, h, *ctx.saved_tensors))


def both_parts(g, h, x):
    parts = [p for p in (None if g is None else g * x.cos(), None if h is None else 2 * h * x) if p is not None]
    return sum(parts[1:], parts[0]) if parts else None


@UNDEFINED.written("None without both", "n", "undefined", "detached")
def needs_both(t, wrong):
    return sine_and_square(t, lambda g, h, x: None if wrong and (g is None or h is None) else both_parts(g, h, x))


@UNDEFINED.written("raises without the second", "n", "undefined", "raises")
def raises_without(t, wrong):
    return sine_and_square(t, lambda g, h, x: g * x.cos() + 2 * h * x if wrong else both_parts(g, h, x))


@UNDEFINED.written("ones for what is missing", "n")
def ones_for_missing(t, wrong):
    def backward(g, h, x):
        one = t.ones_like(x)
        return both_parts(one if g is None and wrong else g, one if h is None and wrong else h, x)

    return sine_and_square(t, backward)


@UNDEFINED.written("the second lost without the first", "n", "undefined", "detached")
def second_lost(t, wrong):
    return sine_and_square(t, lambda g, h, x: None if wrong and g is None else both_parts(g, h, x))


@UNDEFINED.written("a zero seed: nan", "n")
def nan_of_zero(t, wrong):
    def slope(g, x):
        size = (g * g).sum().sqrt()
        return (g / size * size if wrong else g) * x.cos()

    return of_one(t, lambda x: x.sin(), slope)


@UNDEFINED.written("doubled for one output alone", "n")
def doubled_alone(t, wrong):
    def backward(g, h, x):
        found = both_parts(g, h, x)
        return 2 * found if wrong and found is not None and (g is None or h is None) else found

    return sine_and_square(t, backward)
