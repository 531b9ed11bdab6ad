"""Conversions of all tensors of a module to another dtype, device or memory (facade)."""

import warnings
from collections.abc import Callable
from typing import Any, Self

from ... import __future__
from ..._core.arrays import dtypes
from ..._core.arrays.formats import memory_format as MemoryFormat
from ..._core.graph.tensor import Tensor
from ..._core.runtime.entry import public
from ..._creation.filled import empty_like
from ..._types import device as Device
from ..._types import on_cpu
from ...autograd.grad_mode import no_grad
from ..parameter import Parameter, UninitializedTensorMixin


class WithConversions:
    """Converts each tensor of a module. The Parameter objects stay, on new memory."""

    _parameters: dict[str, Any]
    _buffers: dict[str, Any]

    def children(self) -> Any:
        raise NotImplementedError

    def parameters(self) -> Any:
        raise NotImplementedError

    def buffers(self) -> Any:
        raise NotImplementedError

    def _apply(self, fn: Callable[[Any], Any], recurse: bool = True) -> Self:
        """Replace the memory of each parameter and its gradient, and each buffer, by fn(tensor)."""
        if recurse:
            for module in self.children():
                module._apply(fn)
        for name, parameter in self._parameters.items():
            if parameter is None:
                continue
            gradient = parameter.grad
            with no_grad():
                applied = fn(parameter)
                # tensors of another layout, or without memory, can't be swapped
                is_moved = applied.is_meta is not parameter.is_meta or applied.layout is not parameter.layout
                if is_moved or __future__.get_overwrite_module_params_on_conversion():
                    self._parameters[name] = made = Parameter(applied.detach(), parameter.requires_grad)
                    made.grad = None if gradient is None else fn(gradient).requires_grad_(gradient.requires_grad)
                    continue
                parameter.data = applied
                if gradient is not None:
                    gradient.data = fn(gradient)
                    parameter.grad = gradient
        for name, buffer in self._buffers.items():
            if buffer is not None:
                self._buffers[name] = fn(buffer)
        return self

    def apply(self, fn: Callable[[Any], None]) -> Self:
        """``apply(fn)`` calls fn(module) for each module in this one, then for itself, and returns it.

        >>> import autograd_cy as ag
        >>> _ = ag.nn.Sequential(ag.nn.Linear(2, 3)).apply(lambda module: print(type(module).__name__))
        Linear
        Sequential
        """
        for module in self.children():
            module.apply(fn)
        fn(self)
        return self

    @public
    def to(self, *args: Any, **kwargs: Any) -> Self:
        """``to(dtype)``, ``to(device)``, ``to(tensor)`` or ``to(memory_format=...)`` converts the module in place, and
        returns it.

        Only floating point and complex tensors get another dtype, TypeError for an integer dtype; the memory format is for
        tensors of 4 and 5 dimensions. RuntimeError for a device that is not the CPU.

        >>> import autograd_cy as ag
        >>> ag.nn.Linear(2, 1).to(ag.float64).weight.dtype
        torch.float64
        """
        device, dtype, memory_format = _what_to(*args, **kwargs)
        if dtype is not None and not (dtype.is_floating_point or dtype.is_complex):
            raise TypeError(f"nn.Module.to only accepts floating point or complex dtypes, but got desired dtype={dtype}")
        if dtype is not None and dtype.is_complex:
            warnings.warn(
                "Complex modules are a new feature under active development whose design may change, and some modules might "
                "not work as expected when using complex tensors as parameters or buffers.",
                stacklevel=2,
            )

        def convert(tensor: Any) -> Any:
            wanted = dtype if tensor.is_floating_point() or tensor.is_complex() else None
            if tensor.is_meta and device is not None and Device(device).type != "meta":
                raise NotImplementedError(
                    "Cannot copy out of meta tensor; no data! Please use torch.nn.Module.to_empty() instead of "
                    "torch.nn.Module.to() when moving module from meta to a different device."
                )
            if memory_format is not None and tensor.dim() in (4, 5):
                return tensor.to(device, wanted, memory_format=memory_format)
            return tensor.to(device, wanted)

        return self._apply(convert)

    def _to_floating(self, name: str) -> Self:
        return self._apply(lambda tensor: getattr(tensor, name)() if tensor.is_floating_point() else tensor)

    def float(self) -> Self:
        """``float()`` converts the floating point tensors to float32, in place, and returns the module."""
        return self._to_floating("float")

    def double(self) -> Self:
        """``double()`` converts the floating point tensors to float64, in place, and returns the module."""
        return self._to_floating("double")

    def half(self) -> Self:
        """``half()`` converts the floating point tensors to float16, in place, and returns the module."""
        return self._to_floating("half")

    def bfloat16(self) -> Self:
        """``bfloat16()`` converts the floating point tensors to bfloat16, in place, and returns the module."""
        return self._to_floating("bfloat16")

    def type(self, dst_type: Any) -> Self:
        """``type(dtype)`` converts all tensors, integers too, in place, and returns the module."""
        return self._apply(lambda tensor: tensor.type(dst_type))

    def cpu(self) -> Self:
        """``cpu()`` returns the module: there is the CPU alone."""
        return self._apply(lambda tensor: tensor.cpu())

    @public
    def cuda(self, device: Any = None) -> Self:
        """``cuda()``: AssertionError, for this package is for the CPU only; code asks cuda.is_available() first."""
        raise AssertionError("Torch not compiled with CUDA enabled")

    def to_empty(self, *, device: Any, recurse: bool = True) -> Self:
        """``to_empty(device="cpu")`` gives each tensor new, uninitialized memory."""
        return self._apply(lambda tensor: empty_like(tensor, device=device), recurse=recurse)

    @public
    def share_memory(self) -> Self:
        """``share_memory()`` moves parameters, their gradients and buffers to shared memory, and returns the module.

        A process that receives the module, or is forked, writes into the same parameters.

        >>> import autograd_cy as ag
        >>> ag.nn.Linear(2, 1).share_memory().weight.is_shared()
        True
        """
        from ..._memory.shared import share  # only needed here

        tensors: list[Any] = [*self.parameters(), *self.buffers()]
        for tensor in tensors:
            if isinstance(tensor, UninitializedTensorMixin):
                tensor.share_memory_()
        share([*tensors, *(x.grad for x in tensors if x.is_leaf and x.grad is not None)])
        return self

    def requires_grad_(self, requires_grad: bool = True) -> Self:
        """``requires_grad_(requires_grad=True)`` sets the flag of all parameters, and returns the module.

        >>> import autograd_cy as ag
        >>> [p.requires_grad for p in ag.nn.Linear(2, 1).requires_grad_(False).parameters()]
        [False, False]
        """
        for parameter in self.parameters():
            parameter.requires_grad_(requires_grad)
        return self

    def zero_grad(self, set_to_none: bool = True) -> None:
        """``zero_grad(set_to_none=True)`` drops the gradients of all parameters; else it writes zeros into them."""
        for parameter in self.parameters():
            gradient = parameter.grad
            if gradient is None:
                continue
            if set_to_none:
                parameter.grad = None
                continue
            if gradient.grad_fn is not None:
                gradient.detach_()
            else:
                gradient.requires_grad_(False)
            gradient.zero_()


def _check_order(args: tuple[Any, ...]) -> None:
    """Refuse arguments of to() in another order than (device, dtype, flag), (dtype, flag) or (tensor, flag)."""
    leads = bool(args) and isinstance(args[0], Tensor | dtypes.dtype)
    flags = args[1:] if leads else args[2:]
    second = None if leads or len(args) < 2 else args[1]
    is_dtype = second is None or isinstance(second, dtypes.dtype)
    if (args and isinstance(args[0], bool)) or not is_dtype or len(flags) > 1 or not all(isinstance(x, bool) for x in flags):
        raise TypeError(
            f"to() received an invalid combination of arguments - got ({', '.join(type(x).__name__ for x in args)}), but "
            "expected one of: (device, dtype, non_blocking), (dtype, non_blocking), (tensor, non_blocking)"
        )


def _what_to(
    *args: Any,
    device: Any = None,
    dtype: Any = None,
    tensor: Any = None,
    other: Any = None,
    non_blocking: bool = False,
    memory_format: Any = None,
) -> tuple[Any, Any, Any]:
    """The device, dtype and memory format requested by the arguments of to()."""
    given = other if tensor is None else tensor
    _check_order(args)
    for argument in args:
        if isinstance(argument, Tensor):
            given = argument
        elif isinstance(argument, (str, int, Device)) and not isinstance(argument, bool):
            device = argument
        elif isinstance(argument, dtypes.dtype):
            dtype = argument
        elif argument is not None and not isinstance(argument, bool):
            raise TypeError(f"to() received an invalid combination of arguments: {argument!r} is no device, dtype or tensor")
    if given is not None:
        dtype, device = given.dtype, given.device
    if device is not None and Device(device).type != "meta":
        on_cpu(device)
    if memory_format is not None and not isinstance(memory_format, MemoryFormat):
        raise TypeError(f"to(): argument 'memory_format' must be torch.memory_format, not {type(memory_format).__name__}")
    return device, None if dtype is None else dtypes.convert(dtype), memory_format
