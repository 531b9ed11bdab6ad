"""Questions about tensors and their sizes that are functions in PyTorch (facade). Imported when asked for."""

from collections.abc import Sequence
from typing import Any

from .._core.graph.tensor import Tensor
from .._core.runtime.entry import public
from .._creation import constructor
from .._types import Size, on_cpu
from .._types import device as Device

__all__ = [
    "broadcast_shapes", "get_default_device", "get_device", "is_conj", "is_distributed", "is_neg", "is_same_size", "is_signed",
    "is_storage", "set_default_device",
]  # fmt: skip


def asked(name: str, value: Any, argument: str = "'input' (position 1)") -> Tensor:
    """The tensor that a question is about."""
    if not isinstance(value, Tensor):
        raise TypeError(f"{name}(): argument {argument} must be Tensor, not {type(value).__name__}")
    return value


@public
def is_signed(input: Tensor) -> bool:
    """``is_signed(t)`` is whether the tensor's type has numbers below 0.

    >>> import autograd_cy as ag
    >>> ag.is_signed(ag.ones(2)), ag.is_signed(ag.ones(2, dtype=ag.uint8))
    (True, False)
    """
    return asked("is_signed", input).is_signed()


@public
def is_conj(input: Tensor) -> bool:
    """``is_conj(t)`` is False: conj() computes at once, and marks nothing.

    >>> import autograd_cy as ag
    >>> ag.is_conj(ag.tensor([1j]).conj())
    False
    """
    return asked("is_conj", input).is_conj()


@public
def is_neg(input: Tensor) -> bool:
    """``is_neg(t)`` is False: no tensor is marked as negated.

    >>> import autograd_cy as ag
    >>> ag.is_neg(-ag.ones(2))
    False
    """
    return asked("is_neg", input).is_neg()


@public
def is_distributed(input: Tensor) -> bool:
    """``is_distributed(t)`` is False.

    >>> import autograd_cy as ag
    >>> ag.is_distributed(ag.ones(2))
    False
    """
    return asked("is_distributed", input).is_distributed()


@public
def is_same_size(input: Tensor, other: Tensor) -> bool:
    """``is_same_size(a, b)`` is whether two tensors have the same shape.

    >>> import autograd_cy as ag
    >>> ag.is_same_size(ag.ones(2), ag.ones(1, 2))
    False
    """
    return asked("is_same_size", input).is_same_size(asked("is_same_size", other, "'other' (position 2)"))


@public
def get_device(input: Tensor) -> int:
    """``get_device(t)`` is -1: the tensor is on no GPU.

    >>> import autograd_cy as ag
    >>> ag.get_device(ag.ones(2))
    -1
    """
    return asked("get_device", input).get_device()


def is_storage(obj: object) -> bool:
    """``is_storage(x)`` is whether an object is a storage, typed or not.

    >>> import autograd_cy as ag
    >>> ag.is_storage(ag.ones(2).untyped_storage()), ag.is_storage(ag.ones(2))
    (True, False)
    """
    return constructor.is_storage(obj)


def get_default_device() -> Device:
    """``get_default_device()`` is where tensors are made that name no device: the CPU, unless set_default_device() was called.

    >>> import autograd_cy as ag
    >>> ag.get_default_device()
    device(type='cpu')
    """
    from .._settings.default_device import get_default

    return get_default()


@public
def set_default_device(device: Any) -> None:
    """``set_default_device("meta")`` lets tensors that name no device be made there; None or "cpu": on the CPU.

    The error that PyTorch has without that device for any other.

    >>> import autograd_cy as ag
    >>> ag.set_default_device("cpu")
    """
    from .._settings.default_device import set_default

    wanted = None if device is None else Device(device)
    if wanted is not None and wanted.type != "meta":
        on_cpu(wanted)
    set_default(wanted)


@public
def broadcast_shapes(*shapes: int | Sequence[int]) -> Size:
    """``broadcast_shapes((2, 1), (3,))`` is the shape to which tensors of those shapes are broadcast.

    RuntimeError where they don't fit.

    >>> import autograd_cy as ag
    >>> ag.broadcast_shapes((2, 1), (3,))
    torch.Size([2, 3])
    """
    found: list[int] = []
    for number, shape in enumerate(shapes):
        sizes = [shape] if isinstance(shape, int) else list(shape)
        found = [1] * (len(sizes) - len(found)) + found
        for axis in range(-len(sizes), 0):
            if sizes[axis] < 0:
                raise RuntimeError(f"Trying to create tensor with negative dimension ({sizes[axis]}): ({sizes[axis]})")
            if sizes[axis] not in (1, found[axis]) and found[axis] != 1:
                raise RuntimeError(
                    f"Attempting to broadcast a dimension of length {sizes[axis]} at {axis}! Mismatching argument at index "
                    f"{number} had {tuple(sizes)}; but expected shape should be broadcastable to {found}"
                )
            found[axis] = sizes[axis] if found[axis] == 1 else found[axis]
    return Size(found)
