"""One call of a module with backward hooks (facade)."""

import warnings
from collections.abc import Callable, Sequence
from typing import Any

from ..._core.graph.tensor import Tensor
from ...autograd.grad_mode import is_grad_enabled
from ._functions import BackwardHookFunction

Hook = Callable[..., Any]


class _Passage:
    """Routes the tensors among a call's arguments or results through one node, and remembers their positions."""

    def __init__(self, values: tuple[Any, ...]):
        self.size = len(values)
        self.places = [place for place, value in enumerate(values) if isinstance(value, Tensor)]
        self.is_recorded = is_grad_enabled() and any(values[place].requires_grad for place in self.places)

    def __call__(self, values: Any) -> tuple[Any, Any]:
        """The values as outputs of the node, and the node."""
        passed = BackwardHookFunction.apply(*[values[place] for place in self.places])
        items = list(values)
        for place, tensor in zip(self.places, passed, strict=True):
            items[place] = tensor
        node = next(tensor.grad_fn for tensor in passed if tensor.grad_fn is not None)
        return tuple(items) if type(values) is tuple else type(values)(*items), node

    def spread(self, gradients: Sequence[Any]) -> tuple[Any, ...]:
        """The gradients at the tensors' positions, None at the others."""
        all_places: list[Any] = [None] * self.size
        for place, gradient in zip(self.places, gradients, strict=False):
            all_places[place] = gradient
        return tuple(all_places)

    def picked(self, gradients: Sequence[Any]) -> tuple[Any, ...]:
        return tuple(gradients[place] for place in self.places)


class BackwardHook:
    """Calls a module's backward hooks when the gradients of its outputs, and then of its inputs, are known."""

    def __init__(self, module: Any, user_hooks: list[Hook], user_pre_hooks: list[Hook]):
        self.module, self.user_hooks, self.user_pre_hooks = module, user_hooks, user_pre_hooks
        self.grad_outputs: Any = None

    def setup_input_hook(self, args: tuple[Any, ...]) -> tuple[Any, ...]:
        """The arguments, routed through a node that receives their gradients."""
        self.inputs = _Passage(args)
        if self.inputs.is_recorded:
            args, node = self.inputs(args)
            node.register_hook(self._at_inputs)
        return args

    def setup_output_hook(self, result: Any) -> Any:
        """The module's result, routed through a node that receives its gradients."""
        values = result if isinstance(result, tuple) else (result,)
        self.outputs = _Passage(values)
        if self.outputs.is_recorded:
            values, node = self.outputs(values)
            node.register_hook(self._at_outputs)
        return values if isinstance(result, tuple) else values[0]

    def _at_outputs(self, _: Any, gradients: Any) -> Any:
        self.grad_outputs = self.outputs.spread(gradients)
        for hook in self.user_pre_hooks:
            changed = hook(self.module, self.grad_outputs)
            if changed is not None:
                _check_count("pre hook", "grad_output", changed, self.grad_outputs)
                self.grad_outputs = changed
        passed_on = self.outputs.picked(self.grad_outputs)
        if not self.inputs.is_recorded:
            self._without_inputs()
        return passed_on

    def _without_inputs(self) -> None:
        """Call the hooks when no input requires a gradient; their results can't replace anything."""
        warnings.warn(
            "Full backward hook is firing when gradients are computed with respect to module outputs since no inputs require "
            "gradients.",
            stacklevel=5,
        )
        for hook in self.user_hooks:
            changed = hook(self.module, self.inputs.spread(()), self.grad_outputs)
            if changed is not None and not (isinstance(changed, tuple) and all(item is None for item in changed)):
                raise RuntimeError(
                    "Backward hook for Modules where no input requires gradient should always return None or None for all "
                    "gradients."
                )
        self.grad_outputs = None

    def _at_inputs(self, gradients: Any, _: Any) -> Any:
        if self.grad_outputs is None:  # the gradients reached the inputs without passing the outputs
            return None
        all_gradients = self.inputs.spread(gradients)
        for hook in self.user_hooks:
            changed = hook(self.module, all_gradients, self.grad_outputs)
            if changed is not None:
                _check_count("hook", "grad_input", changed, all_gradients)
                all_gradients = changed
        self.grad_outputs = None
        return self.inputs.picked(all_gradients)


def _check_count(kind: str, what: str, returned: Any, expected: tuple[Any, ...]) -> None:
    if len(returned) != len(expected):
        raise RuntimeError(
            f"Backward {kind} returned an invalid number of {what}, got {len(returned)}, but expected {len(expected)}"
        )
