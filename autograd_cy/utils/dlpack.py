"""DLPack capsules: memory shared with other libraries (facade)."""

from typing import Any

from .._core.graph.tensor import Tensor
from .._core.runtime.entry import public as _public
from .._creation.strided import from_dlpack

__all__ = ["from_dlpack", "to_dlpack"]


@_public
def to_dlpack(tensor: Tensor) -> Any:
    """``to_dlpack(t)`` is a capsule with the tensor's memory, that one other library can take once.

    BufferError for tensors that require grad. Functions that take tensors (most libraries' `from_dlpack`) need no capsule.

    >>> import autograd_cy as ag
    >>> from autograd_cy.utils.dlpack import from_dlpack, to_dlpack
    >>> from_dlpack(to_dlpack(ag.ones(2)))
    tensor([1., 1.])
    """
    return tensor.__dlpack__()
