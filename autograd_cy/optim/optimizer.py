"""Optimizer, the base of all optimizers: parameter groups, state, hooks and state dicts (facade)."""

import functools
from collections import OrderedDict, defaultdict
from collections.abc import Callable, Iterable
from itertools import chain
from typing import Any, TypeAlias

from .._core.graph.tensor import Tensor
from .._core.optim.updates import drop_gradients as _drop_gradients
from .._core.recording.events import begin_region as _begin_region
from .._core.recording.events import end_region as _end_region
from .._core.runtime.handle import RemovableHandle
from .._core.runtime.handle import register as _register
from .._functional.queries import typename
from ..autograd.grad_mode import set_grad_enabled as _set_grad_enabled
from . import _groups, _state_dict
from ._groups import required

__all__ = [
    "Optimizer", "ParamsT", "register_optimizer_step_post_hook", "register_optimizer_step_pre_hook", "required",
]  # fmt: skip

ParamsT: TypeAlias = Iterable[Tensor] | Iterable[dict[str, Any]] | Iterable[tuple[str, Tensor]]


_global_pre_hooks: OrderedDict[int, Callable[..., Any]] = OrderedDict()
_global_post_hooks: OrderedDict[int, Callable[..., Any]] = OrderedDict()
_HOOKS = tuple(
    f"_optimizer_{kind}_hooks"
    for kind in ("step_pre", "step_post", "state_dict_pre", "state_dict_post", "load_state_dict_pre", "load_state_dict_post")
)


def register_optimizer_step_pre_hook(hook: Callable[..., Any]) -> RemovableHandle:
    """``register_optimizer_step_pre_hook(hook)``: hook(optimizer, args, kwargs) runs before each step of every optimizer.

    It may return a pair of other args (the optimizer first) and kwargs. Returns a handle with remove().

    >>> import autograd_cy as ag
    >>> from autograd_cy.optim.optimizer import register_optimizer_step_pre_hook
    >>> x = ag.ones(1, requires_grad=True)
    >>> with register_optimizer_step_pre_hook(lambda optimizer, args, kwargs: print("step")):
    ...     ag.optim.SGD([x]).step()
    step
    """
    return _register(_global_pre_hooks, hook)


def register_optimizer_step_post_hook(hook: Callable[..., Any]) -> RemovableHandle:
    """``register_optimizer_step_post_hook(hook)``: hook(optimizer, args, kwargs) runs after each step of every optimizer.

    >>> import autograd_cy as ag
    >>> from autograd_cy.optim.optimizer import register_optimizer_step_post_hook
    >>> handle = register_optimizer_step_post_hook(lambda optimizer, args, kwargs: None)
    >>> handle.remove()
    """
    return _register(_global_post_hooks, hook)


def _hooked(step: Callable[..., Any]) -> Callable[..., Any]:
    """A step that runs the hooks, and is a separate region in profiles."""

    @functools.wraps(step)
    def wrapper(*args: Any, **kwargs: Any) -> Any:
        self = args[0]
        region = _begin_region(f"Optimizer.step#{type(self).__name__}.step", None)
        try:
            for hook in chain(_global_pre_hooks.values(), self._optimizer_step_pre_hooks.values()):
                changed = hook(self, args, kwargs)
                if changed is not None:
                    if not isinstance(changed, tuple) or len(changed) != 2:
                        raise RuntimeError(f"{step} must return None or a tuple of (new_args, new_kwargs), but got {changed}.")
                    args, kwargs = changed
            result = step(*args, **kwargs)
            for hook in chain(self._optimizer_step_post_hooks.values(), _global_post_hooks.values()):
                hook(self, args, kwargs)
        finally:
            _end_region(region)
        return result

    wrapper.hooked = True  # type: ignore[attr-defined]
    return wrapper


def _use_grad_for_differentiable(func: Callable[..., Any]) -> Callable[..., Any]:
    """Decorator of a step: it is recorded only if the optimizer is `differentiable`."""

    @functools.wraps(func)
    def step(self: Any, *args: Any, **kwargs: Any) -> Any:
        with _set_grad_enabled(self.defaults["differentiable"]):
            return func(self, *args, **kwargs)

    return step


def _get_value(x: Any) -> Any:
    """The number in a one-element tensor; anything else unchanged."""
    return x.item() if isinstance(x, Tensor) else x


def _dispatch_sqrt(x: Any) -> Any:
    """The square root of a tensor or a number."""
    return x.sqrt() if isinstance(x, Tensor) else x**0.5


def _default_to_fused_or_foreach(params: Any, differentiable: bool, use_fused: bool = False) -> tuple[bool, bool]:
    """Whether PyTorch would use a fused or foreach step: neither, as for its CPU tensors."""
    return False, False


class Optimizer:
    """``Optimizer(params, defaults)`` is the base of all optimizers: a subclass has a ``step(closure=None)``.

    `params` are Tensors, pairs of names and Tensors, or dicts: parameter groups with ``"params"`` and options of their own.
    `defaults` are the default options of groups. ValueError for no parameters, for a Tensor that is not a leaf or is in two
    groups; TypeError for other objects, and for a set.

    >>> import autograd_cy as ag
    >>> a, b = ag.ones(2, requires_grad=True), ag.ones(1, requires_grad=True)
    >>> optimizer = ag.optim.SGD([{"params": [a]}, {"params": [b], "lr": 1.0}], lr=0.5)
    >>> (a.sum() + b.sum()).backward()
    >>> optimizer.step()
    >>> a, b
    (tensor([0.5000, 0.5000], requires_grad=True), tensor([0.], requires_grad=True))
    """

    _optimizer_step_pre_hooks: OrderedDict[int, Callable[..., Any]]
    _optimizer_step_post_hooks: OrderedDict[int, Callable[..., Any]]
    _optimizer_state_dict_pre_hooks: OrderedDict[int, Callable[..., Any]]
    _optimizer_state_dict_post_hooks: OrderedDict[int, Callable[..., Any]]
    _optimizer_load_state_dict_pre_hooks: OrderedDict[int, Callable[..., Any]]
    _optimizer_load_state_dict_post_hooks: OrderedDict[int, Callable[..., Any]]

    def __init__(self, params: Iterable[Any], defaults: dict[str, Any]) -> None:
        self.defaults = defaults
        self._prepare()
        if isinstance(params, Tensor):
            raise TypeError(
                f"params argument given to the optimizer should be an iterable of Tensors or dicts, but got {typename(params)}"
            )
        self.state: defaultdict[Any, Any] = defaultdict(dict)
        self.param_groups: list[dict[str, Any]] = []
        groups = list(params)
        if not groups:
            raise ValueError("optimizer got an empty parameter list")
        if not isinstance(groups[0], dict):
            groups = [{"params": groups}]
        for group in groups:
            self.add_param_group(group)

    def _prepare(self) -> None:
        """Give the instance missing hook dicts, and the class a step that runs the hooks."""
        for name in _HOOKS:
            self.__dict__.setdefault(name, OrderedDict())
        if not getattr(type(self).step, "hooked", False):
            type(self).step = _hooked(type(self).step)  # type: ignore[method-assign]

    def __getstate__(self) -> dict[str, Any]:
        return {"defaults": self.defaults, "state": self.state, "param_groups": self.param_groups}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self._prepare()
        self.defaults.setdefault("differentiable", False)

    def __repr__(self) -> str:
        lines = [f"{type(self).__name__} ("]
        for i, group in enumerate(self.param_groups):
            lines.append(f"Parameter Group {i}")
            lines += [f"    {key}: {group[key]}" for key in sorted(group) if key != "params"]
        return "\n".join([*lines, ")"])

    # hooks

    def register_step_pre_hook(self, hook: Callable[..., Any]) -> RemovableHandle:
        """``register_step_pre_hook(hook)``: hook(optimizer, args, kwargs) runs before each step, and may change both."""
        return _register(self._optimizer_step_pre_hooks, hook)

    def register_step_post_hook(self, hook: Callable[..., Any]) -> RemovableHandle:
        """``register_step_post_hook(hook)``: hook(optimizer, args, kwargs) runs after each step."""
        return _register(self._optimizer_step_post_hooks, hook)

    def register_state_dict_pre_hook(self, hook: Callable[..., Any], prepend: bool = False) -> RemovableHandle:
        """``register_state_dict_pre_hook(hook, prepend=False)``: hook(optimizer) runs before state_dict()."""
        return _registered(self._optimizer_state_dict_pre_hooks, hook, prepend)

    def register_state_dict_post_hook(self, hook: Callable[..., Any], prepend: bool = False) -> RemovableHandle:
        """``register_state_dict_post_hook(hook, prepend=False)``: hook(optimizer, state_dict) may return another one."""
        return _registered(self._optimizer_state_dict_post_hooks, hook, prepend)

    def register_load_state_dict_pre_hook(self, hook: Callable[..., Any], prepend: bool = False) -> RemovableHandle:
        """``register_load_state_dict_pre_hook(hook, prepend=False)``: hook(optimizer, state_dict) may return another one."""
        return _registered(self._optimizer_load_state_dict_pre_hooks, hook, prepend)

    def register_load_state_dict_post_hook(self, hook: Callable[..., Any], prepend: bool = False) -> RemovableHandle:
        """``register_load_state_dict_post_hook(hook, prepend=False)``: hook(optimizer) runs after load_state_dict()."""
        return _registered(self._optimizer_load_state_dict_post_hooks, hook, prepend)

    # public methods

    def step(self, closure: Callable[..., Any] | None = None) -> Any:
        """``step(closure=None)`` takes one step along the gradients; returns the closure's result."""
        raise NotImplementedError

    def zero_grad(self, set_to_none: bool = True) -> None:
        """``zero_grad(set_to_none=True)`` clears the gradients of all parameters; else it fills them with zeros."""
        region = _begin_region(f"Optimizer.zero_grad#{type(self).__name__}.zero_grad", None)
        try:
            for group in self.param_groups:
                if set_to_none:
                    _drop_gradients(group["params"])
                else:
                    _groups.fill_gradients_with_zeros(group["params"])
        finally:
            _end_region(region)

    def add_param_group(self, param_group: dict[str, Any]) -> None:
        """``add_param_group(param_group)`` adds a group: a dict with ``"params"`` and options."""
        _groups.complete(param_group, self.defaults)
        _groups.check_among(param_group, self.param_groups)
        self.param_groups.append(param_group)

    def state_dict(self) -> dict[str, Any]:
        """``state_dict()`` has the state and the groups, with numbers for parameters, as in PyTorch."""
        for hook in self._optimizer_state_dict_pre_hooks.values():
            hook(self)
        packed = _state_dict.packed(self)
        for hook in self._optimizer_state_dict_post_hooks.values():
            changed = hook(self, packed)
            packed = packed if changed is None else changed
        return packed

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """``load_state_dict(state_dict)`` restores state and options; ValueError if the groups' sizes differ.

        Floating point state is converted to its parameter's dtype, except the step.
        """
        state_dict = state_dict.copy()
        for hook in self._optimizer_load_state_dict_pre_hooks.values():
            changed = hook(self, state_dict)
            state_dict = state_dict if changed is None else changed
        self.__setstate__(_state_dict.unpacked(state_dict, self.param_groups))
        for hook in self._optimizer_load_state_dict_post_hooks.values():
            hook(self)


def _registered(hooks: OrderedDict[int, Callable[..., Any]], hook: Callable[..., Any], prepend: bool) -> RemovableHandle:
    handle = _register(hooks, hook)
    if prepend:
        hooks.move_to_end(handle.id, last=False)
    return handle
