"""Modules without initialization (facade)."""

import inspect
from typing import Any

from ..._core.runtime.entry import public as _public
from ..modules.module import Module

__all__ = ["skip_init"]


@_public
def skip_init(module_cls: Any, *args: Any, **kwargs: Any) -> Any:
    """``skip_init(nn.Linear, 2, 3)``: a module with uninitialized parameters and buffers.

    RuntimeError for a class that is not a Module, or takes no ``device``.

    >>> import autograd_cy as ag
    >>> ag.nn.utils.skip_init(ag.nn.Linear, 2, 3)
    Linear(in_features=2, out_features=3, bias=True)
    """
    if not issubclass(module_cls, Module):
        raise RuntimeError(f"Expected a Module; got {module_cls}")
    if "device" not in inspect.signature(module_cls).parameters:
        raise RuntimeError("Module must support a 'device' arg to skip initialization")
    device = kwargs.pop("device", "cpu")
    return module_cls(*args, device="meta", **kwargs).to_empty(device=device)
