"""Tools for tests of code that is differentiated (facade).

`strategies` and the examples of `check_gradients` need the extra: ``pip install "autograd_cy[testing]"``.

>>> import autograd_cy as ag
>>> x = ag.linspace(-1, 1, 5, dtype=ag.float64).requires_grad_()
>>> ag.testing.check_gradients(lambda x: (x * x).exp(), x).outcome
'right'
"""

from typing import TYPE_CHECKING

from .._later import names_later as _names_later
from .._missing import getattr_of as _getattr_of

__all__ = ["CULPRITS", "GradientError", "Location", "Verdict", "check_gradients", "gradients", "locate", "strategies"]

if TYPE_CHECKING:
    from . import strategies
    from ._check import check_gradients, gradients
    from ._locate import Location, locate
    from ._verdict import CULPRITS, GradientError, Verdict
else:  # where any name would be right
    __getattr__, __dir__ = _names_later(
        __name__,
        {
            "strategies": [],
            "_check": ["check_gradients", "gradients"],
            "_locate": ["Location", "locate"],
            "_verdict": ["CULPRITS", "GradientError", "Verdict"],
        },
        _getattr_of(__name__, "torch.testing"),
    )
