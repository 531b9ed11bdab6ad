"""Hypothesis strategies for tensors, and for what functions of tensors take.

All shrink to the smallest shape and then to small integers. They need Hypothesis: ``pip install "autograd_cy[testing]"``.

>>> from autograd_cy.testing.strategies import shapes, tensors
>>> from hypothesis import given
>>> @given(tensors(shape=shapes(min_dims=1)))
... def test_that_sums_of_halves_are_halves_of_sums(x):
...     assert (x / 2).sum() == x.sum() / 2
>>> test_that_sums_of_halves_are_halves_of_sums()
"""

from ._modules import modules
from ._numbers import away_from, dtypes
from ._programs import programs
from ._shapes import broadcastable_shapes, indices, shapes
from ._tensors import distinct, positive_definite, tensors

__all__ = [
    "away_from", "broadcastable_shapes", "distinct", "dtypes", "indices", "modules", "positive_definite", "programs",
    "shapes", "tensors",
]  # fmt: skip
