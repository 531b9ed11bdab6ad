"""The methods of Tensor that are no operations (facade). `method` attaches each to the compiled type."""

import importlib
import math
import warnings
from functools import partial

import numpy as np

from .. import autograd
from .._compat import PACKAGE
from .._compat.missing import mark_missing_methods
from .._core.arrays import unset
from .._core.arrays.conversions import fitting_array
from .._core.arrays.dtypes import all_dtypes, convert, get_default
from .._core.arrays.formats import checked, is_dense_in, suggested
from .._core.arrays.orders import axes_in_memory
from .._core.batching.batched import is_batched
from .._core.batching.rules import batched_new, batched_new_full, on_first_value, on_values
from .._core.graph import hooks, node
from .._core.graph.layouts import declare_gradient
from .._core.graph.record import get_tangent
from .._core.graph.tensor import Tensor, array_of, data_of, extend, from_array, metadata_of, numpy
from .._core.ops.basics import OPS
from .._core.ops.overrides import extend_overridable
from .._core.ops.shapes import shape
from .._core.runtime.entry import public, show_one_frame
from .._core.runtime.once import warn_once
from .._creation import number, resolve, sizes
from .._creation.constructor import construct
from .._creation.data import as_tensor
from .._functional.closeness import allclose, equal
from .._random import methods as _random_methods  # noqa: F401  (which attach themselves)
from .._types import Size, on_cpu
from .._types import device as Device
from . import mapping  # noqa: F401


def method(function, batch=None):
    """Attach a function to Tensor under its own name; calls on a subclass are handed over unless it is a special method.

    `batch` is its batching rule; without one it is called as it is within vmap.
    """
    name = function.__name__
    if name.startswith("__"):
        extend(name, function)
    else:
        extend_overridable(name, function, batch)
    return function


def attribute(function):
    """Attach a function to Tensor as a read-only property."""
    extend(function.__name__, property(function))
    return function


# gradients


@method
def backward(self, gradient=None, retain_graph=None, create_graph=False, inputs=None, *, atomic=False):
    """backward(gradient=None, retain_graph=None, create_graph=False, inputs=None, *, atomic=False): see autograd.backward."""
    try:
        autograd.backward(self, gradient, retain_graph, create_graph, inputs=inputs, atomic=atomic)
    except BaseException as error:
        show_one_frame(error)
        raise


@method
@public
def retain_grad(self):
    """retain_grad(): keep the `.grad` of this computed tensor in the backward passes to come."""
    hooks.retain_grad(self)


@method
@public
def register_hook(self, hook):
    """register_hook(hook) -> RemovableHandle: hook(grad) is called with this tensor's gradient; what it returns replaces it.

    >>> import autograd_cy as ag
    >>> x = ag.tensor(1.0, requires_grad=True)
    >>> handle = x.register_hook(lambda g: g * 10)
    >>> (x * 2).backward()
    >>> x.grad
    tensor(20.)
    """
    if not self.requires_grad:
        raise RuntimeError("cannot register a hook on a tensor that doesn't require gradient")
    return hooks.register_tensor_hook(self, hook)


@method
@public
def register_post_accumulate_grad_hook(self, hook):
    """register_post_accumulate_grad_hook(hook) -> RemovableHandle: hook(leaf) is called when `.grad` has been added to.

    For leaves. The hook may change or clear the `.grad`; it returns nothing.

    >>> import autograd_cy as ag
    >>> x = ag.tensor(1.0, requires_grad=True)
    >>> handle = x.register_post_accumulate_grad_hook(lambda leaf: print(leaf.grad))
    >>> (x * 2).backward()
    tensor(2.)
    """
    if not self.requires_grad:
        raise RuntimeError("cannot register a hook on a tensor that doesn't require gradient")
    if not self.is_leaf:
        raise RuntimeError(
            f"post accumulate grad hooks cannot be registered on non-leaf tensors: this one was computed by {self.grad_fn!r}"
        )
    return hooks.register_post_accumulate_hook(self, hook)


def _hooks_attribute(name, kind, doc):
    """The property for the hooks of one kind, a dict by the id of their handle, or None."""

    def get(self):
        return hooks.hooks_of_kind(self, kind)

    @public
    def put(self, value):
        hooks.set_hooks_of_kind(self, kind, value)

    def delete(self):
        raise RuntimeError(f"Deletion of {name} not allowed! Set it to None.")

    extend(name, property(get, put, delete, doc))


_hooks_attribute("_backward_hooks", "tensor", "The hooks on the tensor by the id of their handle, or None.")
_hooks_attribute("_post_accumulate_grad_hooks", "post accumulate", "Those called after accumulation, or None.")


def warn_grad_of_non_leaf(tensor):
    """What reading the `.grad` of a computed tensor says."""
    warnings.warn(
        "The .grad attribute of a Tensor that is not a leaf Tensor is being accessed. Its .grad attribute won't be populated "
        "during autograd.backward(). If you indeed want the .grad field to be populated for a non-leaf Tensor, use "
        f".retain_grad() on it.{computed_by(tensor)}",
        UserWarning,
        stacklevel=2,
    )


def computed_by(tensor):
    """Who computed a tensor, as the end of a message; nothing of a view that has lost its place in the graph."""
    try:
        return f" It was computed by {tensor.grad_fn!r}."
    except RuntimeError:
        return ""


def _get_data(self):
    """The tensor's memory without history, as a tensor with a version of its own."""
    return data_of(self)


def _set_data(self, value):
    """Take over the memory of another tensor."""
    if not isinstance(value, Tensor):
        raise TypeError(f"Variable data has to be a tensor, but got {type(value).__name__}")
    if is_batched(self) or is_batched(value):
        raise RuntimeError("vmap: data can't be set within vmap: a tensor stands for all samples of a batch there")
    if self.is_meta is not value.is_meta or self.layout is not value.layout:
        raise RuntimeError(
            "Attempted to call `variable.set_data(tensor)`, but `variable` and `tensor` have incompatible tensor type."
        )
    if self.requires_grad and not (value.dtype.is_floating_point or value.dtype.is_complex):
        raise RuntimeError("data set to a tensor that requires gradients must be floating point or complex dtype")
    shape.replace_array(self, value)


def _keep_data(self):
    raise RuntimeError("Deleting tensor data is not allowed. Delete tensor instead!")


extend_overridable("data", property(_get_data, _set_data, _keep_data), on_values)


def _get_volatile(self):
    """What PyTorch had before no_grad(): always False."""
    warnings.warn("volatile was removed (Variable.volatile is always False)", UserWarning, stacklevel=2)
    return False


def _set_volatile(self, value):
    from ..autograd.variable import _VOLATILE  # few need it

    warnings.warn(_VOLATILE, UserWarning, stacklevel=2)


extend("volatile", property(_get_volatile, _set_volatile))


# sizes


@method
def size(self, dim=None):
    """size(dim=None) -> Size or int: the shape, or the size of one dimension."""
    return self.shape if dim is None else tuple.__getitem__(self.shape, dim)  # Size's method would add a frame to an error


@method
def dim(self):
    """dim() -> int: the number of dimensions."""
    return self.ndim


@method
def numel(self):
    """numel() -> int: the number of elements."""
    return metadata_of(self).size


@method
def nelement(self):
    """nelement() -> int: numel()."""
    return metadata_of(self).size


@method
def ndimension(self):
    """ndimension() -> int: dim()."""
    return self.ndim


@method
def element_size(self):
    """element_size() -> int: the bytes of one element."""
    return self.dtype.itemsize


@method
def stride(self, dim=None):
    """stride(dim=None) -> tuple or int: the distance of neighbours along each dimension, in elements."""
    array = metadata_of(self)
    if array.size:
        strides = tuple(step // array.itemsize for step in array.strides)
    else:  # NumPy has none
        strides = tuple(math.prod(size or 1 for size in array.shape[axis + 1 :]) for axis in range(array.ndim))
    return strides if dim is None else strides[dim]


@method
def is_contiguous(self, memory_format=None):
    """is_contiguous() -> bool: whether the elements are dense and in order, in C's unless `memory_format` is another."""
    if memory_format is not None and (wanted := checked(memory_format, "is_contiguous")) is not None:
        return is_dense_in(wanted, metadata_of(self))
    return metadata_of(self).flags.c_contiguous


@method
def data_ptr(self):
    """data_ptr() -> int: the address of the first element; 0 if there is none."""
    array = array_of(self)
    return array.ctypes.data if array.size else 0


@method
def const_data_ptr(self):
    """const_data_ptr() -> int: data_ptr()."""
    return data_ptr(self)


@method
def is_floating_point(self):
    """is_floating_point() -> bool: whether the dtype is a real floating point type."""
    return self.dtype.is_floating_point


@method
def is_complex(self):
    """is_complex() -> bool: whether the dtype is a complex type."""
    return self.dtype.is_complex


@method
def is_signed(self):
    """is_signed() -> bool: whether the dtype has numbers below 0."""
    return self.dtype.is_signed


@method
def is_conj(self):
    """is_conj() -> bool: False: conj() computes at once, and marks nothing."""
    return False


@method
def is_neg(self):
    """is_neg() -> bool: False: no tensor is marked as negated."""
    return False


@method
@public
def is_nonzero(self):
    """is_nonzero() -> bool: whether the only element is not 0; RuntimeError if there is not exactly one."""
    return bool(self)


@method
@public
def is_same_size(self, other):
    """is_same_size(other) -> bool: whether the other tensor has the same shape."""
    return self.shape == other.shape


@method
@public
def is_set_to(self, tensor):
    """is_set_to(tensor) -> bool: whether the other tensor is the same memory in the same form."""
    same = self.shape == tensor.shape and self.stride() == tensor.stride()
    return same and self.dtype is tensor.dtype and self.data_ptr() == tensor.data_ptr()


@method
def dim_order(self):
    """dim_order() -> tuple of ints: the dimensions as they follow each other in memory, the outermost first."""
    steps = self.stride()
    return tuple(sorted(range(self.ndim), key=lambda axis: (-steps[axis], axis)))


@method
def get_device(self):
    """get_device() -> int: the number of the GPU; -1 for a tensor on the CPU, as all are."""
    return -1


@method
def is_pinned(self, device=None):
    """is_pinned() -> bool: False: no memory is pinned."""
    return False


@method
@public
def share_memory_(self):
    """share_memory_() -> Tensor: itself, its memory moved to where processes that it is sent to have it, too.

    What one of them writes the others see. Forked processes have it without being sent it. Views move along; NumPy arrays on
    the memory stay where they are.
    """
    from .._memory.shared import share  # for those who share memory
    from ..multiprocessing.reductions import _send_in_place

    share([self])
    _send_in_place(type(self))
    return self


@method
def is_shared(self):
    """is_shared() -> bool: whether its memory is one that share_memory_() made."""
    from .._memory.shared import place_of  # for those who share memory

    return place_of(self) is not None


@method
def is_distributed(self):
    """is_distributed() -> bool: False."""
    return False


@method
@public
def pin_memory(self, device=None):
    """pin_memory() -> Tensor: an error, as there is no accelerator."""
    raise RuntimeError("Cannot access accelerator device when none is available.")


@method
def untyped_storage(self):
    """untyped_storage() -> UntypedStorage: the memory that the tensor is a part of, as bytes."""
    from ..storage._untyped import storage_of  # for those who have storages

    return storage_of(self)


@method
def storage(self):
    """storage() -> TypedStorage: the memory that the tensor is a part of, as elements of its dtype; deprecated."""
    from ..storage._typed import _warn_typed_storage_removal, typed_storage_of

    found = typed_storage_of(self)
    _warn_typed_storage_removal(2)
    return found


def _refused_set(call, self, *args, **kwargs):
    raise RuntimeError("vmap: set_() is not possible within vmap: a tensor stands for all samples of a batch there")


@method
def _typed_storage(self):
    """_typed_storage() -> TypedStorage: storage(), without the word that it is deprecated."""
    from ..storage._typed import typed_storage_of

    return typed_storage_of(self)


@method
def storage_type(self):
    """storage_type() -> type: FloatStorage, or the like for the tensor's dtype, None if there is none; deprecated."""
    from .. import storage
    from ..storage._names import STORAGES

    found = getattr(storage, STORAGES.get(self.dtype.name, ""), None)
    storage._warn_typed_storage_removal(2)
    return found


@partial(method, batch=_refused_set)
@public
def set_(self, source=None, storage_offset=None, size=None, stride=None):
    """set_(source=None, storage_offset=0, size=None, stride=None) -> Tensor: the tensor itself, on other memory.

    source: a tensor or a storage; without one the tensor has no elements. RuntimeError for a leaf that requires grad, unless
    under no_grad(). No gradient leads through set_().
    """
    from ..storage._setting import put_on

    return put_on(self, source, storage_offset, size, stride)


@method
def to_dense(self, dtype=None, *, masked_grad=None):
    """to_dense(dtype=None) -> Tensor: a sparse tensor with all its elements; a dense one itself, or converted."""
    return self if dtype is None else self.to(dtype)


def _sparse_gradient(indices, values, sizes):
    """A sparse gradient, whose module is imported when it is asked for."""
    return importlib.import_module(f"{PACKAGE}.sparse._gradients").sparse_gradient(indices, values, sizes)


declare_gradient(_sparse_gradient)


@attribute
def _cdata(self):
    """A number that no other living tensor has."""
    return id(self)


@attribute
def itemsize(self):
    """The bytes of one element."""
    return self.dtype.itemsize


@attribute
def nbytes(self):
    """The bytes of all elements."""
    return metadata_of(self).nbytes


@attribute
def layout(self):
    """How the elements are stored: strided, but for sparse tensors."""
    from .._types.layout import strided  # few need it

    return strided


@attribute
def device(self):
    """Where the tensor lives: the CPU."""
    return Device("cpu")


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


# conversions


@partial(method, batch=on_first_value)
@public
def to(self, *args, dtype=None, device=None, copy=False, non_blocking=False, memory_format=None):
    """to(dtype | device | other) -> Tensor: in another dtype; itself if nothing changes and copy is False."""
    if len(args) > 1 and isinstance(args[0], (str, Device)) and isinstance(args[1], bool):
        raise TypeError(
            f"to() received an invalid combination of arguments - got ({type(args[0]).__name__}, bool), but expected one of: "
            "(device, dtype, non_blocking, copy), (dtype, non_blocking, copy), (other, non_blocking, copy)"
        )
    for argument in args:
        if isinstance(argument, Tensor):
            dtype, device = argument.dtype, argument.device
        elif isinstance(argument, (str, int, Device)) and not isinstance(argument, bool):
            device = argument
        elif argument is not None and not isinstance(argument, bool):
            dtype = argument
    if device is not None:
        if Device(device).type == "meta":
            return _moved_to_meta(shape.convert(self, self.dtype if dtype is None else convert(dtype)))
        on_cpu(device)
    wanted = self.dtype if dtype is None else convert(dtype)
    flags = [argument for argument in args if isinstance(argument, bool)]  # non_blocking, and whether to copy
    copy = copy or flags[1:2] == [True]
    if memory_format is not None:
        return _in_format(shape.convert(self, wanted), memory_format, "to", copy and wanted is self.dtype)
    return self.clone() if copy and wanted is self.dtype else shape.convert(self, wanted)


def _moved_to_meta(self):
    from .meta import like  # for those who want tensors without elements

    return like(self)


def _in_format(self, memory_format, name, copy=False):
    """The tensor with its dimensions in that order in memory; itself if it suggests that, unless it is to be a copy."""
    wanted = checked(memory_format, name)
    if copy or not (wanted is None or suggested(metadata_of(self)) is wanted):
        return self.clone(memory_format=memory_format)
    return self


def _cast(name, dtype):
    def cast(self, memory_format=None):
        y = shape.convert(self, dtype)
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
        return hooks.legacy_type_name(self)
    return self.to(_dtype_of_type(dtype))


_TYPES_WITHOUT_CLASS = {
    "ComplexFloatTensor": _by_name["complex64"], "ComplexDoubleTensor": _by_name["complex128"],
    "UInt16Tensor": _by_name["uint16"], "UInt32Tensor": _by_name["uint32"], "UInt64Tensor": _by_name["uint64"],
    "LongDoubleTensor": _by_name.get("longdouble", _by_name["float64"]),
}  # fmt: skip


def _dtype_of_type(kind):
    """The dtype that FloatTensor, 'torch.FloatTensor' or Tensor (the default one) stands for; anything else as it is."""
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


@attribute
def is_cpu(self):
    """Whether the tensor lives on the CPU: yes."""
    return True


def _absent(name, what):
    """An attribute that is False: there is no such thing here."""

    def get(self):
        return False

    get.__name__, get.__doc__ = name, f"Whether the tensor {what}: no."
    return attribute(get)


for _name, _what in {
    "is_cuda": "lives on a GPU", "is_meta": "has no memory", "is_mkldnn": "is laid out for MKL-DNN",
    "is_mps": "lives on a Mac's GPU",
    "is_nested": "is nested", "is_quantized": "is quantized", "is_sparse": "is sparse", "is_sparse_csr": "is sparse, in rows",
    "is_xpu": "lives on a GPU of Intel's",
}.items():  # fmt: skip
    _absent(_name, _what)


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


extend_overridable("numpy", numpy)


def check_without_tangent(tensor):
    """Refuse to share memory where a tangent would be lost in silence."""
    if get_tangent(tensor) is not None:
        raise RuntimeError(
            "Can't share the memory of a Tensor that has a tangent, which would be lost. Use tensor.detach().numpy() instead."
        )


@method
def __array__(self, dtype=None, copy=None):
    try:
        check_without_tangent(self)
        array = self.numpy()
    except BaseException as error:
        show_one_frame(error)
        raise
    if dtype is not None and array.dtype != dtype:
        if copy is False:
            raise ValueError(f"a tensor of {self.dtype} can't be an array of {dtype} without a copy")
        return array.astype(dtype)
    return array.copy() if copy else array


@method
def __array_ufunc__(self, ufunc, method, *inputs, **kwargs):
    from .. import _numpy  # for those who call NumPy's functions

    return _numpy.call_ufunc(ufunc, method, inputs, kwargs)


@method
def __array_function__(self, func, types, args, kwargs):
    from .. import _numpy

    return _numpy.call_function(func, args, kwargs)


@method
def __array_namespace__(self, /, *, api_version=None):
    from .. import array_api  # for those who write for any library

    known = ("2021.12", "2022.12", "2023.12", array_api.__array_api_version__)
    if api_version is not None and api_version not in known:
        raise ValueError(f"unknown version {api_version!r} of the Array API standard: there are {', '.join(known)}")
    return array_api


def _check_exported(self):
    if self.requires_grad:
        raise BufferError("Can't export tensors that require gradient, use tensor.detach()")
    if get_tangent(self) is not None:
        raise BufferError("Can't export tensors that have a tangent, use tensor.detach()")


@method
def __dlpack__(self, *, stream=None, max_version=None, dl_device=None, copy=None):
    _check_exported(self)
    options = {"stream": stream, "max_version": max_version, "dl_device": dl_device, "copy": copy}
    if self.dtype is _by_name["bfloat16"]:
        from .._creation import dlpack  # few need it

        return dlpack.exported(self.numpy(), **options)
    return self.numpy().__dlpack__(**options)


@method
def __dlpack_device__(self):
    return self.numpy(force=True).__dlpack_device__()


def _check_readable(self):
    """Refuse to read a number of a tensor that stands for all samples of a batch."""
    if is_batched(self):
        raise RuntimeError(
            "vmap: It looks like you're calling .item() on a Tensor. We don't support vmap over calling .item() on a Tensor, "
            "please try to rewrite what you're doing with other operations."
        )


@method
def item(self):
    """item() -> number: the only element; RuntimeError if there is not exactly one."""
    _check_readable(self)
    if self.numel() != 1:
        raise RuntimeError(f"a Tensor with {self.numel()} elements cannot be converted to Scalar")
    return array_of(self).item()


@method
def tolist(self):
    """tolist() -> list or number: the elements as nested lists of numbers; of a 0-d tensor, its number."""
    return array_of(self).tolist()


def _scalar(self, kind):
    _check_readable(self)
    if self.numel() != 1:
        raise ValueError(f"only one element tensors can be converted to Python scalars: this one has {self.numel()}")
    if self.requires_grad or get_tangent(self) is not None:
        warn_once(
            "Converting a tensor with requires_grad=True to a scalar may lead to unexpected behavior. Consider using "
            "tensor.detach() first.",
        )
    number = array_of(self).item()
    if self.is_complex() and kind is not complex:
        if number.imag:
            raise RuntimeError(f"value cannot be converted to type {kind.__name__} without overflow: it is {number}")
        number = number.real
    return kind(number)


@method
def __float__(self):
    return _scalar(self, float)


@method
def __int__(self):
    return _scalar(self, int)


@method
def __complex__(self):
    return _scalar(self, complex)


@method
def __index__(self):
    if is_batched(self):
        return self.item()
    if self.dtype.is_floating_point or self.dtype.is_complex or self.numel() != 1:
        raise TypeError("only integer tensors of a single element can be converted to an index")
    return int(array_of(self).item())


@method
def __bool__(self):
    if is_batched(self):
        raise RuntimeError(
            "vmap: It looks like you're attempting to use a Tensor in some data-dependent control flow. We don't support "
            "that: torch.where() chooses between two values for each sample."
        )
    if self.numel() == 0:
        raise RuntimeError("Boolean value of Tensor with no values is ambiguous")
    if self.numel() > 1:
        raise RuntimeError("Boolean value of Tensor with more than one value is ambiguous")
    return bool(array_of(self).item())


@method
def __iter__(self):
    if self.ndim == 0:
        raise TypeError("iteration over a 0-d tensor")
    return iter(self.unbind(0))


@method
def __reversed__(self):
    return self.flip(0) if self.ndim else self


@method
def __contains__(self, element):
    if not isinstance(element, (Tensor, int, float, complex)):
        raise RuntimeError(f"Tensor.__contains__ only supports Tensor or scalar, but you passed in a {element.__class__}.")
    return bool((self == element).any())


method(allclose)
method(equal)


@method
def __pos__(self):
    return self


@method
def __format__(self, spec):
    if self.ndim == 0:
        return format(self.item(), spec)
    return object.__format__(self, spec)


@method
def __repr__(self):
    from .text import tensor_repr  # for those who print

    return tensor_repr(self)


# pickle and copy


def _rebuild(array, requires_grad, grad, attributes=None, kind=Tensor):
    tensor = from_array(array)
    if kind is not Tensor:
        tensor = Tensor._make_subclass(kind, tensor)
    tensor.requires_grad = requires_grad
    tensor.grad = grad
    if attributes:
        vars(tensor).update(attributes)
    return tensor


def _rebuild_in_order(array, axes, *others):
    return _rebuild(array.transpose(axes), *others)


_rebuild.__module__ = _rebuild_in_order.__module__ = __package__  # as pickles name them


@method
def __reduce_ex__(self, protocol):
    from ..utils.hooks import warn_if_has_hooks  # for those who pickle

    warn_if_has_hooks(self)
    grad = self.grad if self.is_leaf else None
    if grad is not None and grad.requires_grad:
        grad = grad.detach()
    array, others = array_of(self), (self.requires_grad, grad, vars(self) or None, type(self))
    axes = axes_in_memory(array)
    if array.ndim > 2 and axes != sorted(axes):  # NumPy's pickles know C and Fortran order alone
        return _rebuild_in_order, (np.ascontiguousarray(array.transpose(axes)), np.argsort(axes).tolist(), *others)
    return _rebuild, (array, *others)


@method
def __copy__(self):
    return _rebuild(array_of(self), self.requires_grad, None, vars(self), type(self))


@method
def __deepcopy__(self, memo):
    from copy import deepcopy  # who calls this has imported it

    from .._memory.moves import copied

    if id(self) in memo:
        return memo[id(self)]
    if not self.is_leaf:
        raise RuntimeError(
            "Only Tensors created explicitly by the user (graph leaves) support the deepcopy protocol at the moment. "
            f"This one was computed by {self.grad_fn!r}; take detach().clone()."
        )
    grad = None if self.grad is None else deepcopy(self.grad, memo)
    memo[id(self)] = result = _rebuild(copied(array_of(self), memo), self.requires_grad, grad, kind=type(self))
    if vars(self):
        vars(result).update(deepcopy(vars(self), memo))
    return result


# new tensors like this one


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


# operations


for _op in OPS.values():
    for _method in _op.methods:
        extend(_method, _op.function)


def _metadata(shape, dtype):
    """What an entry of a node's `_input_metadata` is."""
    from ..autograd._node import InputMetadata  # few ask

    return InputMetadata(shape, dtype)


node.set_metadata_function(_metadata)
extend("Size", Size)
extend("construct", construct)
extend("check_without_tangent", check_without_tangent)
extend("warn_grad_of_non_leaf", warn_grad_of_non_leaf)
mark_missing_methods()
