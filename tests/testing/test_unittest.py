"""The assertions for unittest: they pass, fail, and report no frames of their own."""

import io
import sys
import types
import unittest

import pytest

import autograd_cy as ag
from autograd_cy import testing


class GradientErrorLike(AssertionError):
    """What the stand-in raises."""


class Cases(testing.GradientAssertions, unittest.TestCase):
    """Not collected by pytest: its name doesn't begin with Test, and the loader below is unittest's."""

    __test__ = False

    def test_close(self):
        self.assertClose(ag.ones(2), ag.ones(2))
        self.assertClose([1.0], [1.05], rtol=0, atol=0.1)

    def test_not_close(self):
        self.assertClose({"w": ag.ones(2)}, {"w": ag.zeros(2)})

    def test_not_close_in_our_words(self):
        self.assertClose(1, 2, msg="in our words")

    def test_gradients(self):
        assert self.assertGradients(abs, 3, mode="full") == ((3,), {"mode": "full"})

    def test_wrong_gradients(self):
        self.assertGradients(len, 3)


@pytest.fixture
def report(monkeypatch):
    """What unittest prints of one test, which it runs."""

    def check_gradients(f, *inputs, **options):
        if f is len:
            raise GradientErrorLike("wrong")
        return inputs, options

    stand_ins = {"_check": {"check_gradients": check_gradients}, "_verdict": {"GradientError": GradientErrorLike}}
    for name, values in stand_ins.items():
        monkeypatch.setitem(sys.modules, f"autograd_cy.testing.{name}", types.SimpleNamespace(**values))

    def run(name):
        stream = io.StringIO()
        unittest.TextTestRunner(stream, verbosity=0).run(Cases(name))
        return stream.getvalue()

    return run


@pytest.mark.parametrize("name", ["test_close", "test_gradients"])
def test_what_is_right_passes(report, name):
    assert report(name).endswith("OK\n")


@pytest.mark.parametrize(
    ("name", "call", "text"),
    [
        ("test_not_close", 'self.assertClose({"w": ag.ones(2)}, {"w": ag.zeros(2)})', "Mismatched elements: 2 / 2 (100.0%)"),
        ("test_not_close_in_our_words", 'self.assertClose(1, 2, msg="in our words")', "AssertionError: in our words"),
        ("test_wrong_gradients", "self.assertGradients(len, 3)", "GradientErrorLike: wrong"),
    ],
)
def test_what_is_wrong_fails_at_the_line_of_the_test(report, name, call, text):
    printed = report(name)
    assert "FAILED (failures=1)" in printed
    assert call in printed and text in printed
    assert printed.count('  File "') <= 1 + (name == "test_wrong_gradients")  # unittest trims plain AssertionErrors alone
