"""The older name of func.functional_call, and the with block that libraries take from here (facade)."""

import contextlib
import warnings
from typing import Any

from ...func import functional_call as _functional_call
from ...func._modules import reparametrized as _reparametrized

__all__ = ["functional_call"]


def functional_call(
    module: Any,
    parameters_and_buffers: Any,
    args: Any = None,
    kwargs: dict[str, Any] | None = None,
    *,
    tie_weights: bool = True,
    strict: bool = False,
) -> Any:
    """``functional_call(module, tensors, args, kwargs)``: deprecated by PyTorch in favour of ``func.functional_call``."""
    warnings.warn(
        "`torch.nn.utils.stateless.functional_call` is deprecated as of PyTorch 2.0 and will be removed in a future "
        "version of PyTorch. Please use `torch.func.functional_call` instead which is a drop-in replacement.",
        FutureWarning,
        stacklevel=2,
    )
    return _functional_call(module, parameters_and_buffers, args, kwargs, tie_weights=tie_weights, strict=strict)


def _reparametrize_module(
    module: Any, parameters_and_buffers: Any, *, tie_weights: bool = False, strict: bool = False, stack_weights: bool = False
) -> contextlib.AbstractContextManager[None]:
    """``with _reparametrize_module(module, tensors):`` replaces the module's tensors by those, by name.

    `stack_weights`, PyTorch's order of putting tensors back, changes nothing: each name gets its tensor back.
    """
    return _reparametrized(module, dict(parameters_and_buffers), tie_weights=tie_weights, strict=strict)
