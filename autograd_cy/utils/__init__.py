"""Helpers of the facade."""

from .._compat import names_later as _names_later
from .._compat.missing import getattr_of as _getattr_of
from . import hooks

__all__ = ["benchmark", "checkpoint", "data", "deterministic", "dlpack", "hooks", "safetensors", "tensorboard"]

__getattr__, __dir__ = _names_later(
    __name__,
    {"benchmark": (), "checkpoint": (), "data": (), "deterministic": (), "dlpack": (), "safetensors": (), "tensorboard": ()},
    _getattr_of(__name__, "torch.utils"),
)
