"""Functions that make tensors; here is what they share: the checks of their arguments (facade).

* ``size``: ints (``zeros(2, 3)``), or one tuple, list or Size of them (``zeros((2, 3))``);
* ``dtype``: a dtype, a NumPy dtype, or bool, int, float, complex; if None, what PyTorch would choose;
* ``device``: None or the CPU; RuntimeError for any other;
* ``requires_grad``: whether operations on the result are recorded; floating point and complex dtypes only;
* ``out``: a tensor that the result is written into, and which is returned; ``dtype`` is its dtype.
"""

import operator
from collections.abc import Callable
from typing import Any

import numpy as np

from .._core.arrays import dtypes
from .._core.arrays.buffers import axes_in_memory
from .._core.arrays.formats import checked, empty_in, made_in
from .._core.graph.tensor import Tensor, array_of, from_array
from .._core.ops.drawing import plain_shape
from .._core.ops.out_argument import into
from .._types import on_cpu


def resolve(dtype: Any, device: Any, requires_grad: bool, default: Any = None, out: Any = None) -> np.dtype:
    """The NumPy dtype to create, after a check of the keywords; ``default`` is for ``dtype=None``."""
    if device is not None:
        on_cpu(device)
    if out is not None:
        default = _dtype_of_out(out, dtype)
    if dtype is None:
        dtype = default or dtypes.get_default()
    else:
        dtype = dtypes.convert(dtype)
    if not isinstance(requires_grad, bool):
        raise TypeError(f"argument 'requires_grad' must be bool, not {type(requires_grad).__name__}")
    if requires_grad and not (dtype.is_floating_point or dtype.is_complex):
        raise RuntimeError(f"Only Tensors of floating point and complex dtype can require gradients, not {dtype}")
    return dtype.numpy_dtype


def _dtype_of_out(out: Any, dtype: Any) -> dtypes.dtype:
    if not isinstance(out, Tensor):
        raise TypeError(f"argument 'out' must be Tensor, not {type(out).__name__}")
    if dtype is not None and dtypes.convert(dtype) is not out.dtype:
        raise RuntimeError(f"dtype {dtypes.convert(dtype)} does not match dtype of out parameter ({out.dtype})")
    return out.dtype


def wrap(array: np.ndarray, requires_grad: bool = False, out: Tensor | None = None, name: str = "") -> Tensor:
    """A new leaf on ``array``; or ``out``, which it is written into."""
    result = from_array(array)
    if out is not None:
        result = into(out, result, name)
    if requires_grad:
        result.requires_grad = True
    return result


def sizes(function: str, shape: tuple[Any, ...], size: Any = None) -> tuple[int, ...]:
    """The shape that ``zeros(2, 3)``, ``zeros((2, 3))`` and ``zeros(size=(2, 3))`` ask for."""
    plain = plain_shape(shape, size)
    if plain is not None:
        return plain
    if size is None:
        if not shape:
            raise TypeError(f'{function}() missing 1 required positional arguments: "size"')
        size = shape[0] if len(shape) == 1 and isinstance(shape[0], (tuple, list)) else shape
    elif shape or not isinstance(size, (tuple, list)):
        raise TypeError(f"{function}(): argument 'size' must be tuple of ints, not {type(size).__name__}")
    dimensions = []
    for position, n in enumerate(size):
        try:
            dimensions.append(operator.index(n))
        except TypeError:
            raise TypeError(
                f"{function}(): argument 'size' must be tuple of ints, but found element of type "
                f"{type(n).__name__} at pos {position}"
            ) from None
    for n in dimensions:
        if n < 0:
            raise RuntimeError(
                f"{function}: Trying to create tensor with negative dimension {n}: {dimensions}. "
                "Dimension size must be non-negative."
            )
    return tuple(dimensions)


def number(function: str, argument: str, value: Any) -> Any:
    """The Python number that ``value`` is or holds (a NumPy scalar, a 0-d tensor), or a longdouble; else TypeError."""
    if isinstance(value, np.generic) or (isinstance(value, Tensor) and value.ndim == 0 and not value.requires_grad):
        value = value.item()
    if not isinstance(value, (int, float, complex, np.longdouble)):
        raise TypeError(f"{function}(): argument '{argument}' must be Number, not {type(value).__name__}")
    return value


def integer(function: str, argument: str, value: Any) -> int:
    """``value`` as an int; TypeError if it is none."""
    try:
        return operator.index(value)
    except TypeError:
        message = f"{function}(): argument '{argument}' must be int, not {type(value).__name__}"
        raise TypeError(message) from None


def array_argument(function: str, value: Any) -> np.ndarray:
    """The array of ``value``, which must be a Tensor."""
    if not isinstance(value, Tensor):
        raise TypeError(f"{function}(): argument 'input' (position 1) must be Tensor, not {type(value).__name__}")
    return array_of(value)


def laid_out_like(array: np.ndarray, make: Callable[..., np.ndarray], *options: Any, memory_format: Any = None) -> np.ndarray:
    """``make(shape, *options)`` with the shape of ``array``, its dimensions in memory as a copy would have them."""
    if memory_format is not None and (wanted := checked(memory_format, "empty_like")) is not None:
        return made_in(wanted, make, array.shape, *options)
    if not array.size:
        return empty_in(array.strides, array.itemsize, make(array.shape, *options))
    if array.flags.c_contiguous:
        return make(array.shape, *options)
    if array.flags.f_contiguous:  # a transposed one, without the search
        return make(array.shape[::-1], *options).T
    order = axes_in_memory(array)
    return make(tuple(array.shape[axis] for axis in order), *options).transpose(np.argsort(order))


def to_integers(values: np.ndarray, dtype: np.dtype) -> np.ndarray:
    """``values`` as integers of ``dtype``; RuntimeError if one doesn't fit (-1 wraps to uint8's 255)."""
    if values.dtype == dtype:
        return values
    limits = np.iinfo(dtype)
    low = limits.min if limits.min or values.dtype.kind == "f" else -limits.max
    fits = (values >= low) & (values <= limits.max)
    if not fits.all():
        raise overflow(dtype, values[~fits].flat[0])
    with np.errstate(invalid="ignore"):
        return values.astype(dtype)


def overflow(dtype: np.dtype, value: Any) -> RuntimeError:
    """The error for a number that ``dtype`` can't hold."""
    return RuntimeError(f"value cannot be converted to type {dtype} without overflow: {value}")
