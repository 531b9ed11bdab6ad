"""NumPy's functions that arrange the elements of one tensor: the counterparts (facade)."""

from collections.abc import Callable
from typing import Any

import numpy as np

from .._core.graph.tensor import Tensor, sharing
from .._creation.filled import empty_like, full_like, ones_like, zeros_like
from .._functional import names as ops
from ._arguments import Declined, axes_of, axis_of, counterpart, tensor

# ------------------------------------------------------------------------------------------------------------
# one tensor in another form


@counterpart("reshape")
def _reshape(a: Any, /, shape: Any, order: str = "C", *, copy: bool | None = None) -> Tensor:
    x = tensor(a)
    shape = (shape,) if isinstance(shape, int) else tuple(map(int, shape))
    if order == "F":
        y = _reversed(_reversed(x).reshape(shape[::-1]))
    elif order == "C":
        y = x.reshape(shape)
    else:
        raise Declined
    if copy is False and y._base is None and y is not x:
        raise ValueError("Unable to avoid creating a copy while reshaping.")
    return y.clone() if copy else y


@counterpart("ravel")
def _ravel(a: Any, order: str = "C") -> Tensor:
    return _reshape(a, (-1,), order)


def _reversed(x: Tensor) -> Tensor:
    return x.permute(tuple(range(x.ndim))[::-1])


@counterpart("transpose", "permute_dims")
def _transpose(a: Any, axes: Any = None) -> Tensor:
    x = tensor(a)
    return _reversed(x) if axes is None else x.permute(tuple(axes))


@counterpart("matrix_transpose", "linalg.matrix_transpose")
def _matrix_transpose(x: Any, /) -> Tensor:
    return tensor(x).mT


@counterpart("moveaxis")
def _moveaxis(a: Any, source: Any, destination: Any) -> Tensor:
    return ops.movedim(tensor(a), source, destination)


@counterpart("rollaxis")
def _rollaxis(a: Any, axis: int, start: int = 0) -> Tensor:
    x = tensor(a)
    axis, start = axis_of(axis, x.ndim), axis_of(start, x.ndim + 1)
    return ops.movedim(x, axis, start - 1 if axis < start else start)


@counterpart("swapaxes")
def _swapaxes(a: Any, axis1: int, axis2: int) -> Tensor:
    return tensor(a).transpose(axis1, axis2)


@counterpart("squeeze")
def _squeeze(a: Any, axis: Any = None) -> Tensor:
    x = tensor(a)
    if axis is None:
        return x.squeeze()
    axes = axes_of(axis, x.ndim)
    if any(x.shape[dim] != 1 for dim in axes):
        raise ValueError("cannot select an axis to squeeze out which has size not equal to one")
    return x.squeeze(axes)


@counterpart("expand_dims")
def _expand_dims(a: Any, axis: Any) -> Tensor:
    x = tensor(a)
    axes = axis if isinstance(axis, tuple | list) else (axis,)
    for dim in sorted(axes_of(tuple(axes), x.ndim + len(axes))):
        x = x.unsqueeze(dim)
    return x


def _atleast(name: str) -> None:
    operation = getattr(ops, name)

    @counterpart(name)
    def atleast(*arys: Any) -> Any:
        made = tuple(operation(tensor(x)) for x in arys)
        return made[0] if len(made) == 1 else made


for _name in ("atleast_1d", "atleast_2d", "atleast_3d"):
    _atleast(_name)


@counterpart("flip")
def _flip(m: Any, axis: Any = None) -> Tensor:
    x = tensor(m)
    return x.flip(axes_of(axis, x.ndim))


@counterpart("fliplr")
def _fliplr(m: Any) -> Tensor:
    return ops.fliplr(tensor(m))


@counterpart("flipud")
def _flipud(m: Any) -> Tensor:
    return ops.flipud(tensor(m))


@counterpart("rot90")
def _rot90(m: Any, k: int = 1, axes: Any = (0, 1)) -> Tensor:
    return ops.rot90(tensor(m), k, tuple(axes))


@counterpart("roll")
def _roll(a: Any, shift: Any, axis: Any = None) -> Tensor:
    x = tensor(a)
    if axis is None:
        return ops.roll(x, shift) if isinstance(shift, int) else ops.roll(x, int(np.sum(shift)))
    shifts, axes = np.broadcast_arrays(shift, axis)
    return ops.roll(x, tuple(map(int, shifts.reshape(-1))), tuple(map(int, axes.reshape(-1))))


@counterpart("tile")
def _tile(A: Any, reps: Any) -> Tensor:
    return ops.tile(tensor(A), (reps,) if isinstance(reps, int) else tuple(reps))


@counterpart("repeat")
def _repeat(a: Any, repeats: Any, axis: Any = None) -> Tensor:
    counts = repeats if isinstance(repeats, int) else tensor(repeats).long()
    return ops.repeat_interleave(tensor(a), counts, axis)


@counterpart("broadcast_to")
def _broadcast_to(array: Any, shape: Any) -> Tensor:
    return tensor(array).expand((shape,) if isinstance(shape, int) else tuple(shape))


@counterpart("broadcast_arrays")
def _broadcast_arrays(*args: Any) -> tuple[Tensor, ...]:
    tensors = [tensor(x) for x in args]
    shape = np.broadcast_shapes(*(x.shape for x in tensors))
    return tuple(x.expand(shape) for x in tensors)


@counterpart("copy")
def _copy(a: Any, order: str = "K", subok: bool = False) -> Tensor:
    if order not in "KAC":
        raise Declined
    return tensor(a).clone() if order != "C" else tensor(a).contiguous().clone()


@counterpart("astype")
def _astype(x: Any, dtype: Any, /, *, copy: bool = True, device: Any = None) -> Tensor:
    return tensor(x).to(np.dtype(dtype), copy=copy)


def _like(name: str, make: Callable[..., Any]) -> None:
    @counterpart(name)
    def like(a: Any, dtype: Any = None, order: str = "K", subok: bool = True, shape: Any = None, *,
             device: Any = None) -> Tensor:  # fmt: skip
        x = tensor(a)
        if shape is not None:
            x = sharing(np.empty(shape, x.dtype.numpy_dtype))
        return make(x, dtype=None if dtype is None else np.dtype(dtype))


_like("empty_like", empty_like)
_like("ones_like", ones_like)
_like("zeros_like", zeros_like)


@counterpart("full_like")
def _full_like(a: Any, fill_value: Any, dtype: Any = None, order: str = "K", subok: bool = True, shape: Any = None) -> Tensor:
    x = tensor(a)
    if not isinstance(fill_value, (int, float, complex)):
        filled = tensor(fill_value).to(x.dtype if dtype is None else np.dtype(dtype))
        return filled.expand(tuple(x.shape) if shape is None else shape).clone()
    if shape is not None:
        x = sharing(np.empty(shape, x.dtype.numpy_dtype))
    return full_like(x, fill_value, dtype=None if dtype is None else np.dtype(dtype))


# ------------------------------------------------------------------------------------------------------------
# diagonals and triangles


@counterpart("diag")
def _diag(v: Any, k: int = 0) -> Tensor:
    return ops.diag(tensor(v), k)


@counterpart("diagflat")
def _diagflat(v: Any, k: int = 0) -> Tensor:
    return ops.diagflat(tensor(v), k)


@counterpart("diagonal")
def _diagonal(a: Any, offset: int = 0, axis1: int = 0, axis2: int = 1) -> Tensor:
    return ops.diagonal(tensor(a), offset, axis1, axis2)


@counterpart("linalg.diagonal")
def _diagonal_of_matrices(x: Any, /, *, offset: int = 0) -> Tensor:
    return ops.diagonal(tensor(x), offset, -2, -1)


@counterpart("trace")
def _trace(a: Any, offset: int = 0, axis1: int = 0, axis2: int = 1, dtype: Any = None, out: Any = None) -> Tensor:
    if out is not None:
        raise Declined
    y = ops.diagonal(tensor(a), offset, axis1, axis2)
    return y.sum(-1) if dtype is None else y.sum(-1, dtype=np.dtype(dtype))


@counterpart("linalg.trace")
def _trace_of_matrices(x: Any, /, *, offset: int = 0, dtype: Any = None) -> Tensor:
    return _trace(x, offset, -2, -1, dtype)


@counterpart("tril")
def _tril(m: Any, k: int = 0) -> Tensor:
    return ops.tril(_matrices(m), k)


@counterpart("triu")
def _triu(m: Any, k: int = 0) -> Tensor:
    return ops.triu(_matrices(m), k)


def _matrices(m: Any) -> Tensor:
    x = tensor(m)
    if x.ndim < 2:
        raise Declined
    return x
