"""Ready-made packers: hooks that reduce the memory of saved tensors (facade)."""

import os
import weakref
from typing import Any

import numpy as np

from .._core.graph.tensor import Tensor, array_of, from_array
from ._saved_hooks import saved_tensors_hooks

__all__ = ["save_as_half", "save_on_disk"]


class _Kept:
    """A leaf, which is in memory anyway, kept as it is with its version."""

    __slots__ = ("tensor", "version")

    def __init__(self, tensor: Tensor):
        self.tensor, self.version = tensor, tensor._version

    def read(self) -> Tensor:
        if self.tensor._version != self.version:
            raise RuntimeError(
                "one of the variables needed for gradient computation has been modified by an inplace operation: a leaf of "
                f"shape {list(self.tensor.shape)} is at version {self.tensor._version}; expected version {self.version} "
                "instead. Write to a clone() of it, or after backward()."
            )
        return self.tensor


class _File:
    """An array in a file, which is deleted with this object, at the latest at exit."""

    def __init__(self, array: np.ndarray[Any, Any], directory: str | os.PathLike[str] | None):
        import tempfile  # takes some milliseconds

        descriptor, self.path = tempfile.mkstemp(".npy", "autograd_cy-", directory)
        self._remove = weakref.finalize(self, _remove, self.path)
        with os.fdopen(descriptor, "wb") as file:
            np.save(file, array, allow_pickle=False)

    def read(self) -> Tensor:
        return from_array(np.load(self.path, allow_pickle=False))


def _remove(path: str) -> None:
    try:
        os.remove(path)
    except FileNotFoundError:
        pass


class save_on_disk(saved_tensors_hooks):
    """``with save_on_disk(directory=None):`` intermediate results saved for backward are kept in temporary files.

    The files are in ``directory`` (by default in tempfile's). They are deleted with the graph, or when backward
    releases the saved tensors. Leaves stay in memory, where they are anyway. OSError if a file can't be written or is gone.

    >>> import autograd_cy as ag
    >>> x = ag.ones(2, requires_grad=True)
    >>> with ag.autograd.graph.save_on_disk():
    ...     y = x.exp().sum()
    >>> y.backward()
    >>> x.grad
    tensor([2.7183, 2.7183])
    """

    def __init__(self, directory: str | os.PathLike[str] | None = None):
        def pack(tensor: Tensor) -> _Kept | _File:
            return _Kept(tensor) if tensor.is_leaf and tensor.requires_grad else _File(array_of(tensor), directory)

        super().__init__(pack, lambda packed: packed.read())


class save_as_half(saved_tensors_hooks):
    """``with save_as_half(compose=False):`` real intermediate results saved for backward are kept as float16.

    Gradients have that precision: 3 decimal digits, and inf from 65520 on. Backward sees the original dtype. Leaves, which
    are in memory anyway, stay as they are. With ``compose=True`` the outer pair of hooks packs the result.

    >>> import autograd_cy as ag
    >>> x = ag.ones(2, requires_grad=True)
    >>> with ag.autograd.graph.save_as_half():
    ...     y = x.exp()
    >>> y.grad_fn._saved_result.dtype, y.grad_fn._raw_saved_result.data.dtype
    (torch.float32, torch.float16)
    """

    def __init__(self, compose: bool = False):
        super().__init__(self._pack, self._unpack, compose=compose)

    @staticmethod
    def _pack(tensor: Tensor) -> _Kept | Tensor:
        if tensor.is_leaf and tensor.requires_grad:
            return _Kept(tensor)
        array = array_of(tensor)
        with np.errstate(over="ignore"):
            return from_array(array.astype(np.float16) if array.dtype.kind == "f" else array.copy())

    @staticmethod
    def _unpack(packed: _Kept | Tensor) -> Tensor:
        return packed.read() if isinstance(packed, _Kept) else packed  # the node converts it to the saved dtype
