"""Methods of Tensor that convert it, or make new tensors like it (facade)."""

from collections.abc import Sequence
from functools import partial
from typing import Any

import numpy as np

from .._core.arrays import unset
from .._core.arrays.buffers import fitting_array
from .._core.arrays.dtypes import all_dtypes, convert, get_default
from .._core.arrays.formats import checked, suggested
from .._core.batching.rules import batched_new, batched_new_full, on_first_value, on_values
from .._core.graph.record import legacy_type_name
from .._core.graph.tensor import Tensor, array_of, extend, from_array, metadata_of
from .._core.ops.overrides import extend_overridable
from .._core.ops.shapes.reshaping import to_dtype
from .._core.runtime.entry import public
from .._creation import number, resolve, sizes, wrap
from .._creation.constructor import construct
from .._creation.data import as_tensor
from .._types import device as Device
from .._types import on_cpu
from .attaching import method


@method
@public
def view_as(self, other):
    """view_as(other) -> Tensor: view(other.shape)."""
    return self.view(other.shape)


@method
@public
def reshape_as(self, other):
    """reshape_as(other) -> Tensor: reshape(other.shape)."""
    return self.reshape(other.shape)


@method
def to_dense(self, dtype=None, *, masked_grad=None):
    """to_dense(dtype=None) -> Tensor: a sparse tensor with all its elements; a dense one itself, or converted."""
    return self if dtype is None else self.to(dtype)


@partial(method, batch=on_first_value)
@public
def to(self, *args, dtype=None, device=None, copy=False, non_blocking=False, memory_format=None):
    """to(dtype | device | other) -> Tensor: in another dtype; itself if nothing changes and copy is False."""
    if len(args) > 1:
        _check_positions(args)
    if args and isinstance(args[0], (bool, float)):  # counts as its type, as in PyTorch
        args = (type(args[0]), *args[1:])
    for argument in args:
        if isinstance(argument, Tensor):
            dtype, device = argument.dtype, argument.device
        elif isinstance(argument, (str, int, Device)) and not isinstance(argument, bool):
            device = argument
        elif argument is not None and not isinstance(argument, bool):
            dtype = argument
    if device is not None:
        if Device(device).type == "meta":
            return _moved_to_meta(to_dtype(self, self.dtype if dtype is None else convert(dtype)))
        on_cpu(device)
    wanted = self.dtype if dtype is None else convert(dtype)
    flags = [argument for argument in args if isinstance(argument, bool)]  # non_blocking, and whether to copy
    copy = copy or flags[1:2] == [True]
    if memory_format is not None:
        return _in_format(to_dtype(self, wanted), memory_format, "to", copy and wanted is self.dtype)
    return self.clone() if copy and wanted is self.dtype else to_dtype(self, wanted)


def _check_positions(args):
    """TypeError unless the arguments of to() are a device and perhaps a dtype, or else a dtype or tensor, and two bools."""
    first, *switches = args
    is_right = True
    if first is None or isinstance(first, (str, Device)) or type(first) is int:
        dtype, *switches = switches
        is_right = not isinstance(dtype, (bool, str, Device, Tensor))
    if not is_right or len(switches) > 2 or not all(isinstance(x, bool) for x in switches):
        raise TypeError(
            f"to() received an invalid combination of arguments - got ({', '.join(type(x).__name__ for x in args)}), but "
            "expected one of: (device, dtype, non_blocking, copy), (dtype, non_blocking, copy), (other, non_blocking, copy)"
        )


def _moved_to_meta(self):
    from .meta import moved  # only needed here

    return moved(self)


def _in_format(self, memory_format, name, copy=False):
    """The tensor with its dimensions in that order in memory; itself if it suggests that, unless it is to be a copy."""
    wanted = checked(memory_format, name)
    if copy or not (wanted is None or suggested(metadata_of(self)) is wanted):
        return self.clone(memory_format=memory_format)
    return self


def _cast(name, dtype):
    def cast(self, memory_format=None):
        y = to_dtype(self, dtype)
        return y if memory_format is None else _in_format(y, memory_format, name)

    cast.__name__ = name
    cast.__doc__ = f"{name}() -> Tensor: the tensor as {dtype}; itself if it is that."
    return method(cast, on_values)


_by_name = {d.name: d for d in all_dtypes()}


for _name, _dtype in {
    "bool": "bool", "byte": "uint8", "char": "int8", "short": "int16", "int": "int32", "long": "int64",
    "half": "float16", "bfloat16": "bfloat16", "float": "float32", "double": "float64", "cfloat": "complex64",
    "cdouble": "complex128",
}.items():  # fmt: skip
    _cast(_name, _by_name[_dtype])


@public
def type_name(self, dtype=None):
    """type(dtype=None) -> Tensor or str: converted, or the name of the tensor's type: 'torch.FloatTensor'.

    A dtype, such a name, or FloatTensor and its kin themselves say what to convert to.
    """
    if dtype is None:
        return legacy_type_name(self)
    return self.to(_dtype_of_type(dtype))


_TYPES_WITHOUT_CLASS = {
    "ComplexFloatTensor": _by_name["complex64"], "ComplexDoubleTensor": _by_name["complex128"],
    "UInt16Tensor": _by_name["uint16"], "UInt32Tensor": _by_name["uint32"], "UInt64Tensor": _by_name["uint64"],
    "LongDoubleTensor": _by_name.get("longdouble", _by_name["float64"]),
}  # fmt: skip


def _dtype_of_type(kind):
    """The dtype of FloatTensor, 'torch.FloatTensor' or Tensor (the default dtype); anything else unchanged."""
    if kind is Tensor:
        return get_default()
    if isinstance(kind, str) or type(kind).__name__ == "tensortype":
        from .._creation.typed import TYPES  # few need it

        name = kind.removeprefix("torch.") if isinstance(kind, str) else kind.__name__
        if name in _TYPES_WITHOUT_CLASS:
            return _TYPES_WITHOUT_CLASS[name]
        if name not in TYPES:
            raise ValueError(f"invalid type: {kind!r}")
        return TYPES[name].dtype
    return kind


extend_overridable("type", type_name)


@partial(method, batch=on_first_value)
@public
def type_as(self, other):
    """type_as(other) -> Tensor: converted to the other's dtype."""
    return self.to(other.dtype)


@method
def cuda(self, device=None, non_blocking=False, memory_format=None):
    """cuda() -> Tensor: an AssertionError, for this package is for the CPU only; code asks cuda.is_available() first."""
    raise AssertionError("Torch not compiled with CUDA enabled")


@method
@public
def to_device(self, device, /, *, stream=None):
    """to_device(device) -> Tensor: itself: there is the CPU alone."""
    on_cpu(device)
    if stream is not None:
        raise ValueError(f"to_device(): there are no streams on a CPU, but stream is {stream!r}")
    return self


@partial(method, batch=on_values)
def cpu(self, memory_format=None):
    """cpu() -> Tensor: itself."""
    return self


@method
@public
def new(self, *args, **kwargs):
    """new(size | data | other) -> Tensor: what Tensor(...) makes of the same arguments, with this tensor's dtype."""
    return construct(args, kwargs, self.dtype)


@method
@public
def new_tensor(self, data, *, dtype=None, device=None, requires_grad=False):
    """new_tensor(data) -> Tensor: a copy of data with this tensor's dtype."""
    wanted = resolve(dtype, device, requires_grad, default=self.dtype)
    return from_array(np.array(array_of(as_tensor(data)), wanted)).requires_grad_(requires_grad)


def _new(name, fill):
    def new(self, *shape, size=None, dtype=None, device=None, requires_grad=False):
        wanted = resolve(dtype, device, requires_grad, default=self.dtype)
        return from_array(fill(sizes(name, shape, size), wanted)).requires_grad_(requires_grad)

    new.__name__ = new.__qualname__ = name
    new.__doc__ = f"{name}(size) -> Tensor: {name[4:]} of that size, by default with this tensor's dtype."
    method(public(new), batched_new)


_new("new_zeros", np.zeros)
_new("new_ones", np.ones)
_new("new_empty", unset.empty)


@partial(method, batch=batched_new_full)
@public
def new_full(self, size, fill_value, *, dtype=None, device=None, requires_grad=False):
    """new_full(size, fill_value) -> Tensor: filled with one value, by default with this tensor's dtype."""
    wanted = convert(resolve(dtype, device, requires_grad, default=self.dtype))
    unbroadcast = fitting_array(number("new_full", "fill_value", fill_value), wanted)
    return from_array(np.full(tuple(size), unbroadcast)).requires_grad_(requires_grad)


def _batched_new_strided(call: Any, self: Tensor, size: Sequence[int], stride: Sequence[int], **kwargs: Any) -> Any:
    """The samples lie one after the other, each with its strides."""
    span = 1 + sum((n - 1) * step for n, step in zip(size, stride, strict=False)) if all(size) else 0
    return call(call.value(self), (call.size, *size), (span, *stride), **kwargs)


@partial(method, batch=_batched_new_strided)
@public
def new_empty_strided(
    self: Tensor,
    size: Sequence[int],
    stride: Sequence[int],
    *,
    dtype: Any = None,
    device: Any = None,
    requires_grad: bool = False,
) -> Tensor:
    """new_empty_strided(size, stride) -> Tensor: empty_strided of this tensor's dtype."""
    from .._creation.strided import strided_array  # few need it

    wanted = resolve(dtype, device, requires_grad, default=self.dtype)
    return wrap(strided_array("new_empty_strided", size, stride, wanted), requires_grad)


extend("construct", construct)
