"""Size, the shape of a tensor, device, where it may live, and the dtypes of Python's numbers (facade)."""

import importlib
import math
import operator
import sys
from collections.abc import Iterable
from typing import Any, SupportsIndex

import numpy as np

from .._compat import PACKAGE
from .._core.arrays import dtypes
from .._core.runtime.entry import answer_errors, public

_LETTERS = frozenset("abcdefghijklmnopqrstuvwxyz_")  # of kinds; a regular expression would take longer to compile
_KINDS = (
    "cpu", "cuda", "ipu", "xpu", "mkldnn", "opengl", "opencl", "ideep", "hip", "ve", "fpga", "maia", "xla", "lazy", "vulkan",
    "mps", "meta", "hpu", "mtia", "privateuseone",
)  # fmt: skip
_NAMED_BUILDS = ("cuda", "xpu", "mtia")  # devices with their own error message
_MOST = 1_000_000  # numbers that a range gives a Size: more are a mistake, and fill the memory before anything else fails
_NO_ACCELERATOR = "Cannot access accelerator device when none is available."


class Size(tuple[int, ...]):
    """``Size([2, 3])`` is the shape of a tensor: a tuple of ints, still a Size when cut or extended.

    TypeError unless all are ints.

    >>> import autograd_cy as ag
    >>> shape = ag.Size([2, 3, 4])
    >>> shape.numel(), shape[1:], shape + (5,)
    (24, torch.Size([3, 4]), torch.Size([2, 3, 4, 5]))
    """

    __slots__ = ()

    def __new__(cls, dimensions: Iterable[Any] = ()) -> "Size":
        checked = []
        if isinstance(dimensions, range) and len(dimensions) > _MOST:
            raise MemoryError(f"torch.Size() takes at most {_MOST} numbers of a range, but got {len(dimensions)}")
        for i, n in enumerate(dimensions):
            try:
                checked.append(operator.index(n))
            except TypeError:
                found = f"item {i} is '{type(n).__name__}'"
                raise TypeError(f"torch.Size() takes an iterable of 'int' ({found})") from None
        return tuple.__new__(cls, checked)

    def numel(self) -> int:
        """``shape.numel()`` is the number of elements of a tensor of this shape."""
        return math.prod(self)

    def __getitem__(self, index: Any) -> Any:
        item = tuple.__getitem__(self, index)
        return tuple.__new__(Size, item) if isinstance(index, slice) else item

    def __add__(self, other: Any) -> "Size":
        if not isinstance(other, tuple):
            return NotImplemented
        return Size(tuple.__add__(self, other))

    def __radd__(self, other: Any) -> "Size":
        if not isinstance(other, tuple):
            return NotImplemented
        return Size(other) + self

    def __mul__(self, times: SupportsIndex) -> "Size":
        try:
            return tuple.__new__(Size, tuple.__mul__(self, times))
        except MemoryError:
            raise MemoryError(f"no memory for {times!r} times the {len(self)} numbers of a Size") from None

    __rmul__ = __mul__

    def __repr__(self) -> str:
        # PyTorch's package name on purpose: the output of scripts written for it stays the same.
        return f"torch.Size({list(self)})"


class device:
    """``device("cpu")`` is where tensors live. Other devices of PyTorch's (``device("cuda:1")``) are names that print and
    compare: what would put a tensor there is the error of a PyTorch that is built for the CPU alone.

    RuntimeError for a name that is no device's.

    >>> import autograd_cy as ag
    >>> ag.device("cpu"), str(ag.device("cuda", 1)), ag.device("cpu").index
    (device(type='cpu'), 'cuda:1', None)
    """

    __slots__ = ("_index", "_type")

    @public
    def __init__(self, type: Any, index: int | None = None):
        if isinstance(type, device):
            type = str(type)
        elif isinstance(type, bytes):
            type = type.decode()
        if isinstance(type, int) and not isinstance(type, bool):
            number = operator.index(type)
            raise RuntimeError(_NO_ACCELERATOR if number >= 0 else f"Device index must not be negative, got {number}")
        if not isinstance(type, str):
            raise TypeError(f"device(): argument 'type' must be str or device, not {type.__class__.__name__}")
        if index is not None and (isinstance(index, bool) or not isinstance(index, int)):
            raise TypeError(f"device(): argument 'index' (position 2) must be int, not {index.__class__.__name__}")
        self._type, self._index = ("cpu", None) if type == "cpu" and index is None else _parts(type, index)

    @property
    def type(self) -> str:
        """The kind of device: ``cpu``, ``cuda``."""
        return self._type

    @property
    def index(self) -> int | None:
        """The number after the colon, or None. ``cpu:0`` and ``cpu`` are the same place."""
        return self._index

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, device):
            return NotImplemented
        return self._type == other._type and self._index == other._index

    def __hash__(self) -> int:
        return hash((device, self._type, self._index))

    def __reduce__(self) -> Any:
        return device, (self._type,) if self._index is None else (self._type, self._index)

    def __str__(self) -> str:
        return self._type if self._index is None else f"{self._type}:{self._index}"

    def __repr__(self) -> str:
        return f"device(type={self._type!r})" if self._index is None else f"device(type={self._type!r}, index={self._index})"

    def __enter__(self) -> "device":
        if self._type != "meta":
            on_cpu(self)
        if self._type == "meta" or f"{PACKAGE}._settings.default_device" in sys.modules:
            importlib.import_module(f"{PACKAGE}._settings.default_device").enter(self)
        return self

    def __exit__(self, *exception: object) -> None:
        modes = sys.modules.get(f"{PACKAGE}._settings.default_device")
        if modes is not None:
            modes.leave(*exception)


class MetaAskedFor(NotImplementedError):
    """Raised where tensors are made with memory; the public function that was called then makes them without."""


def _answer(function: Any, args: Any, kwargs: Any) -> Any:
    return importlib.import_module(f"{PACKAGE}._tensor.meta").answer(function, args, kwargs)


answer_errors(MetaAskedFor, _answer)


def on_cpu(where: Any) -> device:
    """The device that an argument names, if tensors live there; else the error that PyTorch has without that device."""
    named = where if isinstance(where, device) else device(where)
    kind = named.type
    if kind == "cpu":
        return named
    if kind == "meta":
        raise MetaAskedFor("device 'meta': this call makes no tensors without memory")
    if kind in _NAMED_BUILDS:
        raise AssertionError(f"Torch not compiled with {kind.upper()} enabled")
    raise RuntimeError(f"PyTorch is not linked with support for {kind} devices")


def _parts(text: str, index: int | None) -> tuple[str, int | None]:
    """The kind and the number in a text like ``cuda:0``, or the number given beside it."""
    kind, colon, number = text.partition(":")
    is_number = number.isascii() and number.isdigit() and (number == "0" or number[0] != "0")
    if not kind or not _LETTERS.issuperset(kind) or (colon and not is_number):
        raise RuntimeError(f"Invalid device string: {text!r}" if text else "Device string must not be empty")
    if kind not in _KINDS:
        raise RuntimeError(f"Expected one of {', '.join(_KINDS)} device type at start of device string: {kind}")
    if index is None:
        return kind, int(number) if number else None
    if number:
        raise RuntimeError(f"type (string) must not include an index because index was passed explicitly: {text}")
    if index < 0:
        raise RuntimeError(f"Device index must not be negative, got {index}")
    return kind, index


def dtype_of_number(kind: type) -> Any:
    """PyTorch's dtype for Python's bool, int, float and complex, and for NumPy's longdouble; else None."""
    if issubclass(kind, bool):
        return dtypes.convert(np.bool_)
    if issubclass(kind, int):
        return dtypes.convert(np.int64)
    if issubclass(kind, float):
        return dtypes.get_default()
    if issubclass(kind, complex):
        return dtypes.get_default().to_complex()
    return dtypes.convert(kind) if issubclass(kind, np.longdouble) else None
