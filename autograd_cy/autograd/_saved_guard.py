"""Writes to saved tensors: refused under guard_buffers(), allowed under allow_mutation_on_saved_tensors() (facade)."""

import contextlib
import contextvars
import weakref
from collections.abc import Iterator, MutableMapping
from typing import Any

import numpy as np

from .._core.graph.memory import add_watcher, memory_of, pop_guard, push_guard, remove_watcher, share_memory
from .._core.graph.tensor import Tensor, array_of, from_array
from ._saved_hooks import saved_tensors_hooks

__all__ = ["allow_mutation_on_saved_tensors", "guard_buffers"]


class guard_buffers:
    """``with guard_buffers(checksum=False):`` arrays saved for backward are read-only while they are needed.

    Until backward releases them, or the graph dies, writes through NumPy raise its ValueError (in PyTorch: a wrong
    gradient), and in-place operations raise RuntimeError; afterwards they are writeable again. A view taken of such an
    array before it was saved stays writeable: with ``checksum=True`` backward compares the values with a checksum, and
    raises RuntimeError if they changed.

    >>> import autograd_cy as ag
    >>> x = ag.ones(2, requires_grad=True)
    >>> with ag.autograd.graph.guard_buffers():
    ...     y = x.exp()
    >>> y.detach().numpy()[0] = 0.0
    Traceback (most recent call last):
    ValueError: assignment destination is read-only
    >>> y.sum().backward()
    >>> y.detach().numpy()[0] = 0.0
    """

    def __init__(self, checksum: bool = False):
        self._checksum = checksum

    def __enter__(self) -> "guard_buffers":
        push_guard(bool(self._checksum))
        return self

    def __exit__(self, *exception: object) -> None:
        pop_guard()


class _Handle:
    """A node's reference to a saved tensor that may be written."""

    __slots__ = ("__weakref__", "memory")

    def __init__(self, memory: int):
        self.memory = memory


class _AllowMutationOnSavedContext:
    """The tensors saved in an allow_mutation_on_saved_tensors() context: the originals, or clones after a write."""

    def __init__(self) -> None:
        self.original: MutableMapping[_Handle, Tensor] = weakref.WeakKeyDictionary()
        self.cloned: MutableMapping[_Handle, Tensor] = weakref.WeakKeyDictionary()
        self._by_memory: dict[int, weakref.WeakSet[_Handle]] = {}
        self._by_place: MutableMapping[tuple[Any, ...], _Handle] = weakref.WeakValueDictionary()

    def pack(self, tensor: Tensor) -> _Handle:
        """One handle for all saves of the same elements."""
        array = array_of(tensor)
        place = (array.ctypes.data, array.shape, array.strides, array.dtype, tensor._version)
        handle = self._by_place.get(place)
        if handle is None or handle not in self.original:
            handle = self._by_place[place] = _Handle(memory_of(array))
            self.original[handle] = from_array(array)
            self._by_memory.setdefault(handle.memory, weakref.WeakSet()).add(handle)
        return handle

    def unpack(self, handle: _Handle) -> Tensor:
        """AssertionError if the context has ended, as in PyTorch."""
        found = self.cloned.get(handle, self.original.get(handle))
        if found is None:
            raise AssertionError(
                "Trying to backward outside of the 'allow_mutation_on_saved_tensors' context in which the graph was "
                "originally recorded."
            )
        return found

    def before_write(self, array: "np.ndarray[Any, Any]") -> None:
        """Clone saved tensors on memory that will be written."""
        for handle in list(self._by_memory.get(memory_of(array), ())):
            tensor = self.original.get(handle)
            if tensor is not None and share_memory(array_of(tensor), array):
                self.cloned[handle] = from_array(array_of(tensor).copy(order="K"))
                del self.original[handle]

    def clear(self) -> None:
        """Drop the saved tensors: their backward is an error from now on."""
        self.original.clear()
        self.cloned.clear()
        self._by_memory.clear()


_entered: contextvars.ContextVar[bool] = contextvars.ContextVar("allow_mutation_on_saved_tensors", default=False)


@contextlib.contextmanager
def allow_mutation_on_saved_tensors() -> Iterator[_AllowMutationOnSavedContext]:
    """``with allow_mutation_on_saved_tensors():`` saved tensors may be written in place; they are cloned first.

    Backward must run inside, too, else AssertionError. RuntimeError if contexts are nested. Writes through NumPy are not
    noticed. The value has ``original`` and ``cloned``: the saved tensors that are unchanged, and the cloned ones.

    >>> import autograd_cy as ag
    >>> x = ag.ones(2, requires_grad=True)
    >>> with ag.autograd.graph.allow_mutation_on_saved_tensors() as ctx:
    ...     y = x.exp()
    ...     z = y.sum()
    ...     _ = y.detach().zero_()
    ...     len(ctx.cloned)
    ...     z.backward()
    1
    >>> x.grad
    tensor([2.7183, 2.7183])
    """
    if _entered.get():
        raise RuntimeError("allow_mutation_on_saved_tensors contexts cannot be nested")
    context = _AllowMutationOnSavedContext()
    _entered.set(True)
    add_watcher(context.before_write)
    try:
        with saved_tensors_hooks(context.pack, context.unpack):
            yield context
    finally:
        _entered.set(False)
        remove_watcher(context.before_write)
        context.clear()
