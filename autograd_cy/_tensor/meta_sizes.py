"""The placeholders of calls on the device "meta" whose result's shape is known beforehand (facade): NOTE [Meta].

The same call for no elements checks the arguments, and knows the dtype.
"""

import inspect
import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from .._core.arrays.formats import checked, contiguous_format, made_in
from .._core.graph.tensor import Tensor, from_array, metadata_of
from .._core.ops.indexing.slicing import owner_of_memory
from .._core.ops.shapes.reshaping import replace_array
from .._creation import laid_out_like, number, progressions, sequences, sizes
from .._memory import moves
from .._memory.placeholders import Placeholder, placeholder
from ..signal import windows as signal_windows

_WINDOWS = {f"{name}_window" for name in ("bartlett", "blackman", "hamming", "hann", "kaiser")}
_COUNTS = (
    {"eye": ("n", "m"), "linspace": ("steps",), "logspace": ("steps",), "randperm": ("n",)}
    | dict.fromkeys(_WINDOWS, ("window_length",))
    | dict.fromkeys(signal_windows.__all__, ("M",))
)
_WITH_SIZE = {"full", "normal", "randint"}

# Functions and methods, by what they do.
SHAPED = {"empty", "ones", "rand", "randn", "zeros"}  # their arguments are sizes
LIKES = {f"{name}_like" for name in ("empty", "full", "ones", "rand", "randint", "randn", "zeros")}
NEW = {f"new_{name}" for name in ("empty", "empty_strided", "full", "ones", "zeros")}
CASTS = {
    "bfloat16", "bool", "byte", "cdouble", "cfloat", "char", "double", "float", "half", "int", "long", "short", "to", "type",
    "type_as",
}  # fmt: skip


def _are_sizes(values: Any) -> bool:
    return all(type(n) is int and n >= 0 for n in values)


def array_of_call(function: Any, arguments: dict[str, Any]) -> tuple[Any, Tensor] | None:
    """array_of_call(function, arguments) -> the placeholder of what a factory makes, and what it makes of no elements.

    None for other functions, and for arguments that the function is to refuse.
    """
    name = function.__name__
    if arguments.get("out") is not None:
        return None
    if name in _COUNTS:
        return _counted(function, arguments, _COUNTS[name])
    if name in _WITH_SIZE:
        return _with_size(function, arguments)
    if name in ("arange", "range"):
        return _progression(function, arguments)
    if name in ("tril_indices", "triu_indices"):
        return _triangle(function, arguments)
    if name in ("empty_strided", "new_empty_strided"):
        return _strided(function, arguments)
    return _permuted(function, arguments) if name == "empty_permuted" else None


def array_of_shape(func: Any, args: Any, kwargs: dict[str, Any]) -> tuple[Any, bool]:
    """array_of_shape(func, args, kwargs) -> the placeholder of what such a function makes, and whether it requires grad.

    The function is one of SHAPED, LIKES or NEW.
    """
    name = func.__name__
    options = {key: value for key, value in kwargs.items() if key not in ("memory_format", "size", "out")}
    if name in SHAPED:
        probe, shape = func(0, **options), sizes(name, args, kwargs.get("size"))
        wanted = checked(kwargs.get("memory_format"), name) or contiguous_format
        return made_in(wanted, placeholder, shape, metadata_of(probe).dtype), probe.requires_grad
    given, *rest = args if args else (options.pop("input"),)
    twin = from_array(np.empty(0, metadata_of(given).dtype))
    if name in LIKES:
        probe = func(twin, *rest, **options)
        kind, format = metadata_of(probe).dtype, kwargs.get("memory_format")
        return laid_out_like(metadata_of(given), placeholder, kind, memory_format=format), probe.requires_grad
    if name == "new_empty_strided":
        bound = inspect.signature(func).bind(twin, *args[1:], **kwargs)
        known = array_of_call(func, bound.arguments)
        if known is None:  # the call is an error, or has sizes that are no ints
            probe = func(*bound.args, **bound.kwargs)
            return placeholder(probe.shape, metadata_of(probe).dtype, metadata_of(probe).strides), probe.requires_grad
        return known[0], known[1].requires_grad
    if name == "new_full":
        size, *rest = rest if rest else (kwargs["size"],)
        probe, shape = func(twin, (0,), *rest, **options), tuple(size)
    else:
        probe, shape = func(twin, (0,), **options), sizes(name, tuple(rest), kwargs.get("size"))
    return placeholder(shape, metadata_of(probe).dtype), probe.requires_grad


def _counted(function: Any, arguments: dict[str, Any], names: tuple[str, ...]) -> tuple[Any, Tensor] | None:
    counts = {name: arguments[name] for name in names if arguments.get(name) is not None}
    if not counts or not _are_sizes(counts.values()):
        return None
    probe = function(**(arguments | dict.fromkeys(counts, 0)))
    found = list(counts.values())
    return placeholder((*found, *found)[: len(names)], metadata_of(probe).dtype), probe


def _progression(function: Any, arguments: dict[str, Any]) -> tuple[Any, Tensor] | None:
    name, start, end, step = function.__name__, *map(arguments.get, ("start", "end", "step"))
    if end is None:
        start, end = None, start
    try:
        bounds = [number(name, "end", x) for x in (0 if start is None else start, end, 1 if step is None else step)]
        start, end, _ = bounds
        short = {"start": start, "end": start if isinstance(end, int) else type(end)(start)}  # an element at most
    except (TypeError, OverflowError):
        return None
    probe = function(**(arguments | short))
    dtype = metadata_of(probe).dtype
    length = sequences.length_of_arange if name == "arange" else progressions.length_of_range
    return placeholder((length(bounds, dtype),), dtype), probe


def _triangle(function: Any, arguments: dict[str, Any]) -> tuple[Any, Tensor] | None:
    row, col, offset = arguments["row"], arguments["col"], arguments.get("offset", 0)
    if not _are_sizes((row, col)) or type(offset) is not int:
        return None
    probe = function(**(arguments | {"row": 0, "col": 0}))
    below = function.__name__ == "tril_indices"
    count = _up_to(row, col, offset) if below else row * col - _up_to(row, col, offset - 1)
    return placeholder((2, count), metadata_of(probe).dtype), probe


def _up_to(row: int, col: int, offset: int) -> int:
    """The number of elements of a matrix up to a diagonal."""
    first, whole = min(max(0, -offset), row), min(max(0, col - offset), row)  # the first row with one, and with all
    return (whole - first) * (first + whole + 2 * offset + 1) // 2 + (row - whole) * col


def _with_size(function: Any, arguments: dict[str, Any]) -> tuple[Any, Tensor] | None:
    names = [name for name in ("size", "high") if isinstance(arguments.get(name), tuple | list)]  # randint(5, (2, 3))
    if not names:
        return None
    shape = sizes(function.__name__, (arguments[names[0]],))
    probe = function(**(arguments | {names[0]: (0,)}))
    return placeholder(shape, metadata_of(probe).dtype), probe


def _strided(function: Any, arguments: dict[str, Any]) -> tuple[Any, Tensor] | None:
    shape, steps = tuple(arguments["size"]), tuple(arguments["stride"])
    if len(shape) != len(steps) or not _are_sizes(shape + steps):
        return None
    probe = function(**(arguments | {"size": (0,), "stride": (1,)}))
    dtype = metadata_of(probe).dtype
    return placeholder(shape, dtype, tuple(step * dtype.itemsize for step in steps)), probe


def _permuted(function: Any, arguments: dict[str, Any]) -> tuple[Any, Tensor] | None:
    shape, order = tuple(arguments["size"]), tuple(arguments["physical_layout"])
    if not _are_sizes(shape):
        return None
    probe = function(**(arguments | {"size": (0,) * len(shape)}))
    memory = placeholder(tuple(shape[axis] for axis in order), metadata_of(probe).dtype)
    return memory.transpose(np.argsort(order)), probe


def converted(function: Any, args: Any, kwargs: dict[str, Any]) -> Any:
    """converted(function, args, kwargs) -> the placeholder of what a conversion of args[0] gives; None if that is args[0]."""
    array = metadata_of(args[0])
    twin = from_array(np.empty((0,) * array.ndim, array.dtype))
    probe = function(twin, *args[1:], **kwargs)
    if probe is twin:
        return None
    format = kwargs.get("memory_format")
    return laid_out_like(array, placeholder, metadata_of(probe).dtype, memory_format=format)


def give_room(tensor: Any, shape: Sequence[int]) -> None:
    """give_room(tensor, shape) puts a tensor on addresses of its own that suffice for a shape, if it has too few."""
    array = metadata_of(tensor)
    if not _are_sizes(shape) or (needed := array.itemsize * math.prod(shape)) >= 2**63:
        return
    start, size = moves.extent(owner_of_memory(array))
    if needed > start + size - array.ctypes.data:
        needed = max(moves.extent(array)[1], needed)
        place = np.ndarray((needed,), np.uint8, Placeholder(needed))
        replace_array(tensor, from_array(np.ndarray(array.shape, array.dtype, place, 0, array.strides)))
