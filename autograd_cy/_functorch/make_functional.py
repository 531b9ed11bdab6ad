"""Modules as functions of their tensors: what functional_call() and stack_module_state() took the place of (facade)."""

import copy
from collections.abc import Callable, Sequence
from typing import Any

from .._core.graph.tensor import Tensor
from .._core.ops.shapes.joining import stack
from ..func import functional_call, stack_module_state
from ..nn.modules.module import Module

__all__ = [
    "FunctionalModule", "FunctionalModuleWithBuffers", "combine_state_for_ensemble", "functional_init",
    "functional_init_with_buffers", "make_functional", "make_functional_with_buffers",
]  # fmt: skip

_Tensors = tuple[Tensor, ...]


class FunctionalModuleWithBuffers(Module):
    """A module as a function of its parameters and buffers: ``f(parameters, buffers, *args, **kwargs)``."""

    def __init__(self, stateless_model: Module) -> None:
        super().__init__()
        self.stateless_model = stateless_model
        self.param_names = tuple(name for name, _ in stateless_model.named_parameters())
        self.buffer_names = tuple(name for name, _ in stateless_model.named_buffers())

    def forward(self, params: Any, buffers: Any, *args: Any, **kwargs: Any) -> Any:
        tensors = dict(zip(self.param_names, params, strict=True)) | dict(zip(self.buffer_names, buffers, strict=True))
        return functional_call(self.stateless_model, tensors, args, kwargs)


class FunctionalModule(FunctionalModuleWithBuffers):
    """A module without buffers as a function of its parameters: ``f(parameters, *args, **kwargs)``."""

    def forward(self, params: Any, *args: Any, **kwargs: Any) -> Any:
        return super().forward(params, (), *args, **kwargs)


def make_functional(model: Module, disable_autograd_tracking: bool = False) -> tuple[FunctionalModule, _Tensors]:
    """``make_functional(model)`` is (function, parameters): ``function(parameters, *args)`` is what a copy of the model
    returns with these. RuntimeError for a model with buffers."""
    if list(model.buffers()):
        raise RuntimeError(
            "make_functional(model): `model` has buffers. Please use make_functional_with_buffers(model) instead."
        )
    function, params, _ = _functional(FunctionalModule, model, disable_autograd_tracking)
    return function, params


def make_functional_with_buffers(
    model: Module, disable_autograd_tracking: bool = False
) -> tuple[FunctionalModuleWithBuffers, _Tensors, _Tensors]:
    """``make_functional_with_buffers(model)`` is (function, parameters, buffers): ``function(parameters, buffers, *args)``."""
    return _functional(FunctionalModuleWithBuffers, model, disable_autograd_tracking)


def _functional(kind: Any, model: Module, untracked: bool) -> tuple[Any, _Tensors, _Tensors]:
    own = copy.deepcopy(model)
    params, buffers = tuple(own.parameters()), tuple(own.buffers())
    if untracked:
        for x in params:
            x.requires_grad_(False)
    return kind(copy.deepcopy(model)), params, buffers


def combine_state_for_ensemble(models: Sequence[Module]) -> tuple[FunctionalModuleWithBuffers, _Tensors, _Tensors]:
    """``combine_state_for_ensemble(models)`` is (function, parameters, buffers) of several models of one class, to be called
    with vmap; the tensors are stacked along dimension 0."""
    params, buffers = stack_module_state(models)
    return FunctionalModuleWithBuffers(copy.deepcopy(models[0])), tuple(params.values()), tuple(buffers.values())


def functional_init_with_buffers(
    model_class: Callable[..., Module], ensemble_shape: Sequence[int] = (), device: Any = "cpu"
) -> Callable[..., Any]:
    """``functional_init_with_buffers(cls, (n,))(*args)`` is (parameters, buffers, function, their names) of n new models.

    ``function(parameters, buffers, inputs)`` takes one input, or a tuple of them.
    """
    if len(ensemble_shape) > 1:
        raise ValueError("NYI: ensemble_shape with more than 1 element")

    def made(*args: Any, **kwargs: Any) -> Any:
        count = ensemble_shape[0] if ensemble_shape else 1
        if count <= 0:
            raise ValueError(f"num_models {count} should be > 0")
        models = [model_class(*args, **kwargs).to(device) for _ in range(count)]
        function = FunctionalModuleWithBuffers(models[0])
        if ensemble_shape:
            tensors = [_stacked([list(m.parameters()) for m in models]), _stacked([list(m.buffers()) for m in models])]
        else:
            tensors = [tuple(models[0].parameters()), tuple(models[0].buffers())]

        def called(params: Any, buffers: Any, inputs: Any) -> Any:
            return function(params, buffers, *(inputs if isinstance(inputs, tuple) else (inputs,)))

        return *tensors, called, function.param_names, function.buffer_names

    return made


def functional_init(
    model_class: Callable[..., Module], ensemble_shape: Sequence[int] = (), device: Any = "cpu"
) -> Callable[..., Any]:
    """``functional_init(cls, (n,))(*args)`` is (parameters, function, their names) of n new models without buffers."""
    with_buffers = functional_init_with_buffers(model_class, ensemble_shape, device)

    def made(*args: Any, **kwargs: Any) -> Any:
        params, buffers, function, names, _ = with_buffers(*args, **kwargs)
        if buffers:
            raise RuntimeError("functional_init(): the model has buffers: call functional_init_with_buffers()")
        return params, lambda params, inputs: function(params, (), inputs), names

    return made


def _stacked(states: list[list[Tensor]]) -> _Tensors:
    return tuple(stack(list(tensors)).detach() for tensors in zip(*states, strict=True))
