"""The state of one call of checkpoint(): how to run it again, and the values that its graph needs (facade).

NOTE [Checkpoint]
  1. While the function runs forward, each tensor to be saved is replaced by a Place with its number in the order of
     saving. The graph holds the Places, the Frame holds them weakly: a Place that the graph released is not needed.
  2. When backward asks for a Place, the function runs again with the saved arguments. What it saves, in the same order, are
     the values for the Places. Nothing is kept for dead Places.
  3. The second run ends as soon as it has saved as many tensors as the first (early stop): by an exception from the pack
     hook, which the function can't catch by accident.
  4. The values belong to one backward, and go with its end. When it comes to another node, those of the node before are
     dropped; a further request runs the function again.
  5. A checkpoint inside a checkpoint saves its arguments by the outer Frame, so the outer function runs again first. If the
     function itself calls backward, the first run isn't complete; the second then stops at the same point.
"""

import weakref
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

from .._core.engine.engine import current_graph_task_id, queue_callback
from .._core.graph.tensor import Tensor, from_array
from ..autograd._saved_hooks import saved_tensors_hooks
from ..autograd.function import Function
from ..autograd.grad_mode import enable_grad
from ._checkpoint_errors import Trace, different_metadata, different_number, too_many
from ._checkpoint_policy import Kept, current_policy, pack_again, set_while


class StopRecomputation(BaseException):
    """Ends a complete second run. Not an Exception, so that the function doesn't catch it by accident."""


class Place:
    """The graph's reference to a tensor that will be recomputed, or that a policy keeps."""

    __slots__ = ("__weakref__", "kept", "number")

    def __init__(self, number: int):
        self.number = number
        self.kept: Kept | None = None


class _KeepArguments(Function):
    """Keeps tensor arguments as saved tensors, so that hooks around the checkpoint may pack them."""

    @staticmethod
    def forward(ctx: Any, anchor: Tensor, *args: Any) -> Tensor:
        ctx.save_for_backward(*[x for x in args if isinstance(x, Tensor)])
        return anchor.detach()

    @staticmethod
    def backward(ctx: Any, g: Tensor) -> None:
        raise AssertionError("Did not expect to backward on this graph")

    @staticmethod
    def jvp(ctx: Any, *tangents: Any) -> None:
        """No tangent: nothing is computed from the arguments, which carry their own tangents."""


class Values:
    """The values recomputed for one backward, by Place, with the node that received them last."""

    def __init__(self) -> None:
        self.tensors: weakref.WeakKeyDictionary[Place, Tensor] = weakref.WeakKeyDictionary()
        self._node: Any = None
        self._handed: list[weakref.ref[Place]] = []

    def hand_out(self, place: Place) -> Tensor:
        """The value for a place; case 4 of NOTE [Checkpoint]."""
        self._handed.append(weakref.ref(place))
        return self.tensors[place]

    def come_to(self, node: Any) -> None:
        """Drop values that another node received."""
        if node is None or self._node is None or self._node() is not node:
            for ref in self._handed:
                place = ref()
                if place is not None:
                    self.tensors.pop(place, None)
            self._handed.clear()
            self._node = None if node is None else weakref.ref(node)


class Frame:
    """One call of checkpoint(); see NOTE [Checkpoint]."""

    def __init__(self, run: Callable[..., Any], args: tuple[Any, ...], early_stop: bool, check: bool, debug: bool):
        self._run, self._early_stop, self._check = run, early_stop, check
        self._template = [None if isinstance(x, Tensor) else x for x in args]
        self._positions = [i for i, x in enumerate(args) if isinstance(x, Tensor)]
        self._keeper = _KeepArguments.apply(from_array(np.empty(0)).requires_grad_(), *args)
        self._places: list[weakref.ref[Place]] = []
        self._metadata: list[dict[str, Any]] = []
        self._values: dict[int, Values] = {}
        self._finished = False
        self._trace = Trace() if debug else None

    @contextmanager
    def first_run(self) -> Iterator[None]:
        """The context of the first run."""
        with saved_tensors_hooks(self._pack, self._unpack, with_node=True), set_while(current_policy, None):
            yield
        self._finished = True

    def _pack(self, tensor: Tensor, node: Any, slot: str) -> Any:
        policy = current_policy.get()
        place = Place(len(self._places))
        self._places.append(weakref.ref(place))
        self._metadata.append(_metadata(tensor) if self._check else {})
        if self._trace is not None:
            self._trace.note(node, slot, tensor)
        if policy is not None:
            policy.settle(place, tensor)
        return place

    def _unpack(self, packed: Place, node: Any, slot: str) -> Tensor:
        if packed.kept is not None:
            return packed.kept.read()
        task = current_graph_task_id()
        values = self._values.get(task)
        if values is None or task < 0:
            self._values = {task: Values()}
            values = self._values[task]
            if task >= 0:
                queue_callback(self._values.clear)
        values.come_to(node)
        if packed not in values.tensors:
            self._run_again(values)
        value = values.hand_out(packed)
        if task < 0:
            self._values.clear()
        return value

    def _run_again(self, values: Values) -> None:
        second = _SecondRun(self, values)
        args = list(self._template)
        for position, tensor in zip(self._positions, self._keeper.grad_fn.saved_tensors, strict=True):
            args[position] = tensor
        try:
            with saved_tensors_hooks(second.pack, _same, with_node=True), set_while(pack_again, second.pack), enable_grad():
                self._run(*args)
        except StopRecomputation as stop:
            if stop.args[0] is not second:
                raise
        second.check()


class _SecondRun:
    """The second run of the function: it fills the Places in the order of saving."""

    def __init__(self, frame: Frame, values: Values):
        self._frame, self._values, self._expected = frame, values, len(frame._places)
        self._count = 0
        self._different: list[tuple[int, Any, Any]] = []
        self._trace = Trace() if frame._trace is not None else None

    def pack(self, tensor: Tensor, node: Any, slot: str) -> Tensor:
        """Keep a value whose Place is alive; the graph of the second run keeps it, too."""
        frame, number = self._frame, self._count
        value = tensor.detach() if tensor.requires_grad else tensor
        self._count += 1
        if self._trace is not None:
            self._trace.note(node, slot, tensor)
        if number >= self._expected:
            if frame._finished:
                raise too_many(frame._trace, self._trace)
            return value
        place = frame._places[number]()
        if place is not None and place.kept is None:
            if frame._check and _metadata(value) != frame._metadata[number]:
                self._different.append((number, frame._metadata[number], _metadata(value)))
            self._values.tensors[place] = value
        if frame._early_stop and self._count == self._expected:
            raise StopRecomputation(self)
        return value

    def check(self) -> None:
        """CheckpointError if the second run differs from the first."""
        if self._count != self._expected and (self._frame._finished or self._count < self._expected):
            raise different_number(self._expected, self._count, self._frame._trace, self._trace)
        if self._different:
            raise different_metadata(self._different, self._frame._trace, self._trace)


def _same(tensor: Tensor, node: Any, slot: str) -> Tensor:
    return tensor


def _metadata(tensor: Tensor) -> dict[str, Any]:
    return {"shape": tensor.shape, "dtype": tensor.dtype, "device": tensor.device}
