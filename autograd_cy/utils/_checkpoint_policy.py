"""Selective checkpointing: which tensors are kept rather than computed again (facade)."""

import contextlib
import contextvars
import enum
import inspect
import weakref
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from .._core.graph.op_hooks import register_op_hook
from .._core.graph.tensor import Tensor
from .._core.ops.registry import OPS


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
    """A policy function, asked about each operation once, when it has computed its result."""

    def __init__(self, function: Callable[..., Any], checked: bool):
        self._function, self._checked = function, checked
        self._answers: weakref.WeakKeyDictionary[Any, bool] = weakref.WeakKeyDictionary()
        self._waiting: list[tuple[Any, Any, Tensor]] = []

    def observe(self, node: Any, inputs: tuple[Any, ...], outputs: Any) -> None:
        """Ask about an operation, and keep of its results what its own node has saved."""
        context = SelectiveCheckpointContext(is_recompute=False, op_output=outputs)
        op = operation_of(node)
        args, kwargs = arguments_of(op, node, inputs)
        answer = self._function(context, op, *args, **kwargs)
        self._answers[node] = answer if isinstance(answer, bool) else answer in _KEPT
        waiting, self._waiting = self._waiting, []
        for maker, place, tensor in waiting:
            if maker is node and self._answers[node]:
                place.kept = Kept(tensor, self._checked)

    def settle(self, place: Any, tensor: Tensor, node: Any) -> None:
        """Let a place keep the tensor that a node saves there, if that is so decided."""
        maker = tensor.grad_fn
        if maker is node:  # nobody was asked yet: a node saves before it is seen
            self._waiting.append((node, place, tensor))
        elif maker is not None and self._answers.get(maker):
            place.kept = Kept(tensor, self._checked)


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


@contextlib.contextmanager
def policy_in_force(policy: Policy) -> Iterator[None]:
    """While the function runs forward: the policy sees each operation, and what is saved."""
    with set_while(_policy, policy), register_op_hook(policy.observe, None):
        yield


class _Observed:
    """The context of the second run. Observed, operations save what they don't need, too: so they are, both times."""

    def __init__(self) -> None:
        self._handles: list[Any] = []

    def __enter__(self) -> None:
        self._handles.append(register_op_hook(lambda node, inputs, outputs: None, None))

    def __exit__(self, *exception: object) -> None:
        self._handles.pop().remove()


def arguments_of(op: Any, node: Any, inputs: tuple[Any, ...]) -> tuple[list[Any], dict[str, Any]]:
    """What an operation was called with, as its node knows it: in the order of its parameters, as far as they are told."""
    args = [_number(node, i) if x is None else x for i, x in enumerate(inputs)]
    if not callable(op):  # what an index does
        constants = [_constant(node, name, _UNTOLD) for name in ("dim", "index", "start", "end", "step")]
        return args + [value for value in constants if value is not _UNTOLD], {}
    parameters = list(inspect.signature(op).parameters.values())
    if parameters and parameters[0].name == "tensors":  # cat, stack
        args = [args]
    given = len(args)
    for parameter in parameters[given:]:
        value = _constant(node, parameter.name, _UNTOLD)
        if parameter.kind is not parameter.POSITIONAL_OR_KEYWORD or value is _UNTOLD:
            break
        args.append(value)
    while len(args) > given and args[-1] == parameters[len(args) - 1].default:
        args.pop()
    named = {p.name: _constant(node, p.name, p.default) for p in parameters if p.kind is p.KEYWORD_ONLY}
    return args, {p.name: named[p.name] for p in parameters if p.name in named and named[p.name] != p.default}


_UNTOLD = object()


def _constant(node: Any, name: str, default: Any) -> Any:
    """What a node has kept besides tensors under a name. To read a tensor here would begin the second run."""
    return default if f"_raw_saved_{name}" in dir(node) else getattr(node, f"_saved_{name}", default)


def _number(node: Any, position: int) -> Any:
    """The number in the place of a tensor, None if the node has not kept it."""
    for name in ("self",) if position == 0 else ("other", "exponent"):
        value = getattr(node, f"_saved_{name}", None)
        if value is not None:
            return value.item() if isinstance(value, Tensor) else value
    return None


def operation_of(node: Any) -> Any:
    """The public function that a node records (``mm`` for MmBackward0); its name where there is none."""
    name = node.name().rpartition(":")[2].partition("Backward")[0]
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

    For ``checkpoint(..., context_fn=functools.partial(create_selective_checkpoint_contexts, policy))``. Of each operation
    inside, ``policy(ctx, op, *args, **kwargs)`` says once, by a CheckpointPolicy (or a bool: whether to keep it), what becomes
    of its result, ``ctx.op_output``. ``op`` is the function, ``args`` and ``kwargs`` what it was called with, as far as its
    node knows (None: a number that no gradient needs). A list names the functions whose results are kept. What is kept is not
    held a second time, but its operation runs again if another tensor needs a second run. RuntimeError in backward if what was
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
    policy = Policy(function, not allow_cache_entry_mutation)
    return policy_in_force(policy), _Observed()
