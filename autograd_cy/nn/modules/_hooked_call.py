"""One call of a module with hooks of its own or global ones (facade)."""

import warnings
from typing import Any

from ..._core.graph.tensor import Tensor
from . import _hooks
from ._backward_hook import BackwardHook
from ._hooks import _WrappedHook
from ._regular_hooks import first_tensor, warn_of_regular_hook


class HookedCall:
    """Pre-hooks, forward(), hooks; holds the arguments and the result as the hooks left them."""

    def __init__(self, module: Any, args: tuple[Any, ...], kwargs: dict[str, Any]):
        self.module, self.args, self.kwargs = module, args, kwargs
        self.result: Any = None
        self.called: set[int] = set()  # ids of the `always_call` hooks that ran

    def run(self) -> Any:
        full, regular = self._backward_hooks()
        try:
            return self._run(full, regular)
        except Exception:
            self._call_those_called_always()
            raise

    def _run(self, full: list[Any], regular: list[Any]) -> Any:
        before = [*_hooks._global_backward_pre_hooks.values(), *self.module._backward_pre_hooks.values()]
        self._call_pre_hooks()
        backward = BackwardHook(self.module, full, before) if full or before else None
        if backward is not None:
            self.args = backward.setup_input_hook(self.args)
        self.result = self.module.forward(*self.args, **self.kwargs)
        self._call_forward_hooks()
        if backward is not None:
            if not isinstance(self.result, (Tensor, tuple)):
                warnings.warn(
                    "For backward hooks to be called, module output should be a Tensor or a tuple of Tensors but received "
                    f"{type(self.result)}",
                    stacklevel=5,
                )
            self.result = backward.setup_output_hook(self.result)
        if regular:
            self._add_regular_hooks(regular)
        return self.result

    def _backward_hooks(self) -> tuple[list[Any], list[Any]]:
        """The full and the regular backward hooks, global ones first."""
        module = self.module
        kinds: tuple[list[Any], list[Any]] = ([], [])
        for hooks, is_full in (
            (_hooks._global_backward_hooks, _hooks.BackwardKind.is_full),
            (module._backward_hooks, module._is_full_backward_hook),
        ):
            if is_full is not None:
                kinds[0 if is_full else 1].extend(hooks.values())
        return kinds

    def _call_pre_hooks(self) -> None:
        module = self.module
        for number, hook in (*_hooks._global_forward_pre_hooks.items(), *module._forward_pre_hooks.items()):
            if number not in module._forward_pre_hooks_with_kwargs:
                args = hook(module, self.args)
                if args is not None:
                    self.args = args if isinstance(args, tuple) else (args,)
                continue
            both = hook(module, self.args, self.kwargs)
            if both is not None:
                if not (isinstance(both, tuple) and len(both) == 2):
                    raise RuntimeError(
                        f"forward pre-hook must return None or a tuple of (new_args, new_kwargs), but got {both}."
                    )
                self.args, self.kwargs = both

    def _call_forward_hooks(self) -> None:
        own = self.module._forward_hooks
        for number, hook in (*_hooks._global_forward_hooks.items(), *own.items()):
            self.called.add(number)
            self._call_forward_hook(number, hook)

    def _call_forward_hook(self, number: int, hook: Any) -> None:
        takes_kwargs = number in self.module._forward_hooks_with_kwargs or number in _hooks._global_forward_hooks_with_kwargs
        result = hook(self.module, self.args, *((self.kwargs,) if takes_kwargs else ()), self.result)
        if result is not None:
            self.result = result

    def _call_those_called_always(self) -> None:
        """Call the remaining `always_call` hooks after an exception; their own exceptions become warnings."""
        module = self.module
        for prefix, hooks, always in (
            ("global ", _hooks._global_forward_hooks, _hooks._global_forward_hooks_always_called),
            ("", module._forward_hooks, module._forward_hooks_always_called),
        ):
            for number, hook in hooks.items():
                if number not in always or number in self.called:
                    continue
                try:
                    self._call_forward_hook(number, hook)
                except Exception as error:
                    warnings.warn(
                        f"{prefix}module forward hook with ``always_call=True`` raised an exception that was silenced as "
                        f"another error was raised in forward: {error!s}",
                        stacklevel=5,
                    )

    def _add_regular_hooks(self, hooks: list[Any]) -> None:
        node = first_tensor(self.result).grad_fn
        if node is not None:
            for hook in hooks:
                node.register_hook(_WrappedHook(hook, self.module))
            warn_of_regular_hook(self.args, self.result, node)
