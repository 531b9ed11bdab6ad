"""The functions of the Array API standard that arrange, join and pick (facade)."""

from typing import Any

from .._core.graph.tensor import Tensor
from .._functional import names as ops
from .._numpy import _picked, _shapes
from .._numpy._arguments import axes_of, axis_of, joined
from ._promotion import promoted


def broadcast_arrays(*arrays: Tensor) -> list[Tensor]:
    """broadcast_arrays(*arrays): each in their common shape."""
    return list(_shapes._broadcast_arrays(*arrays))


def broadcast_to(x: Tensor, /, shape: Any) -> Tensor:
    """broadcast_to(x, /, shape): in a larger shape."""
    return x.expand(tuple(shape))


def concat(arrays: Any, /, *, axis: Any = 0) -> Tensor:
    """concat(arrays, /, *, axis=0): one after the other; flattened first for None."""
    return joined(promoted(*arrays), axis)


def expand_dims(x: Tensor, /, axis: Any = 0) -> Tensor:
    """expand_dims(x, /, axis=0): with an axis of size 1 there, or several."""
    return _shapes._expand_dims(x, axis)


def flip(x: Tensor, /, *, axis: Any = None) -> Tensor:
    """flip(x, /, *, axis=None): in reverse order along axes, all for None."""
    return x.flip(axes_of(axis, x.ndim))


def matrix_transpose(x: Tensor, /) -> Tensor:
    """matrix_transpose(x, /): with the last two axes exchanged."""
    return x.mT


def moveaxis(x: Tensor, source: Any, destination: Any, /) -> Tensor:
    """moveaxis(x, source, destination, /): with axes at other places."""
    return ops.movedim(x, source, destination)


def permute_dims(x: Tensor, /, axes: Any) -> Tensor:
    """permute_dims(x, /, axes): with the axes in that order."""
    return x.permute(tuple(axes))


def repeat(x: Tensor, repeats: Any, /, *, axis: Any = None) -> Tensor:
    """repeat(x, repeats, /, *, axis=None): each element, or row along the axis, several times."""
    return _shapes._repeat(x, repeats, axis)


def reshape(x: Tensor, /, shape: Any, *, copy: Any = None) -> Tensor:
    """reshape(x, /, shape, *, copy=None): in another shape; ValueError where copy=False would have to copy."""
    return _shapes._reshape(x, shape, copy=copy)


def roll(x: Tensor, /, shift: Any, *, axis: Any = None) -> Tensor:
    """roll(x, /, shift, *, axis=None): the elements moved on, the last to the front."""
    return _shapes._roll(x, shift, axis)


def squeeze(x: Tensor, /, axis: Any) -> Tensor:
    """squeeze(x, /, axis): without axes of size 1; ValueError for others."""
    return _shapes._squeeze(x, axis)


def stack(arrays: Any, /, *, axis: int = 0) -> Tensor:
    """stack(arrays, /, *, axis=0): along a new axis."""
    return ops.stack(promoted(*arrays), axis)


def tile(x: Tensor, repetitions: Any, /) -> Tensor:
    """tile(x, repetitions, /): the array several times along each axis."""
    return _shapes._tile(x, repetitions)


def unstack(x: Tensor, /, *, axis: int = 0) -> tuple[Tensor, ...]:
    """unstack(x, /, *, axis=0): the rows along an axis."""
    return x.unbind(axis_of(axis, x.ndim))


def take(x: Tensor, indices: Tensor, /, *, axis: Any = None) -> Tensor:
    """take(x, indices, /, *, axis=None): the rows along an axis that indices name."""
    if axis is None and x.ndim != 1:
        raise ValueError("take(): axis is required for arrays of several dimensions")
    axis = 0 if axis is None else axis_of(axis, x.ndim)
    places = indices.long()
    return ops.index_select(x, axis, ops.where(places < 0, places + x.shape[axis], places))


def take_along_axis(x: Tensor, indices: Tensor, /, *, axis: int = -1) -> Tensor:
    """take_along_axis(x, indices, /, *, axis=-1): the elements along an axis that indices name for each row."""
    return _picked._take_along_axis(x, indices, axis)
