"""Elementwise operations that keep zeros, and sums and products with sparse tensors (facade)."""

from collections.abc import Callable
from typing import Any

import numpy as np

from .._core.graph.tensor import Tensor, array_of, from_array
from .._core.ops.indexing.scattering import add_to_rows as _add_to_rows
from .._core.runtime.state import is_grad_enabled
from .._functional.names import cat as _cat
from ._pattern import coo_pattern, csr_pattern, from_keys, places_of, same_places
from ._tensor import (
    TABLE,
    SparseTensor,
    become,
    coalesced,
    from_values,
    implements,
    refused,
    values_at,
    values_of,
)

# Functions f with f(0) = 0; linear ones allow duplicate places.
_ZERO_PRESERVING = (
    "abs absolute angle arcsin arcsinh arctan arctanh asin asinh atan atanh ceil conj_physical deg2rad erf erfinv expm1 fix "
    "floor frac imag isinf isnan isneginf isposinf log1p nan_to_num rad2deg real relu round sgn sign signbit sin sinh sqrt "
    "square tan tanh trunc"
).split()
_LINEAR = "neg negative positive conj resolve_conj resolve_neg".split()


def _of_values(name: str, linear: bool) -> Callable[..., Any]:
    def call(self: Any, *args: Any, **kwargs: Any) -> Any:
        if kwargs.get("out") is not None:
            raise refused(f"{name}.out", [self])
        of = self if linear else coalesced(self)
        return from_values(getattr(values_of(of), name)(*args, **kwargs), of._pattern)

    call.__name__ = name
    return call


for _name in _ZERO_PRESERVING + _LINEAR:
    TABLE[_name] = _of_values(_name, _name in _LINEAR)
TABLE["__neg__"] = TABLE["neg"]


def _in_place(name: str) -> Callable[..., Any]:
    def call(self: Any, *args: Any, **kwargs: Any) -> Any:
        return written(self, name, TABLE[name.rstrip("_")](self, *args, **kwargs))

    call.__name__ = name
    return call


def written(self: Any, name: str, result: Any) -> Any:
    """Give `self` the values and places of a result: an in-place write, not recorded."""
    if type(self) is not SparseTensor:
        raise refused(name, [self])
    if self.requires_grad and is_grad_enabled():
        raise RuntimeError(
            f"{name}(): a sparse tensor that requires grad can't be written in place: the write would be recorded"
        )
    if type(result) is not SparseTensor or result.shape != self.shape:
        raise RuntimeError(f"{name}(): the result of {list(result.shape)} does not fit the sparse tensor, {list(self.shape)}")
    if result.requires_grad:
        raise RuntimeError(f"{name}(): a sparse tensor can't be written with what requires grad: that is not recorded")
    if result.dtype is not self.dtype:
        if not np.can_cast(result.dtype.numpy_dtype, self.dtype.numpy_dtype, "same_kind"):
            raise RuntimeError(f"result type {result.dtype} can't be cast to the desired output type {self.dtype} ({name}())")
        result = result.to(self.dtype)
    if result.layout is not self.layout:
        result = result.to_sparse(layout=self.layout)
    become(self, result.detach())
    return self


_WRITING = (
    "abs neg negative sqrt square sin tanh relu sign floor ceil round trunc log1p expm1 asin atan asinh atanh sinh tan erf "
    "nan_to_num mul multiply div divide true_divide pow"
).split()
for _name in _WRITING:
    TABLE[f"{_name}_"] = _in_place(f"{_name}_")


# products and quotients


_of_sparse = TABLE["mul_"]


@implements("mul_", "multiply_", "__imul__")
def mul_(self: Any, other: Any) -> Any:
    """Of a dense tensor, too, which gets zeros where the sparse one has none."""
    return _of_sparse(self, other) if type(self) is SparseTensor else self.mul_(other.to_dense())


def _is_number(x: Any) -> bool:
    return isinstance(x, (int, float, complex, np.number)) or (
        isinstance(x, Tensor) and type(x) is not SparseTensor and x.ndim == 0
    )


@implements("mul", "multiply", "__mul__", "__rmul__")
def mul(input: Any, other: Any, *, out: Any = None) -> Any:
    if out is not None:
        raise refused("mul.out", [input, other])
    if type(input) is not SparseTensor:
        input, other = other, input
    if _is_number(other):
        return from_values(values_of(input) * other, input._pattern)
    if type(other) is SparseTensor:
        return _joined(input, other)
    if not isinstance(other, Tensor):
        return NotImplemented
    shape = np.broadcast_shapes(tuple(input.shape), tuple(other.shape))
    if shape != tuple(input.shape):
        raise RuntimeError(
            f"mul(sparse, dense): the dense operand of shape {list(other.shape)} doesn't broadcast to that of the sparse one, "
            f"{list(input.shape)}"
        )
    input = coalesced(input)
    return from_values(values_of(input) * values_at(other.expand(shape), input._pattern), input._pattern)


def _joined(a: Any, b: Any) -> Any:
    """The product of two sparse tensors: at the places that both have."""
    if a.shape != b.shape or a._pattern.sparse_dim != b._pattern.sparse_dim:
        raise RuntimeError(
            f"mul operands have incompatible sizes: {list(a.shape)} and {list(b.shape)}, of {a._pattern.sparse_dim} and "
            f"{b._pattern.sparse_dim} sparse dimensions"
        )
    if a.layout is not b.layout:
        raise RuntimeError(f"mul(): expected operands of one layout, got {a.layout} and {b.layout}")
    a, b = coalesced(a), coalesced(b)
    if same_places(a._pattern, b._pattern):
        return from_values(values_of(a) * values_of(b), a._pattern)
    keys, of_a, of_b = np.intersect1d(places_of(a._pattern), places_of(b._pattern), assume_unique=True, return_indices=True)
    values = values_of(a).index_select(0, from_array(of_a)) * values_of(b).index_select(0, from_array(of_b))
    return from_values(values, _pattern_like(a, keys))


def _pattern_like(a: Any, keys: np.ndarray) -> Any:
    size = tuple(a.shape)
    return csr_pattern(keys, size) if a.is_sparse_csr else coo_pattern(keys, size, a._pattern.sparse_dim)


@implements("div", "divide", "true_divide", "__truediv__", "__rtruediv__")
def div(input: Any, other: Any, *, rounding_mode: Any = None, out: Any = None) -> Any:
    if out is not None or not isinstance(input, Tensor):
        raise refused("div", [input, other])
    if type(input) is not SparseTensor or not _is_number(other):
        raise RuntimeError("Sparse division requires a scalar or zero-dim dense tensor divisor "
                           f"(got shape {list(getattr(other, 'shape', ()))} for divisor)")  # fmt: skip
    of = input if rounding_mode is None else coalesced(input)
    values = values_of(of).div(other, rounding_mode=rounding_mode)
    return from_values(values, of._pattern)


@implements("pow", "__pow__", "float_power")
def pow_(input: Any, exponent: Any, *, out: Any = None) -> Any:
    if out is not None or type(input) is not SparseTensor or isinstance(exponent, Tensor):
        raise refused("pow", [input])
    if not exponent > 0:
        raise RuntimeError(f"pow(): a sparse tensor takes exponents above 0, which keep zeros, got {exponent}")
    input = coalesced(input)
    return from_values(values_of(input) ** exponent, input._pattern)


# sums


@implements("add", "__add__", "__radd__")
def add(input: Any, other: Any, *, alpha: Any = 1, out: Any = None) -> Any:
    if out is not None:
        raise refused("add.out", [input, other])
    if not (isinstance(input, Tensor) and isinstance(other, Tensor)):
        raise RuntimeError("add(sparse, dense) is not supported. Use add(dense, sparse) instead.")
    _check_factor(alpha, input.dtype, other.dtype)
    if type(other) is not SparseTensor:  # Python's operators ask the sparse operand first, whichever it is
        return _dense_and_sparse(other if alpha == 1 else other * alpha, input)
    if alpha != 1:
        other = other * alpha
    if type(input) is SparseTensor:
        return _sum_of_two(input, other)
    return _dense_and_sparse(input, other)


def _check_factor(alpha: Any, *dtypes: Any) -> None:
    """Refuse a factor of a sum that operands of these dtypes can't represent."""
    if isinstance(alpha, float) and not any(dtype.is_floating_point or dtype.is_complex for dtype in dtypes):
        raise RuntimeError("For integral input tensors, argument alpha must not be a floating point number.")
    if isinstance(alpha, complex) and not any(dtype.is_complex for dtype in dtypes):
        raise RuntimeError("For non-complex input tensors, argument alpha must not be a complex number.")


def _dense_and_sparse(dense: Any, sparse: Any) -> Any:
    shape = tuple(sparse.shape)
    if tuple(dense.shape) != shape and np.broadcast_shapes(tuple(dense.shape), shape) != shape:
        raise RuntimeError(
            f"add(dense, sparse): the dense operand of shape {list(dense.shape)} doesn't broadcast to that of the sparse one, "
            f"{list(shape)}"
        )
    if tuple(dense.shape) != shape:
        dense = dense.expand(shape)
    values = values_of(sparse)
    kind = (dense.new_empty(0) + values.new_empty(0)).dtype
    n_dense = len(sparse._pattern.dense_sizes)
    flat = dense.to(kind).reshape(-1, *shape[len(shape) - n_dense :])
    return flat.index_add(0, from_array(places_of(sparse._pattern)), values.to(kind)).reshape(shape)


def _are_aligned(a: Any, b: Any) -> bool:
    """Whether values can be added one by one.

    Of tensors that are not coalesced the indices have to be the same tensor: sums of gradients of tables keep all rows.
    """
    if not (a.coalesced and b.coalesced):
        return a.size == b.size and a.parts[0] is b.parts[0]
    return same_places(a, b)


def _sum_of_two(a: Any, b: Any) -> Any:
    if a.shape != b.shape:
        raise RuntimeError(f"add: expected sizes of 'self' and 'other' to match, but {list(a.shape)} != {list(b.shape)}")
    if a.layout is not b.layout:
        raise RuntimeError(f"add(): expected operands of one layout, got {a.layout} and {b.layout}")
    if a._pattern.sparse_dim != b._pattern.sparse_dim:
        raise RuntimeError(f"add: expected 'self' and 'other' to have same number of sparse dimensions, but "
                           f"{a._pattern.sparse_dim} != {b._pattern.sparse_dim}")  # fmt: skip
    if _are_aligned(a._pattern, b._pattern):
        both = a._pattern if a._pattern.coalesced >= b._pattern.coalesced else b._pattern
        return from_values(values_of(a) + values_of(b), both)
    if a._pattern.coalesced and b._pattern.coalesced:
        keys = np.union1d(places_of(a._pattern), places_of(b._pattern))
        pattern = _pattern_like(a, keys)
        return from_values(values_at(a, pattern) + values_at(b, pattern), pattern)
    indices = np.concatenate([array_of(a._pattern.parts[0]), array_of(b._pattern.parts[0])], axis=1)
    kind = (values_of(a).new_empty(0) + values_of(b).new_empty(0)).dtype
    return from_values(
        _cat((values_of(a).to(kind), values_of(b).to(kind)), 0),
        a._pattern._replace(parts=(from_array(indices),), coalesced=False),
    )


@implements("sub", "subtract", "__sub__")
def sub(input: Any, other: Any, *, alpha: Any = 1, out: Any = None) -> Any:
    if out is not None or not isinstance(input, Tensor):
        raise refused("sub", [input, other])
    if isinstance(other, Tensor) and input.dtype.name == other.dtype.name == "bool":
        raise RuntimeError(
            "Subtraction, the `-` operator, with two bool tensors is not supported. Use the `^` or `logical_xor()` operator "
            "instead."
        )
    return add(input, other, alpha=-alpha)


@implements("add_", "__iadd__")
def add_(self: Any, other: Any, *, alpha: Any = 1) -> Any:
    if type(self) is SparseTensor:
        return written(self, "add_", add(self, other, alpha=alpha))
    if tuple(self.shape) != tuple(other.shape):
        raise RuntimeError(
            f"add_(dense, sparse): expected operands of one shape, got {list(self.shape)} and {list(other.shape)}"
        )
    values = values_of(other) if alpha == 1 else values_of(other) * alpha
    if not np.can_cast(array_of(values.detach()).dtype, array_of(self.detach()).dtype, "same_kind"):
        raise RuntimeError(f"result type {values.dtype} can't be cast to the desired output type {self.dtype}")
    pattern = coalesced(other)._pattern
    values = values if pattern is other._pattern else values_of(coalesced(other)) * alpha
    if pattern.sparse_dim and _add_to_rows(self, places_of(pattern), array_of(values.detach())):
        return self
    indices = from_keys(places_of(pattern), pattern.sparse_sizes)
    if not pattern.sparse_dim:
        return self.add_(values.sum(0).to(self.dtype))
    return self.index_put_(tuple(from_array(row) for row in indices), values.to(self.dtype), accumulate=True)


@implements("sub_", "__isub__")
def sub_(self: Any, other: Any, *, alpha: Any = 1) -> Any:
    return add_(self, other, alpha=-alpha)


@implements("copy_")
def copy_(self: Any, src: Any, non_blocking: bool = False) -> Any:
    if type(self) is SparseTensor and type(src) is SparseTensor:
        return written(self, "copy_", src.clone())
    raise RuntimeError("copy_() between dense and sparse Tensors is not implemented! Found self type = "
                       f"{self.type()} and src type = {src.type()}")  # fmt: skip


@implements("zero_")
def zero_(self: Any) -> Any:
    pattern = coo_pattern(np.zeros(0, np.int64), tuple(self.shape), self._pattern.sparse_dim)
    made = from_values(self._held.new_zeros((0, *pattern.dense_sizes)), pattern)
    if self.is_sparse_csr:
        made = from_values(self._held * 0, self._pattern)
    return written(self, "zero_", made)


def _comparing(name: str) -> Callable[..., Any]:
    """Comparisons: NotImplemented for objects that are no operands, so that `x == None` is False; else refused."""

    def compare(input: Any, other: Any, **_: Any) -> Any:
        operands = (Tensor, int, float, complex, np.ndarray, np.generic)
        if not (isinstance(input, operands) and isinstance(other, operands)):
            return NotImplemented
        raise refused(name, [input, other])

    return compare


for _name in ("eq", "ne", "lt", "le", "gt", "ge"):
    TABLE[_name] = _comparing(_name)
