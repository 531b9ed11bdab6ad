"""Neural networks: functions, layers and their utilities (facade). Layers are imported on first use."""

from .._compat import names_later as _names_later
from .._compat.missing import getattr_of as _getattr_of
from . import functional
from .modules import _HOMES
from .modules import __all__ as _layers

__all__ = [
    "Buffer", "DataParallel", "Parameter", "UninitializedBuffer", "UninitializedParameter", "attention", "functional",
    "grad", "init", "modules", "parallel", "parameter", "utils", *_layers,
]  # fmt: skip

__getattr__, __dir__ = _names_later(
    __name__,
    {
        "attention": [],
        "common_types": [],
        "grad": [],
        "init": [],
        "modules": [],
        "parallel": ["DataParallel", "parallel"],
        "parameter": ["Buffer", "Parameter", "UninitializedBuffer", "UninitializedParameter", "parameter"],
        "utils": [],
        **{f"modules.{home}": names for home, names in _HOMES.items() if names},
    },
    _getattr_of(__name__, "torch.nn"),
)
