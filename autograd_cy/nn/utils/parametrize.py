"""Tensors of modules that are computed from other tensors at each read (facade)."""

from collections.abc import Iterator
from contextlib import contextmanager
from copy import deepcopy
from typing import Any, NoReturn

from ..._core.graph.tensor import Tensor
from ..._core.runtime.entry import public as _public
from ...autograd.grad_mode import no_grad
from ..modules.container import ModuleDict
from ..parameter import Parameter
from . import _parametrization_list as _lists
from ._parametrization_list import ParametrizationList

__all__ = [
    "ParametrizationList", "cached", "is_parametrized", "register_parametrization", "remove_parametrizations",
    "transfer_parametrizations_and_params", "type_before_parametrizations",
]  # fmt: skip

_cache: dict[tuple[int, str], Tensor] = {}
_caching = 0


@contextmanager
def cached() -> Iterator[None]:
    """``with cached():`` each parametrized tensor is computed once, when it is first read.

    >>> import autograd_cy as ag
    >>> layer = ag.nn.utils.parametrizations.weight_norm(ag.nn.Linear(2, 3))
    >>> with ag.nn.utils.parametrize.cached():
    ...     layer.weight is layer.weight
    True
    """
    global _caching
    _caching += 1
    try:
        yield
    finally:
        _caching -= 1
        if not _caching:
            _cache.clear()


@_public
def register_parametrization(module: Any, tensor_name: str, parametrization: Any, *, unsafe: bool = False) -> Any:
    """``register_parametrization(module, "weight", parametrization)``: reading module.weight calls the parametrization.

    It is a Module, called with the former tensor, now ``module.parametrizations.weight.original``, or with the result of the
    parametrization before it. Its method ``right_inverse(value)``, if any, computes the original for a value: at the start,
    and when the attribute is assigned. Unless unsafe, ValueError if dtype or shape change. Returns the module.

    >>> import autograd_cy as ag
    >>> class Symmetric(ag.nn.Module):
    ...     def forward(self, x):
    ...         return x.triu() + x.triu(1).T
    >>> layer = ag.nn.Linear(3, 3)
    >>> _ = ag.nn.utils.parametrize.register_parametrization(layer, "weight", Symmetric())
    >>> bool((layer.weight == layer.weight.T).all())
    True
    """
    parametrization.train(module.training)
    if is_parametrized(module, tensor_name):
        if not unsafe:
            _check_added(module, tensor_name, parametrization)
        module.parametrizations[tensor_name].append(parametrization)
        module.parametrizations[tensor_name].unsafe |= unsafe
    elif tensor_name in module._buffers or tensor_name in module._parameters:
        parametrizations = ParametrizationList([parametrization], getattr(module, tensor_name), unsafe=unsafe)
        delattr(module, tensor_name)
        if not is_parametrized(module):
            _give_own_class(module)
            module.parametrizations = ModuleDict()
        _add_property(type(module), tensor_name)
        module.parametrizations[tensor_name] = parametrizations
    else:
        raise ValueError(
            f"Module '{module}' does not have a parameter, a buffer, or a parametrized element with name '{tensor_name}'"
        )
    return module


def _check_added(module: Any, name: str, parametrization: Any) -> None:
    """Refuse a further parametrization if it, or its inverse, changes the dtype or shape of the tensor."""
    before = getattr(module, name)
    after = parametrization(before)
    _lists.check_tensor(after, "A parametrization must return a tensor. Got")
    _lists.check_same(
        after,
        before,
        (f"module.{name}.", f"parametrization(module.{name})."),
        "Registering a parametrization may not change the {} of the tensor, unless the `unsafe` flag is enabled.\n",
    )
    if hasattr(parametrization, "right_inverse"):
        try:
            inverse = parametrization.right_inverse(after)
        except NotImplementedError:
            return
        _lists.check_tensor(inverse, "parametrization.right_inverse must return a tensor. Got:")
        _lists.check_same(
            inverse,
            before,
            (f"module.{name}.", "returned "),
            "The tensor returned by parametrization.right_inverse must have the same {} as "
            f"module.{name}, unless the `unsafe` flag is enabled.\n",
        )


def _give_own_class(module: Any) -> None:
    """Give the module its own class, with its parametrized tensors as properties."""
    cls = type(module)

    def copied(self: Any, memo: dict[int, Any]) -> Any:
        if id(self) not in memo:
            memo[id(self)] = replica = self.__new__(type(self))
            replica.__dict__ = deepcopy(self.__dict__, memo)
        return memo[id(self)]

    def state_of(self: Any) -> NoReturn:
        raise RuntimeError("Serialization of parametrized modules is only supported through state_dict().")

    members: dict[str, Any] = {"__getstate__": state_of}
    if not hasattr(cls, "__deepcopy__"):
        members["__deepcopy__"] = copied
    module.__class__ = type(f"Parametrized{cls.__name__}", (cls,), members)


def _add_property(cls: Any, name: str) -> None:
    def computed(self: Any) -> Tensor:
        if not _caching:
            return self.parametrizations[name]()
        key = (id(self), name)
        if key not in _cache:
            _cache[key] = self.parametrizations[name]()
        return _cache[key]

    def assigned(self: Any, value: Tensor) -> None:
        self.parametrizations[name].right_inverse(value)

    setattr(cls, name, property(computed, assigned))


def is_parametrized(module: Any, tensor_name: str | None = None) -> bool:
    """``is_parametrized(module, tensor_name=None)``: whether the tensor, or any tensor of the module, is parametrized.

    >>> import autograd_cy as ag
    >>> ag.nn.utils.parametrize.is_parametrized(ag.nn.Linear(2, 3))
    False
    """
    parametrizations = getattr(module, "parametrizations", None)
    if not isinstance(parametrizations, ModuleDict):
        return False
    return len(parametrizations) > 0 if tensor_name is None else tensor_name in parametrizations


@_public
def remove_parametrizations(module: Any, tensor_name: str, leave_parametrized: bool = True) -> Any:
    """``remove_parametrizations(module, "weight", leave_parametrized=True)`` makes the tensor an ordinary one.

    It keeps its value; without leave_parametrized it becomes the original, which must be a single one. Returns the module.

    >>> import autograd_cy as ag
    >>> layer = ag.nn.utils.parametrizations.weight_norm(ag.nn.Linear(2, 3))
    >>> layer = ag.nn.utils.parametrize.remove_parametrizations(layer, "weight")
    >>> type(layer).__name__, type(layer.weight).__name__
    ('Linear', 'Parameter')
    """
    if not is_parametrized(module, tensor_name):
        raise ValueError(f"Module {module} does not have a parametrization on {tensor_name}")
    parametrizations = module.parametrizations[tensor_name]
    if parametrizations.is_tensor:
        tensor = parametrizations.original
        if leave_parametrized:
            with no_grad():
                tensor.data = getattr(module, tensor_name).data
    elif leave_parametrized:
        value = getattr(module, tensor_name)
        tensor = Parameter(value.detach()) if value.requires_grad else value
    else:
        raise ValueError(
            "Cannot leave unparametrized (`leave_parametrized=False`) a tensor that is parametrized in terms of a sequence of "
            "tensors."
        )
    delattr(type(module), tensor_name)
    del module.parametrizations[tensor_name]
    _lists.register(module, tensor_name, tensor)
    if not is_parametrized(module):
        delattr(module, "parametrizations")
        module.__class__ = type(module).__bases__[0]
    return module


def type_before_parametrizations(module: Any) -> type:
    """``type_before_parametrizations(module)``: the module's class before its tensors were parametrized.

    >>> import autograd_cy as ag
    >>> layer = ag.nn.utils.parametrizations.weight_norm(ag.nn.Linear(2, 3))
    >>> type(layer).__name__, ag.nn.utils.parametrize.type_before_parametrizations(layer).__name__
    ('ParametrizedLinear', 'Linear')
    """
    return type(module).__bases__[0] if is_parametrized(module) else type(module)


@_public
def transfer_parametrizations_and_params(from_module: Any, to_module: Any, tensor_name: str | None = None) -> Any:
    """``transfer_parametrizations_and_params(from_module, to_module)``: copies parametrizations to the second module.

    It gets the same originals; tensor_name: only for that tensor. Returns to_module.
    """
    if not is_parametrized(from_module):
        return to_module
    for name in list(from_module.parametrizations) if tensor_name is None else [tensor_name]:
        source = from_module.parametrizations[name]
        if not hasattr(to_module, name):
            setattr(to_module, name, Parameter(getattr(from_module, name).detach()))
        for parametrization in source:
            register_parametrization(to_module, name, parametrization)
        target = to_module.parametrizations[name]
        for original in ["original"] if source.is_tensor else [f"original{i}" for i in range(source.ntensors)]:
            setattr(target, original, getattr(source, original))
    return to_module
