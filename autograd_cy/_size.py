"""Size and device: the shape of a tensor, and the one place where tensors live (facade)."""

import math
import operator
import re
from collections.abc import Iterable
from typing import Any, SupportsIndex

from ._core.runtime.entry import public

_CPU = r"cpu(?::(0|[1-9]\d*))?"


class Size(tuple[int, ...]):
    """``Size([2, 3])`` is the shape of a tensor: a tuple of ints, still a Size when cut or extended.

    TypeError for what is not an int.

    >>> import autograd_cy as ag
    >>> shape = ag.Size([2, 3, 4])
    >>> shape.numel(), shape[1:], shape + (5,)
    (24, torch.Size([3, 4]), torch.Size([2, 3, 4, 5]))
    """

    __slots__ = ()

    def __new__(cls, dimensions: Iterable[Any] = ()) -> "Size":
        checked = []
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
    """``device("cpu")`` is where tensors live. There is no other one here: RuntimeError for it.

    >>> import autograd_cy as ag
    >>> ag.device("cpu"), str(ag.device("cpu")), ag.device("cpu").index
    (device(type='cpu'), 'cpu', None)
    """

    __slots__ = ("_index",)
    type = "cpu"

    @public
    def __init__(self, type: Any, index: int | None = None):
        if isinstance(type, device):
            type = str(type)
        elif isinstance(type, int):
            raise RuntimeError(f"device {type} is an accelerator's number, but this package is CPU only")
        elif not isinstance(type, str):
            raise TypeError(f"device(): argument 'type' must be str or device, not {type.__class__.__name__}")
        self._index = _cpu_index(type, index)

    @property
    def index(self) -> int | None:
        """The number after ``cpu:``, or None. It makes no difference to where a tensor is."""
        return self._index

    def __eq__(self, other: object) -> bool:
        return self._index == other._index if isinstance(other, device) else NotImplemented

    def __hash__(self) -> int:
        return hash((device, self._index))

    def __str__(self) -> str:
        return "cpu" if self._index is None else f"cpu:{self._index}"

    def __repr__(self) -> str:
        return "device(type='cpu')" if self._index is None else f"device(type='cpu', index={self._index})"

    def __enter__(self) -> "device":
        return self

    def __exit__(self, *exception: object) -> None:
        pass


def _cpu_index(text: str, index: int | None) -> int | None:
    """The index in ``cpu`` or ``cpu:0``, or the one given beside it; RuntimeError for any other device."""
    if text == "cpu" and index is None:
        return None
    found = re.fullmatch(_CPU, text)
    if found is None:
        if text.partition(":")[0] == "cpu":
            raise RuntimeError(f"Invalid device string: {text!r}")
        raise RuntimeError(
            f"device {text!r} is not available: this package is CPU only, its one device is 'cpu'"
        )
    if index is None:
        return int(found[1]) if found[1] else None
    if found[1]:
        raise RuntimeError(
            f"type (string) must not include an index because index was passed explicitly: {text}"
        )
    if index < 0:
        raise RuntimeError(f"Device index must not be negative, got {index}")
    return index
