"""Where tensors are made that name no device: with torch.device(...), set_default_device() (facade)."""

from contextvars import ContextVar
from typing import Any

from .._types import device as Device
from .function_modes import TorchFunctionMode

_MAKERS = {
    "arange", "as_tensor", "asarray", "bartlett_window", "blackman_window", "empty", "empty_permuted", "empty_strided", "eye",
    "full", "hamming_window", "hann_window", "kaiser_window", "linspace", "logspace", "normal", "ones", "rand", "randint",
    "randn", "randperm", "range", "scalar_tensor", "tensor", "tril_indices", "triu_indices", "zeros",
}  # fmt: skip


class DeviceContext(TorchFunctionMode):
    """Lets calls that make tensors, and name no device, make them there."""

    def __init__(self, device: Device):
        self.device = device

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        kwargs = kwargs or {}
        if func.__name__ in _MAKERS and kwargs.get("device") is None and kwargs.get("out") is None:
            kwargs["device"] = self.device
        return func(*args, **kwargs)


_entered: ContextVar[tuple[DeviceContext, ...]] = ContextVar("autograd_cy devices", default=())
_default: ContextVar[DeviceContext | None] = ContextVar("autograd_cy default device", default=None)


def enter(device: Device) -> None:
    """enter(device): let tensors be made there, until leave()."""
    mode = DeviceContext(device)
    mode.__enter__()
    _entered.set((*_entered.get(), mode))


def leave(*exception: Any) -> None:
    """leave(): take the last enter() back."""
    *outer, mode = _entered.get() or (None,)
    if mode is not None:
        _entered.set(tuple(outer))
        mode.__exit__(*exception)


def set_default(device: Device | None) -> None:
    """set_default(device): the device of tensors that this thread creates without one; None is the CPU."""
    before = _default.get()
    if before is not None:
        before.__exit__(None, None, None)
    mode = None if device is None or device.type == "cpu" else DeviceContext(device)
    if mode is not None:
        mode.__enter__()
    _default.set(mode)


def get_default() -> Device:
    """get_default() -> the device of tensors created without one."""
    entered, default = _entered.get(), _default.get()
    mode = entered[-1] if entered else default
    return Device("cpu") if mode is None else mode.device
