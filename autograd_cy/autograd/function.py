"""Function: operations with user-defined gradients (facade)."""

import contextlib
import functools
import inspect
import threading
import warnings
from collections.abc import Callable, Iterator
from typing import Any, cast

from .._core.batching.batched import is_batched as _is_batched
from .._core.batching.batched import levels_of as _levels_of
from .._core.batching.batched import open_levels as _open_levels
from .._core.engine.functions import (
    DelayedError as _DelayedError,
)
from .._core.engine.functions import (
    FunctionNode as _FunctionNode,
)
from .._core.engine.functions import (
    apply_function as _apply_function,
)
from .._core.graph.tensor import Tensor
from .._core.runtime.entry import show_one_frame as _show_one_frame
from ..utils._pytree import tree_leaves as _tree_leaves
from ._mode_decorator import F as _F
from .grad_mode import is_grad_enabled, no_grad

__all__ = ["BackwardCFunction", "Function", "FunctionCtx", "InplaceFunction", "once_differentiable"]

FunctionCtx = _FunctionNode  # the ctx is the node
BackwardCFunction = _FunctionNode


class _FunctionMeta(type):
    """Gives each Function its own node class: MyOp's outputs have the grad_fn <MyOpBackward>."""

    def __init__(cls, name: str, bases: tuple[type, ...], namespace: dict[str, Any]) -> None:
        cls._follows_forward = True  # NOTE [Intermediates of Functions] in intermediates.pyx
        cls._backward_cls = type(f"{name}Backward", (_FunctionNode,), {"_forward_cls": cls})
        super().__init__(name, bases, namespace)


class Function(metaclass=_FunctionMeta):
    """Base of operations with their own gradient: subclass it, and call ``MyOp.apply(*args)``.

    ``forward(ctx, *args)`` computes; ``backward(ctx, *grad_outputs)`` returns a gradient (or None) for each argument of
    forward; ``jvp(ctx, *tangents)`` is for forward mode. With ``setup_context(ctx, inputs, output)`` forward takes no ctx.

    Flags of a subclass: ``boxed_grads_call``: backward(ctx, grads) gets one list with the only references to the gradients,
    so that it can free them one by one; ``clear_saved_tensors_on_access``: reading ctx's saved tensors releases them;
    ``exact_needs_input_grad = False``: in backward, ctx.needs_input_grad is as in forward, whatever was requested.

    >>> import autograd_cy as ag
    >>> class Cube(ag.autograd.Function):
    ...     @staticmethod
    ...     def forward(ctx, x):
    ...         ctx.save_for_backward(x)
    ...         return x * x * x
    ...     @staticmethod
    ...     def backward(ctx, g):
    ...         (x,) = ctx.saved_tensors
    ...         return 3 * x * x * g
    >>> x = ag.tensor(2.0, requires_grad=True)
    >>> Cube.apply(x).backward()
    >>> x.grad
    tensor(12.)
    """

    boxed_grads_call = False
    clear_saved_tensors_on_access = False
    exact_needs_input_grad = True

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        warnings.warn(
            f"{type(self).__name__} should not be instantiated. Methods on autograd functions are all static, so call "
            f"{type(self).__name__}.apply(...).",
            DeprecationWarning,
            stacklevel=2,
        )

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        raise RuntimeError(
            "Legacy autograd function with non-static forward method is deprecated. Use static methods and "
            f"{type(self).__name__}.apply(...)."
        )

    @staticmethod
    def forward(*args: Any, **kwargs: Any) -> Any:
        """forward(ctx, *args): compute the output from the arguments; to be defined by the subclass."""
        raise NotImplementedError("You must implement the forward function for custom autograd.Function.")

    @staticmethod
    def setup_context(ctx: Any, inputs: tuple[Any, ...], output: Any) -> Any:
        """setup_context(ctx, inputs, output): save what backward needs, for a forward that takes no ctx."""
        raise NotImplementedError("setup_context is not implemented.")

    @staticmethod
    def backward(ctx: Any, *grad_outputs: Any, **_: Any) -> Any:
        """backward(ctx, *grad_outputs): a gradient or None for each argument of forward."""
        raise NotImplementedError(
            "You must implement either the backward or vjp method for your custom autograd.Function to use it with "
            "backward mode AD."
        )

    vjp = backward

    @staticmethod
    def jvp(ctx: Any, *grad_inputs: Any, **_: Any) -> Any:
        """jvp(ctx, *tangents): a tangent or None for each output, from the arguments' tangents."""
        raise NotImplementedError(
            "You must implement the jvp function for custom autograd.Function to use it with forward mode AD."
        )

    generate_vmap_rule = False

    @staticmethod
    def vmap(info: Any, in_dims: tuple[Any, ...], *args: Any) -> Any:
        """vmap(info, in_dims, *args): (output, out_dims) for all samples of a batch, along in_dims in args.

        info.batch_size and info.randomness come from vmap. generate_vmap_rule = True makes such a method unnecessary.
        """
        raise NotImplementedError(
            "To use autograd.Function with vmap, you must either override the vmap staticmethod or set "
            "generate_vmap_rule=True."
        )

    _no_vmap = vmap

    @classmethod
    def _backward_function(cls) -> Callable[..., Any]:
        """The subclass's ``backward`` or ``vjp``, whichever it defines."""
        own_backward, own_vjp = cls.backward is not Function.backward, cls.vjp is not Function.vjp
        if own_backward and own_vjp:
            raise RuntimeError(
                "Implementing both 'backward' and 'vjp' for a custom Function is not allowed. Implement only one of them."
            )
        return cls.vjp if own_vjp else cls.backward

    @classmethod
    def apply(cls, *args: Any, **kwargs: Any) -> Any:
        """apply(*args, **kwargs): call forward, and record the call if any argument requires it."""
        separate = cls.setup_context is not Function.setup_context
        try:
            if separate and (kwargs or len(args) < _parameter_count(cls.forward)):
                args, kwargs = _with_defaults(cls.forward, args, kwargs)
            if _watchers:
                _show(cls, args, kwargs)
            level = _batch_level((args, kwargs)) if _open_levels() else None
            if level is not None:
                return _apply_batched(cls, level, separate, args, kwargs)
            return _apply_function(cls, cls._backward_cls, separate, args, kwargs)
        except BaseException as error:
            _show_one_frame(error)
            raise


_watchers: list[Callable[..., None]] = []


@contextlib.contextmanager
def _shown_to(watcher: Callable[..., None]) -> Iterator[None]:
    """Call watcher(cls, args, kwargs) before each call of a Function in this thread, within the context."""
    thread = threading.get_ident()

    def here(*call: Any) -> None:
        if threading.get_ident() == thread:
            watcher(*call)

    _watchers.append(here)
    try:
        yield
    finally:
        _watchers.remove(here)


def _show(*call: Any) -> None:
    for watcher in tuple(_watchers):
        watcher(*call)


def _batch_level(args: tuple[Any, ...]) -> Any:
    """The innermost level of vmap at which a tensor among the arguments, or in containers there, is batched; or None."""
    levels = [_levels_of(x)[0] for x in _tree_leaves(args) if _is_batched(x)]
    return max(levels, key=lambda level: level.number, default=None)


def _apply_batched(cls: type[Function], level: Any, separate: bool, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    from ._function_batches import apply_batched

    return apply_batched(cls, level, separate, args, kwargs, Function)


def _with_defaults(function: Callable[..., Any], args: Any, kwargs: Any) -> tuple[tuple[Any, ...], dict[str, Any]]:
    """A call's arguments with the defaults, which setup_context sees as inputs."""
    bound = inspect.signature(function).bind(*args, **kwargs)
    bound.apply_defaults()
    return bound.args, bound.kwargs


def _parameter_count(function: Callable[..., Any]) -> int:
    """The number of a function's named positional parameters; 0 if unknown."""
    code = getattr(function, "__code__", None)
    return 0 if code is None else code.co_argcount


class InplaceFunction(Function):
    """A Function with a flag `inplace`, for programs that name it: use Function.

    >>> import autograd_cy as ag
    >>> issubclass(ag.autograd.function.InplaceFunction, ag.autograd.Function)
    True
    """

    def __init__(self, inplace: bool = False) -> None:
        super().__init__()
        self.inplace = inplace


_TWICE = "trying to differentiate twice a function that was marked with @once_differentiable"


def _is_differentiable(x: Any) -> bool:
    return isinstance(x, Tensor) and (x.dtype.is_floating_point or x.dtype.is_complex)


def once_differentiable(backward: _F) -> _F:
    """``@once_differentiable`` makes a backward run without recording: differentiating it is an error.

    >>> import autograd_cy as ag
    >>> class Double(ag.autograd.Function):
    ...     @staticmethod
    ...     def forward(ctx, x):
    ...         return 2 * x
    ...     @staticmethod
    ...     @ag.autograd.function.once_differentiable
    ...     def backward(ctx, g):
    ...         return 2 * g
    >>> x = ag.tensor(1.0, requires_grad=True)
    >>> ag.autograd.grad(Double.apply(x), x)
    (tensor(2.),)
    """

    @functools.wraps(backward)
    def unrecorded(ctx: Any, *grad_outputs: Any) -> Any:
        boxed = len(grad_outputs) == 1 and type(grad_outputs[0]) is list
        given = grad_outputs[0] if boxed else grad_outputs
        recorded = is_grad_enabled() and any(isinstance(g, Tensor) and g.requires_grad for g in given)
        with no_grad():
            results = backward(ctx, *grad_outputs)
        if not recorded:
            return results
        several = results if isinstance(results, tuple) else (results,)
        if not all(r is None or isinstance(r, Tensor) for r in several):
            return results  # which is refused
        delayed = _DelayedError(_TWICE, len(several))
        return delayed(*[r.detach().requires_grad_() if _is_differentiable(r) else r for r in several])

    return cast(_F, unrecorded)
