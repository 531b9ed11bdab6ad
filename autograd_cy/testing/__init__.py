"""What tests of gradients and of tensors need, under the names of torch.testing and beyond (facade).

>>> import autograd_cy as ag
>>> ag.testing.assert_close(ag.ones(3).exp().log(), ag.ones(3))
>>> ag.testing.assert_close([ag.ones(3)], [])
Traceback (most recent call last):
    ...
AssertionError: The length of the sequences mismatch: 1 != 0
"""

from typing import TYPE_CHECKING

from .._later import names_later as _names_later
from .._missing import getattr_of as _getattr_of

if TYPE_CHECKING:
    from ._close import assert_close
    from ._make_tensor import make_tensor
    from ._unittest import GradientAssertions

__all__ = ["GradientAssertions", "assert_close", "make_tensor"]

if not TYPE_CHECKING:  # else any name would be right
    __getattr__, __dir__ = _names_later(
        __name__,
        {"_close": ["assert_close"], "_make_tensor": ["make_tensor"], "_unittest": ["GradientAssertions"]},
        _getattr_of(__name__, "torch.testing"),
    )
