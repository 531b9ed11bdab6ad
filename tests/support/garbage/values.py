"""Arguments of every kind, most of them wrong for whatever takes them. All are made anew for each call."""

import decimal
import fractions
import random
import types

import numpy as np
from op_case import HALF

import autograd_cy as ag


class Evil(ArithmeticError):
    """What the objects below raise; it has to come out as it is."""


def _raise(*args, **kwargs):
    raise Evil("evil")


class Integer:
    """An object whose `__index__` gives what it was told."""

    def __init__(self, value):
        self.value = value

    def __index__(self):
        return self.value


class LyingInt(int):
    """A number that is another one when it is asked."""

    __hash__ = int.__hash__

    def __index__(self):
        return 2**40

    __int__ = __index__

    def __eq__(self, other):
        return True


class LyingTuple(tuple):
    """A tuple that says it is longer."""

    __slots__ = ()

    def __len__(self):
        return 5


class Shrinking(list):
    """A list that gets shorter while it is iterated."""

    def __getitem__(self, i):
        item = super().__getitem__(i)
        self.clear()
        return item

    def __iter__(self):
        while self:
            yield self.pop()


class FalseTensor:
    """What `isinstance` takes for a Tensor."""

    __class__ = ag.Tensor


class Sub(ag.Tensor):
    """A subclass of Tensor."""


class Overriding:
    """An object whose `__torch_function__` gives what it was told."""

    def __init__(self, value):
        self.value = value

    @classmethod
    def __torch_function__(cls, function, types, args=(), kwargs=None):
        return NotImplemented


class RaisingOverride(Overriding):
    __torch_function__ = classmethod(_raise)


class Arrayish:
    def __array__(self, *args, **kwargs):
        return "no array"


EVIL = {
    name: type(f"Evil{name.strip('_').title()}", (), {name: _raise})
    for name in ("__index__", "__len__", "__bool__", "__eq__", "__hash__", "__iter__", "__getattr__", "__float__", "__int__",
                 "__array__", "__repr__", "__getitem__", "__call__", "__torch_function__", "__complex__", "__enter__")
}  # fmt: skip
EVIL["__class__"] = type("EvilClass", (), {"__class__": property(_raise)})

NUMBERS = [
    0, 1, 2, -1, -2, 3, 7, 100, -100, 2**31 - 1, 2**31, -(2**31), -(2**31) - 1, 2**32, 2**62, 2**63 - 1, 2**63, -(2**63),
    2**64, 10**30, -(10**400), 0.0, -0.0, 0.5, -1.5, 1e308, 1e-320, float("nan"), float("inf"), -float("inf"), 1j,
    complex("nan+infj"), True, False, np.int64(3), np.int8(-1), np.uint64(2**64 - 1), np.float32(1.5), np.float64("nan"),
    np.bool_(True),
    np.complex64(1j), np.float16(1), np.longdouble(1), fractions.Fraction(1, 3), decimal.Decimal("NaN"),
]  # fmt: skip
SIZES = [0, 1, 2, 3, -1, -2, 4, 2**31, 2**62, -(2**63), 2**63, 2**32 + 1]
STRINGS = ["", "a", "mean", "sum", "none", "ij,jk->ik", "...", "\0", "\ud800", "float32", "i" * 1000, b"x", bytearray(3)]
SHAPES = [(), (0,), (1,), (3,), (4,), (2, 3), (3, 2), (3, 3), (0, 3), (3, 0), (1, 3), (2, 3, 4), (2, 0, 3), (1,) * 5]
DTYPES = ["bool", "uint8", "int8", "int16", "int32", "int64", "float16", "float32", "float64", "complex64", "complex128"]
NEWER = ["uint16", "uint32", "uint64", *HALF[1:]]  # which few operations take


class Maker:
    """Makes arguments from one stream of random numbers."""

    def __init__(self, seed):
        self.random = random.Random(seed)
        self.pick = self.random.choice
        self.huge = False  # whether a list of what it made may be too long for the memory

    def value(self, depth=2):
        """Anything."""
        kind = self.random.random()
        if kind < 0.3:
            return self.tensor()
        if kind < 0.45:
            return self.pick(NUMBERS)
        if kind < 0.52:
            return self.array()
        if kind < 0.58:
            return self.pick(STRINGS)
        if kind < 0.66:
            return self.evil()
        if kind < 0.72:
            return self.part_of_a_graph()
        if kind < 0.8 and depth:
            return self.sequence(depth)
        if kind < 0.87:
            return tuple(self.pick(SIZES) for _ in range(self.random.randrange(4)))
        return self.single()

    def single(self):
        """One of a kind."""
        return self.pick([
            lambda: None, lambda: None, lambda: Ellipsis, lambda: slice(None), lambda: slice(2**70, -(2**70), -1),
            lambda: slice("a", None), lambda: slice(0, None, 0), lambda: object(), lambda: int, lambda: ag.Tensor, lambda: np,
            lambda: range(3), self.long_range, lambda: iter([1, 2]), dict, lambda: {"a": 1}, lambda: set(),
            lambda: ag.float32, lambda: ag.complex64, lambda: np.float32, lambda: np.dtype(">f4"), lambda: np.dtype("O"),
            lambda: ag.device("cpu"), lambda: ag.Size([2, 3]), lambda: ag.Generator(), lambda: memoryview(b"abc"),
            lambda: lambda *args: args, lambda: lambda *args: 5, lambda: _raise, lambda: print.__self__,
            lambda: types.SimpleNamespace(shape=(3,), dtype=ag.float32), lambda: NotImplemented, lambda: Exception("x"),
        ])()  # fmt: skip

    def long_range(self):
        self.huge = True
        return range(2**62)

    def sequence(self, depth):
        items = [self.value(depth - 1) for _ in range(self.random.randrange(4))]
        if self.random.random() < 0.1:
            items.append(items)
        return self.pick([list, list, tuple, LyingTuple, lambda x: dict(enumerate(x)), iter])(items)

    def evil(self):
        kind = self.random.randrange(len(EVIL) + 9)
        if kind < len(EVIL):
            return list(EVIL.values())[kind]()
        return [
            lambda: Integer(self.pick(SIZES)), lambda: Integer("a"), lambda: LyingInt(1), lambda: LyingTuple((1, 2)),
            lambda: Shrinking([1, 2.5, 3]), FalseTensor, lambda: Overriding(5), lambda: RaisingOverride(0), Arrayish,
        ][kind - len(EVIL)]()  # fmt: skip

    def array(self):
        shape = self.pick(SHAPES)
        foreign = ["O", "U3", "S2", "M8[s]", "f4,i4", "uint16", "uint64", ">f4", "longdouble", "clongdouble"]
        array = np.ones(shape, self.pick([*DTYPES, *foreign]))
        how = self.random.randrange(8)
        if how == 0:
            array.flags.writeable = False
        elif how == 1:
            array = array.T
        elif how == 2 and array.ndim:
            array = array[..., ::-1]
        elif how == 3:
            array = np.broadcast_to(array, (2, *shape))
        elif how == 4 and array.dtype == np.float32:
            array = np.frombuffer(b"\0" * 13, np.float32, 3, 1)  # misaligned, and read-only
        elif how == 5:
            array = np.ma.array(array)
        return array

    def tensor(self):
        """A Tensor of any type, shape, layout and place in the graph."""
        dtypes = [*DTYPES, "float32", "float32", "float32", "float64", "int64", self.pick(NEWER)]
        dtype, shape = self.pick(dtypes), self.pick(SHAPES)
        numbers = np.asarray(self.random.randrange(5) + np.arange(int(np.prod(shape))).reshape(shape) % 4)
        x = ag.tensor(numbers).to(getattr(ag, dtype))
        if x.is_floating_point() or x.is_complex():
            x = self.placed(x)
        return self.laid_out(x)

    def placed(self, x):
        how = self.random.randrange(9)
        if how < 4:
            x.requires_grad_()
        if how == 1:
            return x * 2
        if how == 2:
            y = x * x
            y.sum().backward() if not x.is_complex() else None
            return y
        if how == 3:
            x.grad = ag.ones_like(x)
        elif how == 4:
            with ag.inference_mode():
                return x + 1
        elif how == 5:
            y = x.requires_grad_().clone()
            y[...] = 1
            return y
        return x

    def laid_out(self, x):
        how = self.random.randrange(12)
        if how == 0:
            return x.T if x.ndim == 2 else x
        if how == 1:
            return x.expand(2, *x.shape)
        if how == 2 and x.ndim:
            return x[..., 1:]
        if how == 3:
            array = np.ones(x.shape, np.float32)
            array.flags.writeable = False
            return ag.from_numpy(array)
        if how == 4 and not x.requires_grad:
            return x.as_subclass(Sub)
        if how == 5:
            self.huge = True
            return ag.from_numpy(np.ones((0, 2**40), np.float32))
        if how == 6:
            return ag.ones((1,) * 60, requires_grad=True)
        if how == 7 and self.random.random() < 0.5:
            return self.otherwise_stored(x)
        return x

    def otherwise_stored(self, x):
        """A sparse tensor, one on meta, a storage."""
        how = self.random.randrange(5)
        if how == 0:
            return x.to("meta")
        if how == 1:
            return x.untyped_storage()
        if how == 2:
            return x.detach().clone().storage()
        if how == 3 and x.ndim == 2:
            return x.to_sparse_csr()
        return x.to_sparse()

    def part_of_a_graph(self):
        """A node, a handle, an edge."""
        x = ag.ones(3, requires_grad=True)
        y = x * x
        return self.pick([
            lambda: y.grad_fn, lambda: y.grad_fn.next_functions[0][0], lambda: freed(y), lambda: y.grad_fn._raw_saved_self,
            lambda: ag.autograd.graph.get_gradient_edge(y), lambda: y.register_hook(print), lambda: x.unbind()[0].grad_fn,
            lambda: x.max(0).values.grad_fn, lambda: ag.autograd.graph.GradientEdge(5, "a"), lambda: Doubling.apply(x).grad_fn,
        ])()  # fmt: skip

    def arguments(self, names=()):
        """Positional and keyword arguments; `names` are those that the callee knows."""
        args = [self.value() for _ in range(self.pick([0, 1, 1, 1, 2, 2, 3, 4]))]
        known = [name for name in names if self.random.random() < 0.15]
        return args, {name: self.value() for name in known}


class Doubling(ag.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x * 2

    @staticmethod
    def backward(ctx, g):
        return g * 2


def freed(y):
    y.sum().backward()
    return y.grad_fn
