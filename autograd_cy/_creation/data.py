"""Tensors from Python's numbers, nested sequences and NumPy arrays (facade).

NOTE [Inference]
The dtype of nested sequences is the promotion of their leaves' dtypes:
  1. Python's bool, int, float and complex count as bool, int64, the default dtype and its complex type;
  2. NumPy scalars and arrays and one-element Tensors count as what they are.
"""

import functools
import itertools
import warnings
from collections.abc import Mapping
from typing import Any

import numpy as np

from .._core.arrays import dtypes
from .._core.graph.tensor import Tensor, array_of, from_array, sharing
from .._core.runtime.entry import public
from .._types import dtype_of_number
from . import laid_out_like, resolve, to_integers, wrap

MAX_DIMENSIONS = 64


@public
def tensor(data: Any, *, dtype: Any = None, device: Any = None, requires_grad: bool = False) -> Tensor:
    """``tensor([[1.0, 2.0]])`` copies numbers, nested sequences, an array or a Tensor into a new leaf.

    The dtype is inferred (NOTE [Inference]) unless given. ValueError for ragged sequences.

    >>> import autograd_cy as ag
    >>> ag.tensor([[1, 2], [3, 4.5]])
    tensor([[1.0000, 2.0000],
            [3.0000, 4.5000]])
    >>> ag.tensor([1, 2]).dtype
    torch.int64
    """
    if isinstance(data, Tensor):
        warnings.warn(
            "To copy construct from a tensor, t.detach().clone() is clearer than tensor(t); "
            "add .requires_grad_() where the copy is to require a gradient.",
            stacklevel=2,
        )
        if data.is_meta:
            return data.detach().clone().to(dtype).requires_grad_(requires_grad)
    array = array_from(data, None if dtype is None else resolve(dtype, None, False), copy=True)
    resolve(array.dtype, device, requires_grad)
    return wrap(array, requires_grad)


@public
def as_tensor(data: Any, dtype: Any = None, device: Any = None) -> Tensor:
    """``as_tensor(data)`` is ``data`` as a Tensor: itself, or on the same memory as an array, or copied.

    >>> import numpy as np
    >>> import autograd_cy as ag
    >>> array = np.zeros(2)
    >>> t = ag.as_tensor(array)
    >>> array[0] = 5
    >>> t
    tensor([5., 0.], dtype=torch.float64)
    """
    wanted = resolve(dtype, device, False)
    if isinstance(data, Tensor):
        return data if dtype is None or data.dtype == wanted else data.to(dtypes.convert(dtype))
    return sharing(array_from(data, None if dtype is None else wanted))


@public
def asarray(
    obj: Any,
    *,
    dtype: Any = None,
    device: Any = None,
    copy: bool | None = None,
    requires_grad: bool | None = None,
) -> Tensor:
    """``asarray(obj)`` is ``as_tensor(obj)`` with a say in copying and in the graph.

    A DLPack capsule, and the bytes of an object with Python's buffer protocol (which are elements of ``dtype``, or of the
    default one), are shared, too. ``copy=True`` never shares memory, ``copy=False`` never copies (ValueError where it would
    have to). A Tensor keeps its history unless ``requires_grad=False``.

    >>> import numpy as np
    >>> import autograd_cy as ag
    >>> ag.asarray(np.arange(3), dtype=ag.float32, requires_grad=True)
    tensor([0., 1., 2.], requires_grad=True)
    """
    if type(obj).__name__ == "PyCapsule":
        from .strided import from_dlpack  # few have capsules

        obj = from_dlpack(obj)
    elif (bytes := _buffer(obj)) is not None:
        obj = sharing(np.frombuffer(bytes, resolve(dtype, None, False)))
    result = as_tensor(obj, dtype, device)
    shared = isinstance(obj, (Tensor, np.ndarray)) and obj.dtype == result.dtype
    if copy is False and not shared:
        if isinstance(obj, np.generic):
            raise RuntimeError("can't alias NumPy scalars. Either remove copy=False or transform it in a ndarray.")
        if not isinstance(obj, (Tensor, np.ndarray)):
            raise ValueError("can't alias arbitrary sequence into a tensor.")
        raise ValueError(f"can't alias tensor with dtype '{obj.dtype}' into dtype '{result.dtype}'.")
    if copy and shared:
        result = result.clone()
    if requires_grad is False and result.requires_grad:
        return result.detach()
    if requires_grad and not result.requires_grad:
        resolve(result.dtype, None, requires_grad)
        result.requires_grad_()
    return result


def _buffer(obj: Any) -> memoryview | None:
    """The bytes of an object that has nothing but the buffer protocol to say what it is."""
    if isinstance(obj, (Tensor, np.ndarray, np.generic, list, tuple, int, float, complex)):
        return None
    try:
        return memoryview(obj)
    except TypeError:
        return None


@public
def from_numpy(array: np.ndarray) -> Tensor:
    """``from_numpy(array)`` is a Tensor on the array's memory: a change of one is seen in the other.

    TypeError for dtypes that Tensors don't have. Read-only arrays stay read-only, any strides are fine.

    >>> import numpy as np
    >>> import autograd_cy as ag
    >>> ag.from_numpy(np.array([1.0, 2.0]))
    tensor([1., 2.], dtype=torch.float64)
    """
    if not isinstance(array, np.ndarray):
        raise TypeError(f"expected np.ndarray (got {type(array).__name__})")
    return sharing(array if type(array) is np.ndarray else np.asarray(array))


# ------------------------------------------------------------------------------------------------------------


def array_from(data: Any, dtype: np.dtype | None = None, copy: bool = False) -> np.ndarray:
    """``data`` as an array of ``dtype`` or the inferred one; without ``copy``, an array may stay as it is."""
    if type(data) is float and dtype is None:  # the most common case, in a third of the time
        with np.errstate(over="ignore"):
            return np.array(data, dtypes.get_default().numpy_dtype)
    if isinstance(data, Tensor):
        data = array_of(data)
    elif isinstance(data, np.generic) or hasattr(data, "__array__"):
        data = np.asarray(data)
    if not isinstance(data, (np.ndarray, list, tuple)) and hasattr(data, "_elements_for"):  # a storage
        return data._elements_for(dtype)
    if not isinstance(data, np.ndarray):
        return _array_of_leaves(*_flatten(data), dtype)
    from_array(data)  # refuses foreign dtypes and byte orders
    with np.errstate(over="ignore", invalid="ignore"):
        if copy and 0 in data.strides:
            made = laid_out_like(data, np.empty, dtype or data.dtype)
            made[...] = data
            return made
        return data.astype(dtype or data.dtype, copy=copy, subok=False)


def _flatten(data: Any) -> tuple[list[Any], tuple[int, ...]]:
    """The leaves and the shape of nested sequences: ``[1, 2, 3, 4], (2, 2)`` for ``[[1, 2], [3, 4]]``.

    Works level by level, so that the loops over elements run in C. Arrays at the innermost level stay whole.
    """
    leaves, shape = [data], tuple[int, ...]()
    while any(map(_is_sequence, kinds := set(map(type, leaves)))):
        if any(issubclass(kind, Tensor) for kind in kinds):
            leaves = [array_of(x) if isinstance(x, Tensor) else x for x in leaves]
        if kinds == {np.ndarray}:
            return leaves, shape + _common_shape(leaves, len(shape))
        if np.ndarray in kinds and any(type(x) is np.ndarray and x.ndim == 0 for x in leaves):
            leaves = [x[()] if type(x) is np.ndarray and x.ndim == 0 else x for x in leaves]
            continue  # beside numbers and sequences, an array without dimensions counts as its number
        shape += (_common_length(leaves, len(shape)),)
        try:
            leaves = list(itertools.chain.from_iterable(leaves))
        except TypeError as error:  # of a class that only looks like a sequence
            unread = ", ".join(sorted(kind.__name__ for kind in kinds - {list, tuple}))
            raise ValueError(f"could not determine the shape of object type '{unread}'") from error
    if any(issubclass(kind, Tensor) for kind in kinds):
        leaves = list(map(_number_of, leaves))
    return leaves, shape


def _is_sequence(kind: type) -> bool:
    if kind is list or kind is tuple:
        return True
    if issubclass(kind, (str, bytes, Mapping, Tensor, np.generic)):
        return False
    return hasattr(kind, "__len__") and hasattr(kind, "__getitem__")


def _common_length(sequences: list[Any], dimension: int) -> int:
    """How long all of ``sequences`` are; errors for ragged, mixed and endless nesting."""
    for kind in set(map(type, sequences)):
        if not _is_sequence(kind):
            raise TypeError(
                f"expected sequences alone at dim {dimension}, but '{kind.__name__}' is not a sequence"
            )
    if dimension == MAX_DIMENSIONS:
        raise ValueError(f"too many dimensions '{type(sequences[0]).__name__}'")
    length = len(sequences[0])
    for sequence in sequences:
        if len(sequence) != length:
            raise ValueError(f"expected sequence of length {length} at dim {dimension} (got {len(sequence)})")
    return length


def _common_shape(arrays: list[np.ndarray], dimension: int) -> tuple[int, ...]:
    shapes = {array.shape for array in arrays}
    if len(shapes) > 1:
        raise ValueError(f"expected sequence of one length at dim {dimension + 1} (got arrays of {shapes})")
    return arrays[0].shape


def _number_of(leaf: Any) -> Any:
    """What a one-element Tensor holds; other leaves as they are."""
    if not isinstance(leaf, Tensor):
        return leaf
    if leaf.is_meta:
        return leaf.item()
    if array_of(leaf).size != 1:
        raise ValueError(
            "only one element tensors can be converted to Python scalars, got one of size "
            f"{list(leaf.shape)}; stack() joins larger ones"
        )
    if leaf.requires_grad:
        warnings.warn(
            "Converting a tensor with requires_grad=True to a scalar loses its history; detach() it first, "
            "or use stack(), which keeps it.",
            stacklevel=5,  # _flatten, array_from, tensor, the caller
        )
    return array_of(leaf).reshape(-1)[0]


def _array_of_leaves(leaves: list[Any], shape: tuple[int, ...], dtype: np.dtype | None) -> np.ndarray:
    inferred = _inferred(leaves, shape)
    if dtype is None:
        dtype = inferred
    if inferred.kind == "c" and dtypes.kind_of(dtype) not in "cb":
        raise TypeError(f"must be real number, not complex, to make a tensor of {dtype}")
    try:
        with np.errstate(over="ignore"):
            if dtypes.kind_of(dtype) == "f" != dtype.kind:  # bfloat16, to which NumPy converts no lists
                return np.array(leaves, dtype=np.float32).reshape(shape).astype(dtype)
            if dtype.kind not in "iu":
                return np.array(leaves, dtype=dtype).reshape(shape)
            exact = np.array(leaves, dtype=_exact_type(leaves, inferred, dtype))
    except OverflowError:
        raise ValueError("Overflow when unpacking long long: an int is too large for int64") from None
    if dtype == np.uint64 and exact.dtype == np.int64 and (exact < 0).any():
        raise OverflowError(f"can't convert negative int to unsigned: {exact.min()}")
    return to_integers(exact, dtype).reshape(shape)


def _exact_type(leaves: list[Any], inferred: np.dtype, dtype: np.dtype) -> type[np.generic]:
    """The type that holds numbers before they become integers of a dtype: float64, int64, or uint64 where they need it."""
    if dtypes.kind_of(inferred) == "f":
        return np.longdouble if inferred == np.longdouble else np.float64
    return np.uint64 if dtype == np.uint64 and leaves and max(leaves) >= 2**63 and min(leaves) >= 0 else np.int64


def _inferred(leaves: list[Any], shape: tuple[int, ...]) -> np.dtype:
    """NOTE [Inference] for the leaves of nested sequences."""
    found: set[dtypes.dtype] = set()
    for kind in set(map(type, leaves)):
        if issubclass(kind, np.ndarray):
            found.update(from_array(x).dtype for x in leaves)
        elif issubclass(kind, np.generic):
            found.add(from_array(np.asarray(next(x for x in leaves if type(x) is kind))).dtype)
        elif dtype := dtype_of_number(kind):
            found.add(dtype)
        elif not issubclass(kind, (str, bytes)):
            raise RuntimeError(f"Could not infer dtype of {kind.__name__}")
        elif shape:
            raise ValueError(f"too many dimensions '{kind.__name__}'")
        else:
            raise TypeError(f"new(): invalid data type '{kind.__name__}'")
    return functools.reduce(dtypes.promote_types, found or {dtypes.get_default()}).numpy_dtype
