"""SparseTensor: indices and values (facade). NOTE [Sparse tensors] in layouts.pyx says how it meets the core."""

from collections.abc import Callable
from typing import Any

import numpy as np

from .._core.graph.memory import declare_sparse
from .._core.graph.tensor import Tensor, array_of, from_array
from .._core.ops.overrides import arm
from .._core.ops.shapes.reshaping import replace_array
from .._settings.autocast import rule_for
from .._types.layout import sparse_coo, sparse_csr
from ..autograd.function import Function
from ._pattern import Pattern, coo_pattern, placeholder, places_of, same_places

TABLE: dict[str, Callable[..., Any]] = {}  # implementations by the operation's name


def implements(*names: str) -> Callable[[Any], Any]:
    """Enter a function into the table under these names of operations."""

    def enter(function: Any) -> Any:
        TABLE.update(dict.fromkeys(names, function))
        return function

    return enter


class SparseTensor(Tensor):
    """The type of sparse tensors: a Tensor with the elements `values()` at `indices()`, and 0 elsewhere.

    >>> import autograd_cy as ag
    >>> x = ag.tensor([[0.0, 2.0], [0.0, 0.0]]).to_sparse()
    >>> isinstance(x, ag.Tensor), x.is_sparse, x._nnz()
    (True, True, 1)
    """

    _pattern: Pattern
    _held: Tensor

    def __init_subclass__(cls, **kwargs: Any) -> None:
        raise TypeError("SparseTensor can't have subclasses")

    @classmethod
    def __torch_function__(cls, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        implementation = TABLE.get(getattr(func, "__name__", ""))
        if implementation is None:
            raise refused(getattr(func, "__name__", repr(func)), [*args, *(kwargs or {}).values()])
        rule = rule_for(func)
        return implementation(*args, **(kwargs or {})) if rule is None else rule(implementation, args, kwargs or {})

    @property
    def layout(self) -> Any:
        """torch.sparse_coo or torch.sparse_csr."""
        return self._pattern.layout

    @property
    def is_sparse(self) -> bool:
        """Whether the layout is COO."""
        return self._pattern.layout is sparse_coo

    @property
    def is_sparse_csr(self) -> bool:
        """Whether the layout is CSR."""
        return self._pattern.layout is sparse_csr

    @property
    def data(self) -> Any:
        """The same indices and values without history."""
        return detached(self)

    @data.setter
    def data(self, other: Any) -> None:
        if not isinstance(other, Tensor):
            raise TypeError(f"Variable data has to be a tensor, but got {type(other).__name__}")
        if type(other) is not SparseTensor or other.layout is not self.layout:
            raise RuntimeError(
                "Attempted to call `variable.set_data(tensor)`, but `variable` and `tensor` have incompatible tensor type."
            )
        if self.requires_grad and not (other.dtype.is_floating_point or other.dtype.is_complex):
            raise RuntimeError("data set to a tensor that requires gradients must be floating point or complex dtype")
        replace_array(self, other)
        become(self, other)

    @property
    def nbytes(self) -> int:
        """The bytes of the values."""
        return self._held.nbytes

    def __repr__(self, **kwargs: Any) -> str:
        return TABLE["__repr__"](self)

    def __copy__(self) -> Any:
        return detached(self).requires_grad_(self.requires_grad)

    def __deepcopy__(self, memo: dict[int, Any]) -> Any:
        return TABLE["__deepcopy__"](self, memo)

    def __reduce__(self) -> Any:
        return TABLE["__reduce_ex__"](self)

    def __reduce_ex__(self, protocol: Any) -> Any:
        return TABLE["__reduce_ex__"](self)

    def __array__(self, dtype: Any = None, copy: Any = None) -> Any:
        return TABLE["numpy"](self)

    def __dlpack__(self, **kwargs: Any) -> Any:
        raise BufferError("Can't export a sparse tensor: call to_dense() first")

    def __setitem__(self, index: Any, value: Any) -> None:
        raise refused("index_put_", [self])

    def __contains__(self, element: Any) -> bool:
        return element in self._held or (element == 0 and self._held.numel() < self.numel())

    def __bool__(self) -> bool:
        if self.numel() != 1:
            return Tensor.__bool__(self)
        return bool(self.to_dense())

    def __iter__(self) -> Any:
        return TABLE["__iter__"](self)

    def __abs__(self) -> Any:
        return TABLE["abs"](self)

    def __pos__(self) -> Any:
        return self

    def __format__(self, spec: str) -> str:
        return object.__format__(self, spec)


def _converted(name: str) -> Callable[[Any], Any]:
    def convert(self: Any) -> Any:
        return getattr(self.to_dense(), name)()

    convert.__name__ = name
    return convert


for _name in ("__float__", "__int__", "__complex__", "__index__"):
    setattr(SparseTensor, _name, _converted(_name))


def _refusing(name: str, operation: str) -> Callable[..., Any]:
    def refuse(self: Any, *args: Any) -> Any:
        raise refused(operation, [self])

    refuse.__name__ = name
    return refuse


for _name, _operation in {
    "ipow": "pow_", "iand": "bitwise_and_", "ior": "bitwise_or_", "ixor": "bitwise_xor_", "mod": "remainder",
    "rmod": "remainder", "imod": "remainder_", "floordiv": "floor_divide", "rfloordiv": "floor_divide",
    "ifloordiv": "floor_divide_", "lshift": "bitwise_left_shift", "rlshift": "bitwise_left_shift",
    "ilshift": "bitwise_left_shift_", "rshift": "bitwise_right_shift", "rrshift": "bitwise_right_shift",
    "irshift": "bitwise_right_shift_",
}.items():  # fmt: skip
    setattr(SparseTensor, f"__{_name}__", _refusing(f"__{_name}__", _operation))


def _writing(name: str) -> Callable[..., Any]:
    return lambda self, other: TABLE[name](self, other)


for _name, _operation in {"iadd": "add_", "isub": "sub_", "imul": "mul_", "itruediv": "div_"}.items():
    setattr(SparseTensor, f"__{_name}__", _writing(_operation))


def refused(name: str, arguments: list[Any]) -> NotImplementedError:
    """The error for an operation that sparse tensors don't have."""
    csr = any(type(x) is SparseTensor and x.is_sparse_csr for x in arguments)
    return NotImplementedError(
        f"Could not run 'aten::{name}' with arguments from the '{'SparseCsrCPU' if csr else 'SparseCPU'}' backend: "
        f"{name}() is not there for sparse tensors. Call .to_dense() first"
    )


declare_sparse(SparseTensor)
arm()


def made(pattern: Pattern, values: Tensor) -> SparseTensor:
    """A sparse tensor without history on these values, which have none."""
    tensor: Any = Tensor._make_subclass(SparseTensor, from_array(placeholder(pattern.size, array_of(values).dtype)))
    tensor._pattern, tensor._held = pattern, values
    return tensor


def detached(tensor: Any) -> SparseTensor:
    return made(tensor._pattern, tensor._held.detach())


def become(tensor: Any, other: Any) -> None:
    """Give a sparse tensor the indices and values of another."""
    tensor._pattern, tensor._held = other._pattern, other._held


# the differentiable parts: every operation on sparse tensors consists of these and of operations on values


class SparseFromValues(Function):
    """A sparse tensor from its values. The gradient is looked up at its places."""

    @staticmethod
    def forward(ctx: Any, values: Tensor, pattern: Pattern) -> Any:
        ctx.set_materialize_grads(False)
        ctx.pattern = pattern
        return made(pattern, values.detach())

    @staticmethod
    def backward(ctx: Any, g: Any) -> Any:
        return None if g is None else values_at(g, ctx.pattern), None

    @staticmethod
    def jvp(ctx: Any, tangent: Any, _: Any) -> Any:
        return None if tangent is None else from_values(tangent, ctx.pattern)


class ValuesOfSparse(Function):
    """The values of a sparse tensor. Its gradient is sparse, each place there once.

    The caller's function of the values is one of the tensor they make: values of one place have the same gradient.
    """

    @staticmethod
    def forward(ctx: Any, tensor: Any) -> Any:
        ctx.set_materialize_grads(False)
        ctx.pattern = tensor._pattern
        return tensor._held.detach()

    @staticmethod
    def backward(ctx: Any, g: Any) -> Any:
        pattern = ctx.pattern
        if g is None or pattern.coalesced:
            return None if g is None else from_values(g, pattern)
        places, first = np.unique(places_of(pattern), return_index=True)
        return from_values(g.index_select(0, from_array(first)), coo_pattern(places, pattern.size, pattern.sparse_dim))

    @staticmethod
    def jvp(ctx: Any, tangent: Any) -> Any:
        return None if tangent is None else _tangents_at(tangent, ctx.pattern)


def _tangents_at(tangent: Any, pattern: Pattern) -> Any:
    """The tangents of values: tangents at the same place add up to the tensor's tangent there."""
    if type(tangent) is SparseTensor and same_places(tangent._pattern, pattern):
        return values_of(tangent)
    values = values_at(tangent, pattern)
    if pattern.coalesced:
        return values
    _, first = np.unique(places_of(pattern), return_index=True)
    again = np.ones(values.shape[0], bool)
    again[first] = False
    return values.masked_fill(from_array(again).reshape(-1, *(1,) * (values.ndim - 1)), 0)


class Coalesced(Function):
    """A sparse tensor with the values of each place summed. The gradient passes through unchanged."""

    @staticmethod
    def forward(ctx: Any, tensor: Any) -> Any:
        ctx.set_materialize_grads(False)
        return coalesced_now(tensor)

    @staticmethod
    def backward(ctx: Any, g: Any) -> Any:
        return g

    @staticmethod
    def jvp(ctx: Any, tangent: Any) -> Any:
        return None if tangent is None else Coalesced.apply(tangent)


def coalesced_now(tensor: Any) -> SparseTensor:
    """`Coalesced`, unrecorded."""
    pattern = tensor._pattern
    keys = places_of(pattern)
    if keys.size < 2 or (keys[1:] > keys[:-1]).all():
        return made(pattern._replace(coalesced=True), tensor._held.detach())
    places, inverse = np.unique(keys, return_inverse=True)
    return made(coo_pattern(places, pattern.size, pattern.sparse_dim), sums(tensor._held, inverse, places.size))


def sums(values: Tensor, numbers: np.ndarray, n: int) -> Tensor:
    """n sums of values, one for each number."""
    summed = values.new_zeros((n, *values.shape[1:]))
    if values.dtype.is_floating_point or values.dtype.is_complex or values.dtype.itemsize == 8:
        return summed.index_add(0, from_array(numbers.reshape(-1)), values)
    total = summed.long().index_add(0, from_array(numbers.reshape(-1)), values.long())
    return total != 0 if array_of(values).dtype == bool else total.to(values.dtype)


def from_values(values: Any, pattern: Pattern) -> Any:
    """The sparse tensor with these values at the places of the pattern, recorded."""
    return SparseFromValues.apply(values, pattern)


def values_of(tensor: Any) -> Any:
    """The values, recorded."""
    return ValuesOfSparse.apply(tensor)


def coalesced(tensor: Any) -> Any:
    """The tensor with each place once, recorded."""
    return tensor if tensor._pattern.coalesced else Coalesced.apply(tensor)


def values_at(tensor: Any, pattern: Pattern) -> Any:
    """The values that a tensor, sparse or dense, has at the places of a pattern, recorded."""
    keys = places_of(pattern)
    n_dense = len(pattern.dense_sizes)
    if type(tensor) is not SparseTensor:
        flat = tensor.reshape(-1, *pattern.dense_sizes) if n_dense else tensor.reshape(-1)
        return flat.index_select(0, from_array(keys))
    if tensor._pattern.sparse_dim != pattern.sparse_dim:
        return values_at(tensor.to_dense(), pattern)
    tensor = coalesced(tensor)
    if same_places(tensor._pattern, pattern):
        return values_of(tensor)
    own = places_of(tensor._pattern)
    values = values_of(tensor)
    if not own.size:
        return values.new_zeros((keys.size, *pattern.dense_sizes))
    order = None if (own[1:] > own[:-1]).all() else np.argsort(own, kind="stable")
    found = np.minimum(np.searchsorted(own, keys, sorter=order), own.size - 1)
    found = found if order is None else order[found]
    missing = from_array(own[found] != keys).reshape(-1, *(1,) * n_dense)
    return values.index_select(0, from_array(found)).masked_fill(missing, 0)
