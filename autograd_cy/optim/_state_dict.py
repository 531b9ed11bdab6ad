"""State dicts of optimizers: parameters are replaced by numbers, and back (facade)."""

from collections import defaultdict
from collections.abc import Iterable
from copy import deepcopy
from itertools import chain
from typing import Any

import numpy as np

from .._core.graph.tensor import Tensor
from .._creation.data import from_numpy


def packed(optimizer: Any) -> dict[str, Any]:
    """The state and the groups, with parameters replaced by their numbers."""
    numbers: dict[int, int] = {}
    groups, start = [], 0
    for group in optimizer.param_groups:
        for i, param in enumerate(group["params"], start):
            numbers.setdefault(id(param), i)
        start += len(group["params"])
        rest = {key: value for key, value in group.items() if key != "params"}
        groups.append({**rest, "params": [numbers[id(param)] for param in group["params"]]})
    state = {numbers[id(key)] if isinstance(key, Tensor) else key: value for key, value in optimizer.state.items()}
    return {"state": state, "param_groups": groups}


def unpacked(state_dict: dict[str, Any], groups: list[dict[str, Any]]) -> dict[str, Any]:
    """The state by parameter, and the saved groups with the parameters of `groups`; the arguments are not changed."""
    saved = deepcopy(state_dict["param_groups"])
    if len(groups) != len(saved):
        raise ValueError("loaded state dict has a different number of parameter groups")
    if any(len(group["params"]) != len(other["params"]) for group, other in zip(groups, saved, strict=True)):
        raise ValueError("loaded state dict contains a parameter group that doesn't match the size of optimizer's group")
    numbers = chain.from_iterable(group["params"] for group in saved)
    params = dict(zip(numbers, chain.from_iterable(group["params"] for group in groups), strict=True))
    as_float32 = {
        number for group in saved if group.get("fused") or group.get("capturable") for number in group["params"]
    }  # their step is float32
    state: defaultdict[Any, Any] = defaultdict(dict)
    for key, value in state_dict["state"].items():
        if key in params:
            state[params[key]] = _like(params[key], value, None, key in as_float32)
        else:
            state[key] = value
    for group, other in zip(groups, saved, strict=True):
        other["params"] = group["params"]
        if "param_names" in group:
            other.setdefault("param_names", group["param_names"])
    return {"state": state, "param_groups": saved}


def _like(param: Tensor, value: Any, key: Any, as_float32: bool) -> Any:
    """The value with its tensors in the parameter's dtype; a copy, except for tensors that have it already."""
    if isinstance(value, dict):
        return {name: _like(param, item, name, as_float32) for name, item in value.items()}
    if not isinstance(value, Tensor) and hasattr(value, "__dlpack__"):  # a tensor of another library
        value = from_numpy(np.array(value.detach() if hasattr(value, "detach") else value))
    if isinstance(value, Tensor):
        if key == "step":
            return value.float() if as_float32 else value
        return value.to(param.dtype) if param.is_floating_point() else value
    if isinstance(value, Iterable) and not isinstance(value, str):
        return type(value)(_like(param, item, None, as_float32) for item in value)  # type: ignore[call-arg]
    return value
