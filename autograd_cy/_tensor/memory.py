"""Methods of Tensor about its memory: addresses, storages, sharing, pickles and copies (facade)."""

from functools import partial

import numpy as np

from .._core.arrays.buffers import axes_in_memory
from .._core.batching.rules import declare_write
from .._core.graph.tensor import Tensor, array_of, from_array
from .._core.runtime.entry import public
from .attaching import method


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
@public
def is_set_to(self, tensor):
    """is_set_to(tensor) -> bool: whether the other tensor is the same memory in the same form."""
    same = self.shape == tensor.shape and self.stride() == tensor.stride()
    if not same or self.dtype is not tensor.dtype:
        return False
    if self.numel() == 0:  # without an address
        return self.untyped_storage() is tensor.untyped_storage() and self.storage_offset() == tensor.storage_offset()
    return self.data_ptr() == tensor.data_ptr()


@method
@public
def share_memory_(self):
    """share_memory_() -> Tensor: itself, its memory moved to where processes that it is sent to have it, too.

    What one of them writes the others see. Forked processes have it without being sent it. Views move along; NumPy arrays on
    the memory stay where they are.
    """
    from .._memory.shared import share  # only needed here
    from ..multiprocessing.reductions import _send_in_place

    share([self])
    _send_in_place(type(self))
    return self


@method
def is_shared(self):
    """is_shared() -> bool: whether its memory is one that share_memory_() made."""
    from .._memory.shared import place_of  # only needed here

    return place_of(self) is not None


@method
@public
def pin_memory(self, device=None):
    """pin_memory() -> Tensor: an error, as there is no accelerator."""
    raise RuntimeError("Cannot access accelerator device when none is available.")


@method
def untyped_storage(self):
    """untyped_storage() -> UntypedStorage: the memory that the tensor is a part of, as bytes."""
    from ..storage._untyped import storage_of  # only needed here

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


declare_write(set_)


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
    from ..utils.hooks import warn_if_has_hooks  # only needed here

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
    from copy import deepcopy  # the caller has imported it

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
