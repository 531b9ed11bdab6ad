"""Modules whose parameters are set later (facade)."""

import inspect
from typing import Any

from ..._core.runtime.entry import public
from ...random import get_rng_state, set_rng_state
from ..modules.module import Module


@public
def skip_init(module_cls: Any, *args: Any, **kwargs: Any) -> Any:
    """``skip_init(nn.Linear, 2, 3)``: a module whose parameters have any values, made without random numbers.

    RuntimeError for what is no Module, or takes no ``device``.

    >>> import autograd_cy as ag
    >>> ag.nn.utils.skip_init(ag.nn.Linear, 2, 3)
    Linear(in_features=2, out_features=3, bias=True)
    """
    if not issubclass(module_cls, Module):
        raise RuntimeError(f"Expected a Module; got {module_cls}")
    if "device" not in inspect.signature(module_cls).parameters:
        raise RuntimeError("Module must support a 'device' arg to skip initialization")
    state = get_rng_state()
    try:
        return module_cls(*args, **kwargs)
    finally:
        set_rng_state(state)
