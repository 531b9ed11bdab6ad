"""How Tensors go to other processes: not their elements, but where in shared memory they are (facade)."""

from multiprocessing import reduction as _reduction
from multiprocessing.reduction import ForkingPickler
from typing import Any

import numpy as np

from .._core.graph.tensor import Tensor
from .._core.graph.tensor import array_of as _array_of
from .._core.graph.tensor import from_array as _from_array
from .._memory import shared as _shared_memory

__all__ = ["ForkingPickler", "init_reductions", "rebuild_tensor", "reduce_tensor"]


def _refuse_history(tensor: Tensor) -> None:
    """RuntimeError for a computed tensor, whose graph would be lost."""
    if tensor.requires_grad and not tensor.is_leaf:
        raise RuntimeError(
            "Cowardly refusing to serialize non-leaf tensor which requires_grad, since autograd does not support crossing "
            "process boundaries.  If you just want to transfer the data, call detach() on the tensor before serializing "
            f"(e.g., putting it on the queue). The tensor of shape {tuple(tensor.shape)} was computed by {tensor.grad_fn!r}."
        )


def reduce_tensor(tensor: Tensor) -> Any:
    """``reduce_tensor(tensor)`` moves its memory to where the other process has it, too, and says where that is.

    RuntimeError for a computed tensor that requires grad. The gradient stays behind.
    """
    _refuse_history(tensor)
    if not _shared_memory.CAN_SHARE or tensor.numel() == 0:
        return tensor.__reduce_ex__(5)
    from ..utils.hooks import warn_if_has_hooks  # for those who send tensors

    warn_if_has_hooks(tensor)
    _shared_memory.share([tensor])
    place, array = _shared_memory.place_of(tensor), _array_of(tensor)
    assert place is not None
    block, start, size = place
    offset = array.ctypes.data - block.part(start, size).ctypes.data
    what = (array.dtype.str, array.shape, array.strides, offset)
    return rebuild_tensor, (type(tensor), (block, start, size), what, tensor.requires_grad, vars(tensor) or None)


def rebuild_tensor(kind: type[Tensor], place: Any, what: Any, requires_grad: bool, attributes: Any) -> Tensor:
    """``rebuild_tensor(...)`` is the tensor that reduce_tensor() told of."""
    (block, start, size), (dtype, shape, strides, offset) = place, what
    tensor = _from_array(np.ndarray(shape, dtype, block.part(start, size), offset, strides))
    if kind is not Tensor:
        tensor = Tensor._make_subclass(kind, tensor)
    tensor.requires_grad = requires_grad
    if attributes:
        vars(tensor).update(attributes)
    return tensor


def _reduce_block(block: _shared_memory.SharedBlock) -> Any:
    return _rebuild_block, (_reduction.DupFd(block.descriptor),)


def _rebuild_block(descriptor: Any) -> _shared_memory.SharedBlock:
    return _shared_memory.block_at(descriptor.detach())


def _send_in_place(kind: type[Tensor]) -> None:
    """Instances of a subclass of Tensor, which has no say in its pickles, go as Tensors do."""
    if kind.__reduce_ex__ is Tensor.__reduce_ex__ and kind.__reduce__ is object.__reduce__:
        ForkingPickler.register(kind, reduce_tensor)


def init_reductions() -> None:
    """``init_reductions()`` lets Python's multiprocessing send tensors so; to import torch.multiprocessing does it."""
    ForkingPickler.register(_shared_memory.SharedBlock, _reduce_block)
    ForkingPickler.register(Tensor, reduce_tensor)


init_reductions()
