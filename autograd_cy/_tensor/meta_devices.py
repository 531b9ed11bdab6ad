"""The devices of the arguments of a call with a tensor on "meta" (facade): NOTE [Meta]."""

from typing import Any

from .._core.graph.tensor import Tensor
from .._types import device as Device

# Those that read no elements; a matrix product, whose operands PyTorch lets be on two devices.
_ON_SHAPES = {"expand_as", "is_same_size", "matmul", "mm", "reshape_as", "result_type", "view_as"}
_WITH_INDICES = {"embedding", "gather", "getitem", "index_put", "index_put_", "index_select", "take"}


def _tensors(values: Any) -> Any:
    for value in values:
        if isinstance(value, Tensor):
            yield value
        elif type(value) in (list, tuple):
            yield from _tensors(value)


def check_devices(name: str, arguments: Any) -> None:
    """check_devices(name, arguments): RuntimeError for tensors with elements beside those without.

    One without dimensions counts as a number.
    """
    found = [] if name in _ON_SHAPES else list(_tensors(arguments))
    first: Any = found[0] if found else None
    for x in found:
        if x.is_meta is first.is_meta or (x.ndim == 0 and not x.is_meta):
            continue
        if name in _WITH_INDICES and not all(y.dtype.is_floating_point for y in (first, x) if not y.is_meta):
            continue
        if first.ndim == 0 and not first.is_meta:
            first = x
            continue
        own, other = ("meta", "cpu") if first.is_meta else ("cpu", "meta")
        raise RuntimeError(
            f"Tensor on device {other} is not on the expected device {own}! ({name}(): Expected all tensors to be on the same "
            f"device, but found at least two devices, {own} and {other})"
        )


def has_mask(index: Any) -> bool:
    """has_mask(index) -> whether a boolean tensor on meta is in an index."""
    return any(x.dtype.name == "bool" and x.is_meta for x in _tensors(index))


def without_device(args: Any, kwargs: dict[str, Any]) -> tuple[Any, dict[str, Any], Device | None]:
    """without_device(args, kwargs) -> the arguments of to() without the device, and that."""
    device, rest = kwargs.get("device"), []
    for value in args:
        if isinstance(value, Tensor):
            device = value.device
            rest.append(value.dtype)
        elif isinstance(value, str | Device) or (isinstance(value, int) and not isinstance(value, bool)):
            device = value
        else:
            rest.append(value)
    return tuple(rest), {k: v for k, v in kwargs.items() if k != "device"}, None if device is None else Device(device)
