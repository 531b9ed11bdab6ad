"""Checks of parameter groups (facade)."""

import warnings
from typing import Any

from .._core.graph.tensor import Tensor
from .._functional.queries import typename


class _RequiredParameter:
    """The default of a setting that each group must give."""

    def __repr__(self) -> str:
        return "<required parameter>"


required = _RequiredParameter()


def complete(group: dict[str, Any], defaults: dict[str, Any]) -> None:
    """Make lists of the group's parameters and of their names, and fill in missing options."""
    if not isinstance(group, dict):
        raise TypeError(f"param_group must be a dict, but got {type(group)}")
    params = _listed(group["params"])
    names = [param[0] for param in params if isinstance(param, tuple)]
    if names and len(names) != len(params):
        raise ValueError("all optimizer params should be with/without names. Some param names are missing")
    group["params"] = [param[1] if isinstance(param, tuple) else param for param in params]
    if names:
        group["param_names"] = names
    for param in group["params"]:
        _check_param(param, bool(defaults.get("differentiable")))
    for name, default in defaults.items():
        if default is required and name not in group:
            raise ValueError(f"parameter group didn't specify a value of required optimization parameter {name}")
        group.setdefault(name, default)


def _listed(params: Any) -> list[Any]:
    if isinstance(params, Tensor):
        return [params]
    if isinstance(params, set):
        raise TypeError(
            "optimizer parameters need to be organized in ordered collections, but the ordering of tensors in sets will "
            "change between runs. Please use a list instead."
        )
    return list(params)


def _check_param(param: Any, differentiable: bool) -> None:
    if not isinstance(param, Tensor):
        raise TypeError(f"optimizer can only optimize Tensors, but one of the params is {typename(param)}")
    if not differentiable and not (param.is_leaf or param.retains_grad):
        raise ValueError("can't optimize a non-leaf Tensor")


def check_among(group: dict[str, Any], others: list[dict[str, Any]]) -> None:
    """Warn of duplicate parameters; refuse a parameter of another group, and names in only some groups."""
    params = set(group["params"])
    if len(params) != len(group["params"]):
        warnings.warn(
            "optimizer contains a parameter group with duplicate parameters; in future, this will cause an error; see "
            "github.com/pytorch/pytorch/issues/40967 for more information",
            stacklevel=4,
        )
    for other in others:
        if ("param_names" in group) != ("param_names" in other):
            described = "with names" if "param_names" in group else "without names"
            raise ValueError(
                f"all optimizer param groups should be with/without names. cannot add param group {described} to the optimizer"
            )
    if any(not params.isdisjoint(other["params"]) for other in others):
        raise ValueError("some parameters appear in more than one parameter group")


def fill_gradients_with_zeros(params: list[Tensor]) -> None:
    """Fill the gradients with zeros, detached from their graph."""
    for param in params:
        grad = param.grad
        if grad is None:
            continue
        if grad.grad_fn is not None:
            grad.detach_()
        else:
            grad.requires_grad_(False)
        grad.zero_()
