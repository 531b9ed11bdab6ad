"""Assertions for test cases of unittest (facade)."""

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from ._close import assert_close

if TYPE_CHECKING:
    from ._verdict import Verdict

__unittest = True  # unittest leaves the frames of this module out of its reports


class GradientAssertions:
    """A mixin for unittest.TestCase with assertions about gradients; it comes before TestCase.

    >>> import unittest
    >>> import autograd_cy as ag
    >>> class TestSquare(ag.testing.GradientAssertions, unittest.TestCase):
    ...     def test_value(self):
    ...         self.assertClose(ag.tensor([3.0]).square(), ag.tensor([9.0]))
    ...
    ...     def test_gradient(self):
    ...         self.assertGradients(ag.square, ag.tensor([3.0, 1.0], dtype=ag.float64, requires_grad=True))
    >>> unittest.defaultTestLoader.loadTestsFromTestCase(TestSquare).countTestCases()
    2
    """

    def assertGradients(self, f: Callable[..., Any], *inputs: Any, **options: Any) -> "Verdict":
        """Fail unless the derivatives of `f` are right: `check_gradients` with its options. Returns the verdict."""
        __tracebackhide__ = True  # for tests that run under pytest
        from ._check import check_gradients
        from ._verdict import GradientError

        try:
            return check_gradients(f, *inputs, **options)
        except GradientError as error:
            raise error.with_traceback(None) from None

    def assertClose(self, actual: Any, expected: Any, **options: Any) -> None:
        """Fail unless `actual` is close to `expected`: `assert_close` with its options."""
        __tracebackhide__ = True
        try:
            assert_close(actual, expected, **options)
        except AssertionError as error:
            raise error.with_traceback(None) from None
