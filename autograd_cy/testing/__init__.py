"""Tools for tests of code that is differentiated (facade). They need the extra: ``pip install "autograd_cy[testing]"``.

>>> import autograd_cy as ag
>>> from hypothesis import find
>>> find(ag.testing.strategies.tensors(), lambda x: x.numel() > 0 and (x > 1).any())
tensor(2., dtype=torch.float64)
"""

from typing import TYPE_CHECKING

from .._later import names_later as _names_later
from .._missing import getattr_of as _getattr_of

__all__ = ["strategies"]

if TYPE_CHECKING:
    from . import strategies
else:  # where any name would be right
    __getattr__, __dir__ = _names_later(__name__, {"strategies": []}, _getattr_of(__name__, "torch.testing"))
