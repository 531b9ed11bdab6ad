"""Optimizers, under the names of torch.optim (facade).

A step makes one pass over each parameter: its value, gradient and state are read and written once, and one call handles all
parameters of a group. So `foreach` and `fused` are accepted but change nothing. With `differentiable=True` a step consists of
recorded operations: parameters are then results of operations (`w = start.clone()`), gradients may be, and state is replaced,
not written.
"""

from .._compat import names_later as _names_later
from .._compat import offered_in_files as _offered_in_files
from .._compat.missing import getattr_of as _getattr_of

# Classes are offered: names with a capital letter, but for a type of arguments.
_HIDDEN = {"ParamsT"}
_HOMES = {
    home: [name for name in names if name[0].isupper() and name not in _HIDDEN and home != "swa_utils"]
    for home, names in _offered_in_files(__path__[0]).items()
}
_HOMES |= {"_adafactor": ["Adafactor"], "_muon": ["Muon"], "lr_scheduler": []}
__all__ = sorted(name for home, names in _HOMES.items() for name in names or [home])

__getattr__, __dir__ = _names_later(
    __name__, {home: [*names, home] for home, names in _HOMES.items()}, _getattr_of(__name__, "torch.optim")
)
for _name in __all__:
    __getattr__(_name)  # scripts look classes up in vars() of this module
