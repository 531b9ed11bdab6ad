"""Gradients of recorded operations, under the names of torch.autograd (facade)."""

from typing import TYPE_CHECKING

from .._missing import getattr_of as _getattr_of
from . import forward_ad, function, grad_mode, graph, variable
from .function import Function
from .grad_mode import enable_grad, is_grad_enabled, no_grad, set_grad_enabled
from .gradcheck import GradcheckError, gradcheck, gradgradcheck
from .gradients import backward, grad
from .variable import Variable

__all__ = [
    "Function", "GradcheckError", "Variable", "backward", "enable_grad", "forward_ad", "function", "grad", "grad_mode",
    "gradcheck", "gradgradcheck", "graph", "is_grad_enabled", "no_grad", "set_grad_enabled", "variable",
]  # fmt: skip

if not TYPE_CHECKING:  # else any name would be right
    __getattr__ = _getattr_of(__name__, "torch.autograd")
