"""The override protocol for those who write functions of their own, under the names of torch.overrides (facade)."""

import functools
import inspect
import sys
from collections.abc import Callable
from typing import Any

from ._core.graph.tensor import Tensor
from ._core.ops.operations import OPS as _OPS
from ._core.ops.overrides import handle_torch_function, has_torch_function
from ._settings.function_modes import (
    BaseTorchFunctionMode,
    TorchFunctionMode,
    _get_current_function_mode,  # noqa: F401  (programs take these from here)
    _get_current_function_mode_stack,  # noqa: F401
    _pop_mode_temporarily,  # noqa: F401
)

__all__ = [
    "BaseTorchFunctionMode", "TorchFunctionMode", "get_ignored_functions", "get_overridable_functions",
    "get_testing_overrides", "handle_torch_function", "has_torch_function", "is_tensor_like", "is_tensor_method_or_property",
    "resolve_name", "wrap_torch_function",
]  # fmt: skip


def is_tensor_like(inp: Any) -> bool:
    """``is_tensor_like(inp)`` is True for a Tensor and for what defines `__torch_function__`.

    >>> import autograd_cy as ag
    >>> ag.overrides.is_tensor_like(ag.ones(1)), ag.overrides.is_tensor_like([1.0])
    (True, False)
    """
    return isinstance(inp, Tensor) or bool(has_torch_function((inp,)))


@functools.cache
def get_overridable_functions() -> dict[Any, list[Callable[..., Any]]]:
    """``get_overridable_functions()`` is {module or class: the functions of it that a `__torch_function__` sees}.

    >>> import autograd_cy as ag
    >>> ag.add in ag.overrides.get_overridable_functions()[ag]
    True
    """
    package = sys.modules[__name__.rpartition(".")[0]]
    found: dict[Any, list[Callable[..., Any]]] = {package: []}
    for op in _OPS.values():
        owner = functools.reduce(getattr, op.namespace.split("."), package) if op.namespace else package
        found.setdefault(owner, []).append(op.function)
    found.setdefault(Tensor, []).extend(_OPS[name].function for name in _OPS if _OPS[name].methods)
    return found


@functools.cache
def get_testing_overrides() -> dict[Callable[..., Any], Callable[..., Any]]:
    """``get_testing_overrides()`` is {function: one that takes the same arguments and returns -1}.

    >>> import autograd_cy as ag
    >>> ag.overrides.get_testing_overrides()[ag.add](ag.ones(1), ag.ones(1))
    -1
    """
    return {function: _dummy(function) for functions in get_overridable_functions().values() for function in functions}


def _dummy(function: Callable[..., Any]) -> Callable[..., int]:
    def dummy(*args: Any, **kwargs: Any) -> int:
        signature.bind(*args, **kwargs)
        return -1

    signature = inspect.signature(function)
    dummy.__signature__ = signature  # type: ignore[attr-defined]
    return dummy


def get_ignored_functions() -> set[Callable[..., Any]]:
    """``get_ignored_functions()`` is what no `__torch_function__` sees: functions that make tensors of no other.

    >>> import autograd_cy as ag
    >>> ag.zeros in ag.overrides.get_ignored_functions()
    True
    """
    package = sys.modules[__name__.rpartition(".")[0]]
    seen = set(get_testing_overrides())
    public = [getattr(package, name) for name in ("zeros", "ones", "empty", "full", "eye", "arange", "linspace", "logspace",
              "tensor", "as_tensor", "from_numpy", "rand", "randn", "randint", "randperm", "manual_seed", "is_tensor",
              "promote_types", "can_cast", "set_default_dtype", "get_default_dtype", "save", "load")]  # fmt: skip
    return set(public) - seen


@functools.cache
def _names() -> dict[int, str]:
    package = sys.modules[__name__.rpartition(".")[0]]
    names = {id(value): f"torch.Tensor.{name}" for name, value in vars(Tensor).items() if callable(value)}
    for owner in ("fft", "linalg", "special", "nn.functional", ""):
        module = functools.reduce(getattr, owner.split("."), package) if owner else package
        path = f"torch.{owner}." if owner else "torch."
        names |= {id(value): path + name for name, value in vars(module).items() if callable(value) and name[0] != "_"}
    return names


def resolve_name(f: Callable[..., Any]) -> str | None:
    """``resolve_name(f)`` is PyTorch's name of a function or a method, None for others.

    >>> import autograd_cy as ag
    >>> ag.overrides.resolve_name(ag.add), ag.overrides.resolve_name(ag.nn.functional.gelu)
    ('torch.add', 'torch.nn.functional.gelu')
    """
    if getattr(f, "__name__", "") in ("__get__", "__set__"):
        name = next((n for n, v in vars(Tensor).items() if v is getattr(f, "__self__", None)), None)
        return None if name is None else f"torch.Tensor.{name}.{f.__name__}"
    return _names().get(id(f))


def is_tensor_method_or_property(func: Callable[..., Any]) -> bool:
    """``is_tensor_method_or_property(f)`` is whether f is a method of Tensor alone, or what gets an attribute of it.

    >>> import autograd_cy as ag
    >>> ag.overrides.is_tensor_method_or_property(ag.Tensor.numpy), ag.overrides.is_tensor_method_or_property(ag.rand)
    (True, False)
    """
    return getattr(func, "__name__", "") == "__get__" or any(value is func for value in vars(Tensor).values())


def wrap_torch_function(dispatcher: Callable[..., Any]) -> Callable[..., Any]:
    """``@wrap_torch_function(dispatcher)``: calls go to a `__torch_function__` among what dispatcher(*args) returns.

    >>> import autograd_cy as ag
    >>> @ag.overrides.wrap_torch_function(lambda x: (x,))
    ... def double(x):
    ...     return x + x
    >>> double(ag.ones(1))
    tensor([2.])
    """

    def decorate(func: Callable[..., Any]) -> Callable[..., Any]:
        @functools.wraps(func)
        def wrapped(*args: Any, **kwargs: Any) -> Any:
            relevant = dispatcher(*args, **kwargs)
            if has_torch_function(relevant):
                return handle_torch_function(wrapped, relevant, *args, **kwargs)
            return func(*args, **kwargs)

        return wrapped

    return decorate
