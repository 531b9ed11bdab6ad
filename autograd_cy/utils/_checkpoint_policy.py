"""Selective checkpointing: which tensors are kept rather than computed again (facade)."""

import contextlib
import contextvars
import enum
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from .._core.registry import OPS
from .._core.tensor import Tensor


class CheckpointPolicy(enum.Enum):
    """What a policy function says about an operation's output: keep it, or compute it again in backward.

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
    """A tensor that is kept, with the version that it had."""

    __slots__ = ("_tensor", "_version")

    def __init__(self, tensor: Tensor, checked: bool):
        self._tensor, self._version = tensor.detach(), tensor._version if checked else None

    def read(self) -> Tensor:
        if self._version is not None and self._tensor._version != self._version:
            raise RuntimeError(
                "Tensor cached during selective activation checkpoint has been mutated: one of shape "
                f"{list(self._tensor.shape)} is at version {self._tensor._version}; expected version {self._version}. Pass "
                "allow_cache_entry_mutation=True if that is right."
            )
        return self._tensor


class Policy:
    """A policy function, asked about the operation that computed a tensor."""

    def __init__(self, function: Callable[..., Any], checked: bool):
        self._function, self._checked = function, checked

    def keeps(self, tensor: Tensor) -> bool:
        if tensor.grad_fn is None:
            return False
        context = SelectiveCheckpointContext(is_recompute=False, op_output=tensor)
        answer = self._function(context, operation_of(tensor.grad_fn))
        return answer if isinstance(answer, bool) else answer in _KEPT

    def keep(self, tensor: Tensor) -> Kept:
        return Kept(tensor, self._checked)


_policy: contextvars.ContextVar[Policy | None] = contextvars.ContextVar("checkpoint_policy", default=None)
current_policy = _policy.get


@contextlib.contextmanager
def set_while(variable: contextvars.ContextVar[Any], value: Any) -> Iterator[None]:
    """Give a context variable a value for the time of a with block."""
    previous = variable.get()
    variable.set(value)
    try:
        yield
    finally:
        variable.set(previous)


def operation_of(node: Any) -> Any:
    """The public function that a node records (``mm`` for MmBackward0); its name where there is none."""
    name = node.name().partition("Backward")[0]
    return _functions().get(_plain(name), name)


_found: dict[str, Any] = {}


def _functions() -> dict[str, Any]:
    if not _found:
        _found.update((_plain(row.name), row.function) for row in OPS.values())
    return _found


def _plain(name: str) -> str:
    return name.replace("_", "").lower()


def create_selective_checkpoint_contexts(
    policy_fn_or_list: Callable[..., Any] | Sequence[Callable[..., Any]], allow_cache_entry_mutation: bool = False
) -> tuple[Any, Any]:
    """``create_selective_checkpoint_contexts(policy_fn_or_list, allow_cache_entry_mutation=False)`` -> two contexts.

    For ``checkpoint(..., context_fn=functools.partial(create_selective_checkpoint_contexts, policy))``. For each tensor that
    is saved inside, ``policy(ctx, op)`` says by a CheckpointPolicy (or a bool: whether to keep it) what becomes of it; ``op``
    is the function that computed the tensor. A list names the functions whose results are kept. What is kept is not held a
    second time, but its operation runs again if another tensor needs a second run. RuntimeError in backward if what was
    kept is written meanwhile, unless that is allowed.

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
        for op in policy_fn_or_list:
            if not callable(op):
                raise ValueError(f"Expected op in `op_list` to be a function of this package but got: {op} of type {type(op)}")
        kept = list(policy_fn_or_list)

        def function(ctx: Any, op: Any, *args: Any, **kwargs: Any) -> bool:
            return op in kept

    else:
        raise TypeError(f"policy_fn_or_list must be either a function or a list of functions, not {policy_fn_or_list!r}")
    return set_while(_policy, Policy(function, not allow_cache_entry_mutation)), contextlib.nullcontext()
