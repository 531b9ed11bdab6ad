"""The calls that a backward would make, in order, without running it (facade)."""

import inspect
from typing import Any, NamedTuple

from .._core.engine.engine import planned_order
from .._core.graph.record import hooks_in_order, op_hooks
from .gradients import _as_tuple, _values_of

_ARROWS = {"accumulate": "adds to .grad", "run": "runs"}


class HookCall(NamedTuple):
    """One call that a backward would make: its kind, the node, the function, and the function's place.

    kind: 'tensor', 'retain_grad', 'node pre', 'post accumulate', 'node post', 'op', or, for the node's own work, 'run' or
    'accumulate' (without a function).

    >>> import autograd_cy as ag
    >>> y = ag.ones(1, requires_grad=True) * 2
    >>> y.retain_grad()
    >>> call = ag.autograd.graph.explain_hooks(y)[0]
    >>> call.kind, call.node, call.tensor is y
    ('retain_grad', <MulBackward0>, True)
    """

    kind: str
    node: Any
    output_nr: int | None
    tensor: Any
    hook: Any
    name: str
    location: str

    def __str__(self) -> str:
        what = self.name or _ARROWS.get(self.kind, "keeps .grad")
        place = f" ({self.location})" if self.location else ""
        output = f" output {self.output_nr}" if self.output_nr else ""
        name = repr(self.node)[1:-1]
        return f"{name}{output}: {self.kind} {what}{place}" if self.hook else f"{name}{output} {what}"


class HookPlan(list[HookCall]):
    """The calls in order; as a string, one on each line.

    >>> import autograd_cy as ag
    >>> plan = ag.autograd.graph.explain_hooks(ag.ones(1, requires_grad=True) * 2)
    >>> [call.kind for call in plan]
    ['run', 'accumulate']
    """

    def __str__(self) -> str:
        return "\n".join(map(str, self))


def explain_hooks(tensors: Any, inputs: Any = None, *, accumulate: bool = True) -> HookPlan:
    """``explain_hooks(loss)`` lists what loss.backward() would call, in order, without running it: a list of HookCalls.

    inputs: as for backward(); with accumulate=False as for grad(). The list does not foresee gradients that are None, or
    hooks that raise or remove each other. Tensors that backward() refuses raise the same errors.

    >>> import autograd_cy as ag
    >>> x = ag.ones(1, requires_grad=True)
    >>> y = x * 2
    >>> def clip(g):
    ...     return g.clamp(-1, 1)
    >>> handle = y.register_hook(clip)
    >>> print(ag.autograd.graph.explain_hooks(y))  # doctest: +ELLIPSIS
    MulBackward0: tensor clip (...:1)
    MulBackward0 runs
    AccumulateGrad adds to .grad
    """
    roots = _as_tuple(tensors)
    wanted = () if inputs is None else _values_of(inputs, "explain_hooks")
    plan = HookPlan()
    for node, runs in planned_order(roots, wanted, accumulate):
        plan += _calls_at(node, runs)
    return plan


def _calls_at(node: Any, runs: bool) -> list[HookCall]:
    """The calls at one node; without `runs` only the hooks of its tensors."""
    leaf = getattr(node, "variable", None)
    calls = [_call(kind, node, i, leaf if tensor is None else tensor, hook)
             for kind, i, tensor, hook in hooks_in_order(node, runs)]  # fmt: skip
    if not runs:
        return calls
    itself = _call("run" if leaf is None else "accumulate", node, None, leaf, None)
    after = next((i for i, call in enumerate(calls) if call.kind in ("post accumulate", "node post")), len(calls))
    observers = [_call("op", node, None, leaf, hook) for hook in op_hooks("backward")]
    return [*calls[:after], itself, *calls[after:], *observers]


def _call(kind: str, node: Any, output_nr: int | None, tensor: Any, hook: Any) -> HookCall:
    function = inspect.unwrap(hook) if callable(hook) else hook
    name = "" if hook is None else getattr(function, "__qualname__", None) or repr(function)
    code = getattr(getattr(function, "__func__", function), "__code__", None)
    location = f"{code.co_filename}:{code.co_firstlineno}" if code is not None else ""
    return HookCall(kind, node, output_nr, tensor, hook, name, location)
