"""Module: the base of all layers and models (facade)."""

import sys
import warnings
from collections import OrderedDict
from collections.abc import Callable
from types import ModuleType
from typing import TYPE_CHECKING, Any, Self

from ..._core.runtime import entry as _entry
from ..._core.runtime.entry import public as _public
from . import _conversions, _hooks, _members, _registering, _state
from ._hooks import _WrappedHook as _WrappedHook  # other files import it from here
from ._hooks import (
    register_module_backward_hook,
    register_module_buffer_registration_hook,
    register_module_forward_hook,
    register_module_forward_pre_hook,
    register_module_full_backward_hook,
    register_module_full_backward_pre_hook,
    register_module_module_registration_hook,
    register_module_parameter_registration_hook,
)
from ._state import _IncompatibleKeys  # noqa: F401  (programs import it from here)

if TYPE_CHECKING:
    from ._typed_call import CallOfForward

__all__ = [
    "Module", "register_module_backward_hook", "register_module_buffer_registration_hook", "register_module_forward_hook",
    "register_module_forward_pre_hook", "register_module_full_backward_hook", "register_module_full_backward_pre_hook",
    "register_module_module_registration_hook", "register_module_parameter_registration_hook",
]  # fmt: skip

_HOOKS = (
    "_backward_pre_hooks", "_backward_hooks", "_forward_hooks", "_forward_hooks_with_kwargs", "_forward_hooks_always_called",
    "_forward_pre_hooks", "_forward_pre_hooks_with_kwargs", "_state_dict_hooks", "_state_dict_pre_hooks",
    "_load_state_dict_pre_hooks", "_load_state_dict_post_hooks",
)  # fmt: skip


class Module(
    _registering.WithMembersAsAttributes,
    _members.WithMembers,
    _hooks.WithHooks,
    _state.WithState,
    _conversions.WithConversions,
):
    """``class Model(nn.Module)``: a layer, or a model made of layers; subclasses define ``__init__`` and ``forward``.

    Parameters, buffers and modules assigned to attributes belong to the module: they are converted, saved and listed with it.
    Calling the module calls ``forward`` and the hooks around it.

    >>> import autograd_cy as ag
    >>> class Scaled(ag.nn.Module):
    ...     def __init__(self, factor):
    ...         super().__init__()
    ...         self.factor = ag.nn.Parameter(ag.tensor(factor))
    ...     def forward(self, x):
    ...         return self.factor * x
    >>> model = Scaled(2.0)
    >>> model(ag.ones(2)).detach(), list(model.state_dict())
    (tensor([2., 2.]), ['factor'])
    """

    dump_patches = False
    training: bool
    call_super_init = False
    _compiled_call_impl: Callable[..., Any] | None = None

    @_public
    def __init__(self, *args: Any, **kwargs: Any) -> None:
        if not self.call_super_init and (args or kwargs):
            name = f"{type(self).__name__}.__init__()"
            if kwargs:
                raise TypeError(f"{name} got an unexpected keyword argument '{next(iter(kwargs))}'")
            raise TypeError(f"{name} takes 1 positional argument but {len(args) + 1} were given")
        own = self.__dict__
        own.update(training=True, _parameters={}, _buffers={}, _non_persistent_buffers_set=set(), _is_full_backward_hook=None)
        for name in _HOOKS:
            own[name] = OrderedDict()
        own["_modules"] = {}
        if self.call_super_init:
            super().__init__(*args, **kwargs)

    if TYPE_CHECKING:  # subclasses choose their own signature
        forward: Callable[..., Any]
        __call__ = CallOfForward()
        _call_impl: Callable[..., Any]
    else:

        def forward(self, *input: Any) -> Any:
            """``forward(...)`` computes the result, in a subclass; call the module instead, which also calls its hooks."""
            raise NotImplementedError(f'Module [{type(self).__name__}] is missing the required "forward" function')

        __call__ = _call_impl = _entry.call_module

    def __init_subclass__(cls, **kwargs: Any):
        super().__init_subclass__(**kwargs)
        _entry.fill_slots(cls)

    @_public
    def train(self, mode: bool = True) -> Self:
        """``train(mode=True)`` sets ``training`` of the module and all in it, which changes some layers; returns the module.

        >>> import autograd_cy as ag
        >>> ag.nn.Sequential(ag.nn.Identity()).train(False)[0].training
        False
        """
        if not isinstance(mode, bool):
            raise ValueError("training mode is expected to be boolean")
        self.training = mode
        for module in self.children():
            module.train(mode)
        return self

    def eval(self) -> Self:
        """``eval()`` is ``train(False)``."""
        return self.train(False)

    def compile(self, *args: Any, **kwargs: Any) -> None:
        """``compile()`` does nothing, with a warning: calls are not compiled here."""
        warnings.warn("Module.compile() does nothing: there is no compiler here, the module runs as it is", stacklevel=2)

    def __getstate__(self) -> dict[str, Any]:
        return self.__dict__.copy()

    def __setstate__(self, state: dict[str, Any]) -> None:
        """Restore pickled attributes; those that an older version did not write are empty."""
        self.__dict__.update(state)
        for name in _HOOKS:
            self.__dict__.setdefault(name, OrderedDict())
        self.__dict__.setdefault("_non_persistent_buffers_set", set())
        self.__dict__.setdefault("_is_full_backward_hook", None)

    def _get_name(self) -> str:
        return type(self).__name__

    def extra_repr(self) -> str:
        """``extra_repr()``: the text between repr()'s parentheses; subclasses define it."""
        return ""

    def __repr__(self) -> str:
        extra = self.extra_repr()
        lines = extra.split("\n") if extra else []
        if len(lines) == 1 and not self._modules:
            return f"{self._get_name()}({extra})"
        lines += [f"({name}): {_addindent(repr(module), 2)}" for name, module in self._modules.items()]
        inner = "\n  " + "\n  ".join(lines) + "\n" if lines else ""
        return f"{self._get_name()}({inner})"


def _call_with_hooks(module: Module, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    from ._hooked_call import HookedCall  # only needed here

    return HookedCall(module, args, kwargs).run()


def _look_for_common_hooks() -> None:
    """Make each call of a module check for global hooks in the current dicts of `_hooks`."""
    kinds = ("backward_hooks", "backward_pre_hooks", "forward_hooks", "forward_pre_hooks")
    _entry.set_up(Module, tuple(getattr(_hooks, f"_global_{kind}") for kind in kinds), _call_with_hooks)


class _ModuleWithCommonHooks(ModuleType):
    """The class of this Python module, as programs assign other dicts to `_global_forward_hooks` and similar names."""

    def __setattr__(self, name: str, value: Any) -> None:
        super().__setattr__(name, value)
        if name in _hooks.COMMON:
            setattr(_hooks, name, value)
            _look_for_common_hooks()


_look_for_common_hooks()
globals().update({name: getattr(_hooks, name) for name in _hooks.COMMON})
sys.modules[__name__].__class__ = _ModuleWithCommonHooks


def _addindent(text: str, spaces: int) -> str:
    """The text with all lines but the first indented; empty lines stay empty."""
    first, *rest = text.split("\n")
    return "\n".join([first, *[" " * spaces + line if line.strip() else "" for line in rest]])
