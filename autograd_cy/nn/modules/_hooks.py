"""Hooks of modules: global ones, and registration of a module's own (facade)."""

import functools
import weakref
from collections import OrderedDict
from collections.abc import Callable
from typing import Any

from ..._core.runtime.entry import public
from ..._core.runtime.handle import RemovableHandle

Hooks = dict[int, Callable[..., Any]]
Marks = dict[int, bool]

_global_buffer_registration_hooks: Hooks = OrderedDict()
_global_module_registration_hooks: Hooks = OrderedDict()
_global_parameter_registration_hooks: Hooks = OrderedDict()
_global_backward_pre_hooks: Hooks = OrderedDict()
_global_backward_hooks: Hooks = OrderedDict()
_global_forward_pre_hooks: Hooks = OrderedDict()
_global_forward_hooks: Hooks = OrderedDict()
_global_forward_hooks_always_called: Marks = OrderedDict()
_global_forward_hooks_with_kwargs: Marks = OrderedDict()

COMMON = [name for name in globals() if name.startswith("_global_")]  # assignable, so read them here


class BackwardKind:
    """The kind of global backward hooks in use: full (True), regular (False), none yet (None)."""

    is_full: bool | None = None


def added(hooks: Any, hook: Callable[..., Any], prepend: bool = False, marks: tuple[Any, ...] = ()) -> RemovableHandle:
    """Add a hook, and an entry for it in each of the dicts `marks`; the handle removes it from all."""
    handle = RemovableHandle(hooks, extra_dict=list(marks))
    hooks[handle.id] = hook
    for marked in marks:
        marked[handle.id] = True
    if prepend:
        hooks.move_to_end(handle.id, last=False)
    return handle


def filtered(hooks: Hooks, module: Any, name: str, value: Any) -> Any:
    """The value after the registration hooks."""
    for hook in hooks.values():
        output = hook(module, name, value)
        if output is not None:
            value = output
    return value


class _WrappedHook:
    """A hook that is called with its module, which it doesn't keep alive."""

    def __init__(self, hook: Callable[..., Any], module: Any = None):
        self.hook = hook
        functools.update_wrapper(self, hook)
        self.with_module = module is not None
        if self.with_module:
            self.module = weakref.ref(module)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        if not self.with_module:
            return self.hook(*args, **kwargs)
        module = self.module()
        if module is None:
            raise RuntimeError("You are trying to call the hook of a dead Module!")
        return self.hook(module, *args, **kwargs)

    def __getstate__(self) -> dict[str, Any]:
        state = {"hook": self.hook, "with_module": self.with_module}
        return {**state, "module": self.module()} if self.with_module else state

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.hook, self.with_module = state["hook"], state["with_module"]
        if self.with_module:
            if state["module"] is None:
                raise RuntimeError("You are trying to revive the hook of a dead Module!")
            self.module = weakref.ref(state["module"])


def register_module_buffer_registration_hook(hook: Callable[..., Any]) -> RemovableHandle:
    """``register_module_buffer_registration_hook(hook)``: hook(module, name, buffer) is called for each new buffer.

    A result that is not None replaces the buffer.

    >>> import autograd_cy as ag
    >>> handle = ag.nn.modules.module.register_module_buffer_registration_hook(lambda module, name, buffer: print(name))
    >>> ag.nn.Module().register_buffer("mean", ag.zeros(2))
    mean
    >>> handle.remove()
    """
    return added(_global_buffer_registration_hooks, hook)


def register_module_module_registration_hook(hook: Callable[..., Any]) -> RemovableHandle:
    """``register_module_module_registration_hook(hook)``: hook(module, name, submodule) is called for each new submodule.

    A result that is not None replaces the submodule.

    >>> import autograd_cy as ag
    >>> handle = ag.nn.modules.module.register_module_module_registration_hook(lambda module, name, child: print(name))
    >>> _ = ag.nn.Sequential(ag.nn.Identity())
    0
    >>> handle.remove()
    """
    return added(_global_module_registration_hooks, hook)


def register_module_parameter_registration_hook(hook: Callable[..., Any]) -> RemovableHandle:
    """``register_module_parameter_registration_hook(hook)``: hook(module, name, param) is called for each new parameter.

    A result that is not None replaces the parameter.

    >>> import autograd_cy as ag
    >>> handle = ag.nn.modules.module.register_module_parameter_registration_hook(lambda module, name, p: print(name))
    >>> _ = ag.nn.Linear(2, 1)
    weight
    bias
    >>> handle.remove()
    """
    return added(_global_parameter_registration_hooks, hook)


def register_module_forward_pre_hook(hook: Callable[..., Any]) -> RemovableHandle:
    """``register_module_forward_pre_hook(hook)``: hook(module, args) is called before the forward of every module.

    It runs before the module's own hooks. A result that is not None replaces args.

    >>> import autograd_cy as ag
    >>> handle = ag.nn.modules.module.register_module_forward_pre_hook(lambda module, args: print(module))
    >>> _ = ag.nn.Identity()(1)
    Identity()
    >>> handle.remove()
    """
    return added(_global_forward_pre_hooks, hook)


def register_module_forward_hook(
    hook: Callable[..., Any], *, with_kwargs: bool = False, always_call: bool = False
) -> RemovableHandle:
    """``register_module_forward_hook(hook)``: hook(module, args, output) is called after the forward of every module.

    It runs before the module's own hooks. with_kwargs: hook(module, args, kwargs, output). always_call: also when the
    forward raised an exception. A result that is not None replaces the output.

    >>> import autograd_cy as ag
    >>> handle = ag.nn.modules.module.register_module_forward_hook(lambda module, args, output: output + 1)
    >>> ag.nn.Identity()(1)
    2
    >>> handle.remove()
    """
    marks = [_global_forward_hooks_with_kwargs] * with_kwargs + [_global_forward_hooks_always_called] * always_call
    return added(_global_forward_hooks, hook, marks=tuple(marks))


def register_module_full_backward_pre_hook(hook: Callable[..., Any]) -> RemovableHandle:
    """``register_module_full_backward_pre_hook(hook)``: hook(module, grad_output), for every module.

    See ``Module.register_full_backward_pre_hook``; it runs before the module's own.

    >>> import autograd_cy as ag
    >>> handle = ag.nn.modules.module.register_module_full_backward_pre_hook(lambda module, grad_output: print(grad_output))
    >>> ag.nn.Identity()(ag.tensor(1.0, requires_grad=True)).backward()
    (tensor(1.),)
    >>> handle.remove()
    """
    return added(_global_backward_pre_hooks, hook)


@public
def register_module_full_backward_hook(hook: Callable[..., Any]) -> RemovableHandle:
    """``register_module_full_backward_hook(hook)``: hook(module, grad_input, grad_output), for every module.

    See ``Module.register_full_backward_hook``; it runs before the module's own.

    >>> import autograd_cy as ag
    >>> handle = ag.nn.modules.module.register_module_full_backward_hook(lambda module, *gradients: print(gradients))
    >>> ag.nn.Identity()(ag.tensor(1.0, requires_grad=True)).backward()
    ((tensor(1.),), (tensor(1.),))
    >>> handle.remove()
    """
    return _added_backward(hook, True)


@public
def register_module_backward_hook(hook: Callable[..., Any]) -> RemovableHandle:
    """``register_module_backward_hook(hook)``: like register_module_full_backward_hook(), on the last node alone.

    PyTorch keeps it for old programs. RuntimeError if full hooks were registered.
    """
    return _added_backward(hook, False)


def _added_backward(hook: Callable[..., Any], is_full: bool) -> RemovableHandle:
    if BackwardKind.is_full is (not is_full):
        raise RuntimeError(
            "Cannot use both regular backward hooks and full backward hooks as a global Module hook. Please use only one of "
            "them."
        )
    BackwardKind.is_full = is_full
    return added(_global_backward_hooks, hook)


class WithHooks:
    """The hooks of one module."""

    _backward_pre_hooks: Hooks
    _backward_hooks: Hooks
    _is_full_backward_hook: bool | None
    _forward_hooks: Hooks
    _forward_hooks_with_kwargs: Marks
    _forward_hooks_always_called: Marks
    _forward_pre_hooks: Hooks
    _forward_pre_hooks_with_kwargs: Marks

    def register_forward_pre_hook(
        self, hook: Callable[..., Any], *, prepend: bool = False, with_kwargs: bool = False
    ) -> RemovableHandle:
        """``register_forward_pre_hook(hook)``: hook(module, args) is called before forward(); returns a handle.

        with_kwargs: hook(module, args, kwargs). A result that is not None replaces args (or both).
        prepend: before the existing hooks.

        >>> import autograd_cy as ag
        >>> layer = ag.nn.Identity()
        >>> handle = layer.register_forward_pre_hook(lambda module, args: (args[0] * 2,))
        >>> layer(3)
        6
        """
        return added(self._forward_pre_hooks, hook, prepend, (self._forward_pre_hooks_with_kwargs,) * with_kwargs)

    def register_forward_hook(
        self, hook: Callable[..., Any], *, prepend: bool = False, with_kwargs: bool = False, always_call: bool = False
    ) -> RemovableHandle:
        """``register_forward_hook(hook)``: hook(module, args, output) is called after forward(); returns a handle.

        with_kwargs: hook(module, args, kwargs, output). A result that is not None replaces the output.
        prepend: before the existing hooks. always_call: also if forward() raises an exception.

        >>> import autograd_cy as ag
        >>> layer = ag.nn.Identity()
        >>> handle = layer.register_forward_hook(lambda module, args, output: output * 2)
        >>> layer(3)
        6
        """
        marks = [self._forward_hooks_with_kwargs] * with_kwargs + [self._forward_hooks_always_called] * always_call
        return added(self._forward_hooks, hook, prepend, tuple(marks))

    def register_full_backward_pre_hook(self, hook: Callable[..., Any], prepend: bool = False) -> RemovableHandle:
        """``register_full_backward_pre_hook(hook)``: hook(module, grad_output) is called before the module's backward.

        A returned tuple replaces grad_output.

        >>> import autograd_cy as ag
        >>> layer, x = ag.nn.Identity(), ag.tensor(1.0, requires_grad=True)
        >>> handle = layer.register_full_backward_pre_hook(lambda module, grad_output: (grad_output[0] * 10,))
        >>> layer(x).backward()
        >>> x.grad
        tensor(10.)
        """
        return added(self._backward_pre_hooks, hook, prepend)

    @public
    def register_full_backward_hook(self, hook: Callable[..., Any], prepend: bool = False) -> RemovableHandle:
        """``register_full_backward_hook(hook)``: hook(module, grad_input, grad_output), when both are known.

        They are tuples, with None for arguments that are not tensors or need no gradient. A returned tuple replaces
        grad_input. RuntimeError if the module has hooks by register_backward_hook().

        >>> import autograd_cy as ag
        >>> layer, x = ag.nn.Identity(), ag.tensor(1.0, requires_grad=True)
        >>> handle = layer.register_full_backward_hook(lambda module, grad_input, grad_output: print(grad_input, grad_output))
        >>> layer(x * 2).backward()
        (tensor(1.),) (tensor(1.),)
        """
        self._use_backward_hooks(True)
        return added(self._backward_hooks, hook, prepend)

    @public
    def register_backward_hook(self, hook: Callable[..., Any]) -> RemovableHandle:
        """``register_backward_hook(hook)``: PyTorch's older kind, on the last node that forward() recorded.

        RuntimeError if the module has full hooks.
        """
        self._use_backward_hooks(False)
        return added(self._backward_hooks, hook)

    def _use_backward_hooks(self, full: bool) -> None:
        if self._is_full_backward_hook is (not full):
            raise RuntimeError(
                "Cannot use both regular backward hooks and full backward hooks on a single Module. Please use only one of "
                "them."
            )
        self._is_full_backward_hook = full
