"""Helpers that libraries take from ``torch._utils`` (facade). Imported when asked for."""

import functools
import importlib
import os
import sys
import traceback
from collections.abc import Callable, Iterable, Iterator, Sequence
from types import ModuleType
from typing import Any, NoReturn

import numpy as np

from ._core.arrays import dtypes as _dtypes
from ._core.graph.tensor import Tensor as _Tensor
from ._core.runtime.entry import public as _public
from ._functional.names import cat as _cat
from ._functional.names import int64 as _int64
from ._functional.names import view_as_real as _view_as_real
from ._settings.autocast_settings import get_device_module as _module_of
from ._types import device as _Device
from .overrides import resolve_name as _resolve_name
from .serialization import _reader, _storages

_rebuild_tensor = _storages.rebuild_tensor_without_grad
_rebuild_tensor_v2 = _storages.rebuild_tensor
_rebuild_tensor_v3 = _storages.rebuild_tensor_of_type
_rebuild_meta_tensor_no_storage = _storages.rebuild_without_elements
_rebuild_parameter = _rebuild_parameter_with_state = _storages.rebuild_parameter
_rebuild_sparse_tensor = _reader._rebuild_sparse


@_public
def _element_size(dtype: Any) -> int:
    """``_element_size(dtype)``: the bytes of one element."""
    if not isinstance(dtype, _dtypes.dtype):
        raise RuntimeError(f"expected torch.dtype, but got {type(dtype)}")
    return dtype.itemsize


# tensors in groups


@_public
def _flatten_dense_tensors(tensors: Iterable[_Tensor]) -> _Tensor:
    """``_flatten_dense_tensors(tensors)``: the elements of all, one after the other, in one 1-d tensor."""
    return _cat([tensor.reshape(-1) for tensor in tensors])


@_public
def _unflatten_dense_tensors(flat: _Tensor, tensors: Iterable[_Tensor]) -> tuple[_Tensor, ...]:
    """``_unflatten_dense_tensors(flat, tensors)``: views of the elements, with the shapes of the tensors."""
    views, start = [], 0
    for tensor in tensors:
        views.append(flat.narrow(0, start, tensor.numel()).view(tensor.shape))
        start += tensor.numel()
    return tuple(views)


def _take_tensors(tensors: Iterable[_Tensor], size_limit: int) -> Iterator[list[_Tensor]]:
    """``_take_tensors(tensors, bytes)``: lists of tensors of one type, each of as many as the limit allows, but of one."""
    groups: dict[str, list[_Tensor]] = {}
    for tensor in tensors:
        group = groups.setdefault(tensor.type(), [])
        if group and sum(t.nbytes for t in group) + tensor.nbytes > size_limit:
            yield group
            group = groups[tensor.type()] = []
        group.append(tensor)
    yield from filter(None, groups.values())


def _reorder_tensors_as(tensors: Iterable[_Tensor], ordered_tensors: Iterable[_Tensor]) -> tuple[_Tensor, ...]:
    """``_reorder_tensors_as(tensors, others)``: the tensors such that their types follow each other as those of the others."""
    kinds: dict[str, list[_Tensor]] = {}
    for tensor in tensors:
        kinds.setdefault(tensor.type(), []).append(tensor)
    iterators = {kind: iter(group) for kind, group in kinds.items()}
    return tuple(next(iterators[tensor.type()]) for tensor in ordered_tensors)


def _handle_complex(tensor: Any) -> Any:
    """``_handle_complex(tensor)``: a complex one as pairs of real numbers, any other as it is."""
    return _view_as_real(tensor) if isinstance(tensor, _Tensor) and tensor.is_complex() else tensor


# devices: there is the CPU alone


@_public
def _get_device_index(device: Any, optional: bool = False, allow_cpu: bool = False) -> int | None:
    """``_get_device_index(device)``: its number; -1 for the CPU, if that is allowed. None for no number, if it is optional.

    ValueError for anything else.
    """
    if isinstance(device, str):
        device = _Device(device)
    index = device if type(device) is int else None
    if isinstance(device, _Device):
        if device.type == "cpu" and not allow_cpu:
            raise ValueError(f"Expected a non cpu device, but got: {device}")
        index = -1 if device.type == "cpu" else device.index
    if index is None and (not optional or not (device is None or isinstance(device, _Device))):
        raise ValueError(f"Expected a torch.device with a specified index or an integer, but got:{device}")
    return index


def _get_available_device_type() -> None:
    """``_get_available_device_type()`` is None: there is no accelerator."""


def _get_all_device_indices() -> None:
    """``_get_all_device_indices()`` is None: there is no accelerator."""


def _get_current_device_index() -> None:
    """``_get_current_device_index()`` is None: there is no accelerator."""


def _get_device_module(device_type: str) -> ModuleType:
    """``_get_device_module("cpu")`` is torch.cpu."""
    return _module_of(device_type)


# tensors that are made again


@_public
def _rebuild_device_tensor_from_numpy(data: np.ndarray, dtype: Any, device: Any, requires_grad: bool) -> _Tensor:
    """A tensor with the elements of an array."""
    from ._creation.data import from_numpy

    return _rebuild_device_tensor_from_cpu_tensor(from_numpy(data), dtype, device, requires_grad)


@_public
def _rebuild_device_tensor_from_cpu_tensor(data: _Tensor, dtype: Any, device: Any, requires_grad: bool) -> _Tensor:
    """A tensor with the elements of another."""
    return data.to(device=device, dtype=dtype).detach().requires_grad_(requires_grad)


# errors of other threads and processes


class KeyErrorMessage(str):
    """A str that repr() shows as it is: KeyError shows the repr() of its message."""

    def __repr__(self) -> str:
        return str(self)


class ExceptionWrapper:
    """``ExceptionWrapper(where="in worker 1")``: the exception being handled, as text that another process can raise."""

    def __init__(self, exc_info: Any = None, where: str = "in background"):
        exc_info = sys.exc_info() if exc_info is None else exc_info
        self.exc_type: Any = exc_info[0]
        self.exc_msg, self.where = "".join(traceback.format_exception(*exc_info)), where

    @_public
    def reraise(self) -> NoReturn:
        """``reraise()`` raises an exception of the same class, whose message has the original traceback."""
        text = f"Caught {self.exc_type.__name__} {self.where}.\nOriginal {self.exc_msg}"
        if self.exc_type is KeyError:
            raise KeyError(KeyErrorMessage(text))
        if getattr(self.exc_type, "message", None):
            raise self.exc_type(message=text)
        try:
            error = self.exc_type(text)
        except Exception:  # its class wants other arguments
            raise RuntimeError(text) from None
        raise error


# Python


class classproperty:
    """``@classproperty`` above a method: an attribute of the class, whose value is computed each time."""

    def __init__(self, func: Any):
        self.function = func.__func__ if isinstance(func, classmethod | staticmethod) else func

    def __get__(self, instance: Any, owner: type | None = None) -> Any:
        return self.function(type(instance) if owner is None else owner)


def is_compiling() -> bool:
    """``is_compiling()`` is False: nothing is compiled here."""
    return False


def cpu_count() -> int | None:
    """``cpu_count()``: how many processors this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()


def try_import(module_name: str) -> ModuleType | None:
    """``try_import(name)``: a module, or None if there is no such module."""
    try:
        return importlib.import_module(module_name)
    except ModuleNotFoundError:
        return None


def _import_dotted_name(name: str) -> Any:
    """``_import_dotted_name("torch.nn.Linear")``: what is found there, starting from an imported module."""
    first, *rest = name.split(".")
    return functools.reduce(getattr, rest, __import__(first))


@_public
def render_call(fn: Callable[..., Any], args: Sequence[Any], kwargs: dict[str, Any]) -> str:
    """``render_call(function, args, kwargs)``: the call as text; of tensors, the shape."""

    def shown(value: Any) -> str:
        if not isinstance(value, _Tensor):
            return repr(value)
        dtype = "" if value.dtype in (_dtypes.get_default(), _int64) else f", dtype={value.dtype}"
        grad = ", requires_grad=True" if value.requires_grad else ""
        return f"tensor([...], size={tuple(value.shape)}{dtype}{grad})"

    parts = [*map(shown, args), *(f"{key}={shown(value)}" for key, value in kwargs.items())]
    return f"{_resolve_name(fn) or fn}({', '.join(parts)})"
