"""Reductions and the like of tensors some of whose elements don't count, under the names of torch.masked (facade)."""

from .._compat.missing import getattr_of as _getattr_of
from ._elements import cumprod, cumsum, log_softmax, logaddexp, normalize, softmax, softmin
from ._reductions import amax, amin, argmax, argmin, logsumexp, mean, median, norm, prod, std, sum, var

__all__ = [
    "amax", "amin", "argmax", "argmin", "cumprod", "cumsum", "log_softmax", "logaddexp", "logsumexp", "mean", "median", "norm",
    "normalize", "prod", "softmax", "softmin", "std", "sum", "var",
]  # fmt: skip

__getattr__ = _getattr_of(__name__, "torch.masked")
