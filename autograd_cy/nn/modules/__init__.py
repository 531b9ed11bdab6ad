"""The layers, imported when they are asked for, under the file names of torch.nn.modules (facade)."""

from typing import TYPE_CHECKING

from ..._later import names_later as _names_later
from ..._missing import getattr_of as _getattr_of

HOMES: dict[str, list[str]] = {
    "container": ["Container", "ModuleDict", "ModuleList", "ParameterDict", "ParameterList", "Sequential"],
    "lazy": ["LazyModuleMixin"],
    "linear": ["Bilinear", "Identity", "LazyLinear", "Linear"],
    "module": ["Module"],
}
__all__ = sorted(name for names in HOMES.values() for name in names)

if TYPE_CHECKING:
    from . import container, lazy, linear, module
    from .container import *  # noqa: F403
    from .lazy import *  # noqa: F403
    from .linear import *  # noqa: F403
    from .module import *  # noqa: F403
else:  # where any name would be right
    __getattr__, __dir__ = _names_later(
        __name__, {**HOMES, **{f"{home}": [home, *names] for home, names in HOMES.items()}}, _getattr_of(__name__, "torch.nn")
    )
