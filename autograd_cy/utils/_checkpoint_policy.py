"""Selective checkpointing: a policy keeps some tensors instead of recomputing them (facade)."""

import contextlib
import contextvars
import enum
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from .._core.graph.tensor import Tensor
from .._core.ops.overrides import calls_handed_to
from ..autograd.grad_mode import no_grad
from ..random import default_generator
from ._pytree import tree_flatten, tree_leaves, tree_unflatten


class CheckpointPolicy(enum.Enum):
    """The answer of a policy function for an operation's output: keep it, or recompute it in backward.

    The MUST and PREFER kinds are the same here, and so are SAVE and CPU_OFFLOAD.

    >>> import autograd_cy as ag
    >>> ag.utils.checkpoint.CheckpointPolicy.MUST_SAVE
    <CheckpointPolicy.MUST_SAVE: 0>
    """

    MUST_SAVE = 0
    PREFER_SAVE = 1
    MUST_RECOMPUTE = 2
    PREFER_RECOMPUTE = 3
    MUST_CPU_OFFLOAD = 4
    PREFER_CPU_OFFLOAD = 5


_KEPT = {
    CheckpointPolicy.MUST_SAVE,
    CheckpointPolicy.PREFER_SAVE,
    CheckpointPolicy.MUST_CPU_OFFLOAD,
    CheckpointPolicy.PREFER_CPU_OFFLOAD,
}


class SelectiveCheckpointContext:
    """The first argument of a policy function: ``op_output`` is the tensor in question; ``is_recompute`` is always False.

    >>> import autograd_cy as ag
    >>> ag.utils.checkpoint.SelectiveCheckpointContext(is_recompute=False).op_output is None
    True
    """

    def __init__(self, *, is_recompute: bool, op_output: Any = None):
        self.is_recompute, self.op_output = is_recompute, op_output


class Kept:
    """A kept tensor with its version at that time."""

    __slots__ = ("_checked", "tensor", "version")

    def __init__(self, tensor: Tensor, checked: bool):
        self.tensor, self.version, self._checked = tensor.detach(), tensor._version, checked

    @property
    def is_written(self) -> bool:
        """Whether the tensor has been written to since."""
        return self.tensor._version != self.version

    def holds(self, tensor: Tensor) -> bool:
        """Whether it is that tensor in its current version."""
        return not self.is_written and _in_one_place(self.tensor, tensor)

    def read(self) -> Tensor:
        """The tensor; RuntimeError if it was written to, unless that is allowed."""
        if self._checked and self.is_written:
            raise RuntimeError(
                "Tensor cached during selective activation checkpoint has been mutated: one of shape "
                f"{list(self.tensor.shape)} is at version {self.tensor._version}; expected version {self.version}. Pass "
                "allow_cache_entry_mutation=True if that is right."
            )
        return self.tensor


class _Call:
    """A call of an operation in the first run; if its result is kept, the values that replace it in the second run."""

    __slots__ = ("function", "results", "saved", "spec")

    def __init__(self, function: Callable[..., Any]):
        self.function = function
        self.results: list[tuple[Any, bool]] | None = None  # Kept and requires_grad; other objects unchanged
        self.spec: Any = None
        self.saved: list[Any] = []  # by the operation, in order: the number of an argument, or Kept

    def keep(self, result: Any, checked: bool) -> None:
        leaves, self.spec = tree_flatten(result)
        self.results = [(Kept(x, checked), x.requires_grad) if isinstance(x, Tensor) else (x, False) for x in leaves]

    def kept(self) -> list[Kept]:
        """The kept tensors among its results."""
        return [x for x, _ in self.results or () if isinstance(x, Kept)]

    def result(self) -> Any:
        """Its result for the second run: leaves that require grad as in the first, so that the same is saved."""
        leaves = [x.read().detach().requires_grad_(wanted) if isinstance(x, Kept) else x for x, wanted in self.results or ()]
        return tree_unflatten(leaves, self.spec)


class _Again:
    """The context of second runs; there may be several."""

    def __init__(self, policy: "Policy") -> None:
        self._policy = policy
        self._open: list[contextlib.AbstractContextManager[None]] = []

    def __enter__(self) -> None:
        self._open.append(self._policy.second_run())
        self._open[-1].__enter__()

    def __exit__(self, *exception: Any) -> None:
        self._open.pop().__exit__(*exception)


class Policy:
    """A policy function, called once for each call of an operation; with the tensors that it keeps.

    A call with a kept result is not repeated: the second run gets that result, and the operation's saved tensors.
    Views and in-place operations are repeated, which costs little, and so are operations that draw random numbers.
    """

    def __init__(self, function: Callable[..., Any], checked: bool):
        self._function, self._checked = function, checked
        self._calls: list[_Call] = []
        self._kept: dict[int, Kept] = {}  # by its place in memory, which it keeps alive
        self._saving: list[tuple[Any, Tensor]] = []  # of the current call: the place and the tensor

    @contextlib.contextmanager
    def first_run(self) -> Iterator[None]:
        """The context of the first run."""
        with set_while(current_policy, self), calls_handed_to(self._call):
            yield
        self._saving = []
        for call in self._calls:
            if any(kept.is_written for kept in call.kept()):
                call.results = None

    def _call(self, function: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        self._saving = []
        state = _random_state()
        result = function(*args, **kwargs)
        saving, self._saving = self._saving, []
        call = _Call(function)
        self._calls.append(call)
        context = SelectiveCheckpointContext(is_recompute=False, op_output=result)
        with no_grad():
            answer = self._function(context, function, *args, **kwargs)
        if not (answer if isinstance(answer, bool) else answer in _KEPT):
            return result
        call.keep(result, self._checked)
        for kept in call.kept():
            self._kept[kept.tensor.data_ptr()] = kept
        operands = _tensors_of(args, kwargs)
        for place, tensor in saving:
            number = next((i for i, x in enumerate(operands) if _in_one_place(x, tensor)), None)
            if number is None:
                place.kept = next((kept for kept in call.kept() if kept.holds(tensor)), None) or Kept(tensor, self._checked)
            call.saved.append(place.kept if number is None else number)
        if _is_made_again(result, operands, kwargs) or state != _random_state():
            call.results = None
        return result

    def settle(self, place: Any, tensor: Tensor) -> None:
        """Make a place keep its saved tensor, if so decided."""
        self._saving.append((place, tensor))
        kept = self._kept.get(tensor.data_ptr())
        if kept is not None and kept.holds(tensor):
            place.kept = kept

    def second_run(self) -> contextlib.AbstractContextManager[None]:
        """The context of a second run."""
        calls = iter(self._calls)

        def repeat(function: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
            nonlocal calls
            call = next(calls, None)
            if call is None or call.function is not function:  # the runs differ: the check at the end reports it
                calls = iter(())
            elif call.results is not None:
                operands = _tensors_of(args, kwargs)
                for saved in call.saved:
                    pack_again.get()(operands[saved] if isinstance(saved, int) else saved.tensor, None, "")
                return call.result()
            return function(*args, **kwargs)

        return calls_handed_to(repeat)


def _tensors_of(args: tuple[Any, ...], kwargs: dict[str, Any]) -> list[Tensor]:
    return [x for x in tree_leaves((args, kwargs)) if isinstance(x, Tensor)]


def _in_one_place(x: Tensor, y: Tensor) -> bool:
    """Whether both are the same elements in memory."""
    return x is y or (x.data_ptr(), x.shape, x.stride(), x.dtype) == (y.data_ptr(), y.shape, y.stride(), y.dtype)


def _random_state() -> Any:
    return default_generator.numpy.bit_generator.state


def _is_made_again(result: Any, operands: list[Tensor], kwargs: dict[str, Any]) -> bool:
    """Whether a result is a view, or was written into an existing tensor."""
    made = [x for x in tree_leaves(result) if isinstance(x, Tensor)]
    return "out" in kwargs or any(x._is_view() or any(x is y for y in operands) for x in made)


current_policy: contextvars.ContextVar[Policy | None] = contextvars.ContextVar("checkpoint_policy", default=None)
# The current second run's function for a tensor that an operation saves.
pack_again: contextvars.ContextVar[Any] = contextvars.ContextVar("checkpoint_pack_again", default=None)


@contextlib.contextmanager
def set_while(variable: contextvars.ContextVar[Any], value: Any) -> Iterator[None]:
    """Set a context variable within a with block."""
    previous = variable.get()
    variable.set(value)
    try:
        yield
    finally:
        variable.set(previous)


# Set by `_ops`, which imports this module: the classes of its overloads and operations, and the overload of a call.
_overloads: dict[str, Any] = {}


def enter_overloads(overload: type, operation: type, of_call: Callable[..., Any]) -> None:
    """Allow overloads in lists of functions; of_call(function, args, kwargs) is the overload of a call."""
    _overloads.update(overload=overload, operation=operation, of_call=of_call)


def _check_list(ops: Sequence[Any]) -> None:
    for op in ops:
        if not callable(op):
            raise ValueError(
                f"Expected op in `op_list` to be an OpOverload or a function of this package but got: {op} of type {type(op)}"
            )
        if _overloads and isinstance(op, _overloads["operation"]):
            raise ValueError(
                f"Please update the OpOverloadPacket to a specific OpOverload: {op} has {', '.join(op.overloads())}"
            )


def create_selective_checkpoint_contexts(
    policy_fn_or_list: Callable[..., Any] | Sequence[Callable[..., Any]], allow_cache_entry_mutation: bool = False
) -> tuple[Any, Any]:
    """``create_selective_checkpoint_contexts(policy_fn_or_list, allow_cache_entry_mutation=False)`` -> two contexts.

    For ``checkpoint(..., context_fn=functools.partial(create_selective_checkpoint_contexts, policy))``. For each call of an
    operation inside, ``policy(ctx, op, *args, **kwargs)`` returns a CheckpointPolicy (or a bool: whether to keep it) for
    the result, ``ctx.op_output``. ``op`` is the called function (``matmul`` for ``x @ w``), with ``args`` and ``kwargs``.
    A list names functions, or overloads of torch.ops, with results to keep. Kept results are not recomputed, except
    views and in-place results. RuntimeError in backward if a kept tensor is written after the function, unless that is
    allowed.

    >>> import functools
    >>> import autograd_cy as ag
    >>> from autograd_cy.utils.checkpoint import checkpoint, create_selective_checkpoint_contexts
    >>> contexts = functools.partial(create_selective_checkpoint_contexts, [ag.exp])
    >>> x = ag.tensor(0.0, requires_grad=True)
    >>> checkpoint(lambda t: t.exp().sin(), x, use_reentrant=False, context_fn=contexts).backward()
    >>> x.grad
    tensor(0.5403)
    """
    if callable(policy_fn_or_list):
        function = policy_fn_or_list
    elif isinstance(policy_fn_or_list, (list, tuple)):
        _check_list(policy_fn_or_list)
        kept = list(policy_fn_or_list)
        among_overloads = _overloads and any(isinstance(op, _overloads["overload"]) for op in kept)

        def function(ctx: Any, op: Any, *args: Any, **kwargs: Any) -> bool:
            return op in kept or bool(among_overloads and _overloads["of_call"](op, args, kwargs) in kept)

    else:
        raise TypeError(f"policy_fn_or_list must be either a function or a list of ops. Got {policy_fn_or_list!r}")
    policy = Policy(function, not allow_cache_entry_mutation)
    return policy.first_run(), _Again(policy)
