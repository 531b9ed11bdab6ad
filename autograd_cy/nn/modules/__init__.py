"""The layers, imported on first use, under the file names of torch.nn.modules (facade)."""

from ..._compat import names_later as _names_later
from ..._compat import offered_in_files as _offered_in_files
from ..._compat.missing import getattr_of as _getattr_of

_NOT_OFFERED = {"NonDynamicallyQuantizableLinear"}  # nor are functions and private classes
_HOMES = {
    home: [name for name in names if name[0].isupper() and name not in _NOT_OFFERED]
    for home, names in _offered_in_files(__path__[0]).items()
}
__all__ = sorted(name for names in _HOMES.values() for name in names)

__getattr__, __dir__ = _names_later(
    __name__,
    {home: [home, *names] for home, names in _HOMES.items()},
    _getattr_of(__name__, "torch.nn"),
)
