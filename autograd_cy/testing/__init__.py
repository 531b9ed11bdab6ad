"""Tools for tests of gradients and tensors: torch.testing and more (facade).

`strategies` and the examples of `check_gradients` need the extra: ``pip install "autograd_cy[testing]"``.

>>> import autograd_cy as ag
>>> x = ag.linspace(-1, 1, 5, dtype=ag.float64).requires_grad_()
>>> ag.testing.check_gradients(lambda x: (x * x).exp(), x).outcome
'right'
>>> ag.testing.assert_close([ag.ones(3)], [])
Traceback (most recent call last):
    ...
AssertionError: The length of the sequences mismatch: 1 != 0
"""

from .._compat import names_later as _names_later
from .._compat.missing import getattr_of as _getattr_of

__all__ = [
    "CULPRITS", "GradientAssertions", "GradientError", "Location", "Verdict", "assert_allclose", "assert_close",
    "check_gradients", "gradients", "locate", "make_tensor", "strategies",
]  # fmt: skip

__getattr__, __dir__ = _names_later(
    __name__,
    {
        "strategies": [],
        "_check": ["check_gradients", "gradients"],
        "_allclose": ["assert_allclose"],
        "_close": ["assert_close"],
        "_locate": ["Location", "locate"],
        "_make_tensor": ["make_tensor"],
        "_unittest": ["GradientAssertions"],
        "_verdict": ["CULPRITS", "GradientError", "Verdict"],
    },
    _getattr_of(__name__, "torch.testing"),
)
