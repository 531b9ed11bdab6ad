"""The functions of the Array API standard that make arrays (facade)."""

from typing import Any

import numpy as np

from .._core.arrays import dtypes
from .._core.graph.tensor import Tensor, sharing
from .._creation import data as _data
from .._creation import filled as _likes
from .._creation import strided as _strided
from .._functional import names as ops
from .._numpy._arguments import any_in
from ._promotion import Scalar, checked, promoted


def asarray(obj: Any, /, *, dtype: Any = None, device: Any = None, copy: Any = None) -> Tensor:
    """asarray(obj, /, *, dtype=None, device=None, copy=None): numbers, sequences, buffers and arrays as an array."""
    if not isinstance(obj, (Tensor, np.ndarray, np.generic, list, tuple, Scalar)):
        obj = np.asarray(obj)
    if any_in(Tensor, obj) and not isinstance(obj, Tensor):  # whose gradients pass
        if copy is False:
            raise ValueError("asarray(): a sequence of arrays can't be one array without a copy")
        checked(device)
        stacked = _stacked(obj)
        return stacked if dtype is None else stacked.to(dtypes.convert(dtype))
    return _data.asarray(obj, dtype=dtype, device=device, copy=copy)


def _stacked(items: Any) -> Tensor:
    """Nested sequences of numbers and arrays as one array."""
    return ops.stack(promoted(*(_stacked(x) if isinstance(x, (list, tuple)) else x for x in items)))


def from_dlpack(x: Any, /, *, device: Any = None, copy: Any = None) -> Tensor:
    """from_dlpack(x, /, *, device=None, copy=None): an array on the memory of another library's."""
    return _strided.from_dlpack(x, device=device, copy=copy)


def _made(array: np.ndarray, device: Any) -> Tensor:
    checked(device)
    return sharing(array)


def _type(dtype: Any, *examples: Any) -> np.dtype:
    """The type asked for; else that of numbers like the examples."""
    if dtype is not None:
        return dtypes.convert(dtype).numpy_dtype
    default = dtypes.get_default()
    kinds = {type(x) for x in examples}
    if complex in kinds:
        return default.to_complex().numpy_dtype
    return default.numpy_dtype if float in kinds or not kinds else np.dtype(np.int64 if int in kinds else np.bool_)


def arange(start: Any, /, stop: Any = None, step: Any = 1, *, dtype: Any = None, device: Any = None) -> Tensor:
    """arange(start, /, stop=None, step=1, *, dtype=None, device=None): numbers at equal distances, without the stop."""
    first: Any = 0 if stop is None else start
    last = start if stop is None else stop
    numbers: Any = np.arange  # of any types
    return _made(numbers(first, last, step, _type(dtype, first, last, step)), device)


def empty(shape: Any, *, dtype: Any = None, device: Any = None) -> Tensor:
    """empty(shape, *, dtype=None, device=None): with whatever is in memory."""
    return _made(np.empty(shape, _type(dtype)), device)


def zeros(shape: Any, *, dtype: Any = None, device: Any = None) -> Tensor:
    """zeros(shape, *, dtype=None, device=None): of zeros."""
    return _made(np.zeros(shape, _type(dtype)), device)


def ones(shape: Any, *, dtype: Any = None, device: Any = None) -> Tensor:
    """ones(shape, *, dtype=None, device=None): of ones."""
    return _made(np.ones(shape, _type(dtype)), device)


def full(shape: Any, fill_value: Any, *, dtype: Any = None, device: Any = None) -> Tensor:
    """full(shape, fill_value, *, dtype=None, device=None): of one number."""
    return _made(np.full(shape, fill_value, _type(dtype, fill_value)), device)


def eye(n_rows: int, n_cols: Any = None, /, *, k: int = 0, dtype: Any = None, device: Any = None) -> Tensor:
    """eye(n_rows, n_cols=None, /, *, k=0, dtype=None, device=None): ones on the k-th diagonal, zeros elsewhere."""
    return _made(np.eye(n_rows, n_cols, k, _type(dtype)), device)


def linspace(
    start: Any, stop: Any, /, num: int, *, dtype: Any = None, device: Any = None, endpoint: Any = True
) -> Tensor:
    """linspace(start, stop, /, num, *, dtype=None, device=None, endpoint=True): so many numbers at equal distances."""
    kind = complex if isinstance(start, complex) or isinstance(stop, complex) else float
    return _made(np.linspace(start, stop, num, endpoint, dtype=_type(dtype, kind())), device)


def empty_like(x: Tensor, /, *, dtype: Any = None, device: Any = None) -> Tensor:
    """empty_like(x, /, *, dtype=None, device=None): with the shape and type of x."""
    return _likes.empty_like(x, dtype=dtype, device=device)


def zeros_like(x: Tensor, /, *, dtype: Any = None, device: Any = None) -> Tensor:
    """zeros_like(x, /, *, dtype=None, device=None): zeros with the shape and type of x."""
    return _likes.zeros_like(x, dtype=dtype, device=device)


def ones_like(x: Tensor, /, *, dtype: Any = None, device: Any = None) -> Tensor:
    """ones_like(x, /, *, dtype=None, device=None): ones with the shape and type of x."""
    return _likes.ones_like(x, dtype=dtype, device=device)


def full_like(x: Tensor, /, fill_value: Any, *, dtype: Any = None, device: Any = None) -> Tensor:
    """full_like(x, /, fill_value, *, dtype=None, device=None): one number with the shape and type of x."""
    return _likes.full_like(x, fill_value, dtype=dtype, device=device)


def meshgrid(*arrays: Tensor, indexing: str = "xy") -> tuple[Tensor, ...]:
    """meshgrid(*arrays, indexing="xy"): the coordinates of the grid that vectors span."""
    if not arrays:
        return ()
    return tuple(ops.meshgrid(promoted(*arrays), indexing=indexing))


def tril(x: Tensor, /, *, k: int = 0) -> Tensor:
    """tril(x, /, *, k=0): the elements on and below the k-th diagonal, zeros above."""
    return ops.tril(x, k)


def triu(x: Tensor, /, *, k: int = 0) -> Tensor:
    """triu(x, /, *, k=0): the elements on and above the k-th diagonal, zeros below."""
    return ops.triu(x, k)
