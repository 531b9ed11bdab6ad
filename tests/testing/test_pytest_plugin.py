"""The pytest plugin: its fixture, its option, what a failure shows, and that it costs nothing."""

import importlib.metadata
import importlib.util
import os
import subprocess
import sys
import tomllib

import pytest
from common import ROOT

from autograd_cy import testing
from autograd_cy.autograd.gradcheck import GradcheckError

pytest_plugins = ["pytester"]

PLUGIN = "autograd_cy_pytest"

CALL = """
    def test_it(gradcheck):
        result = gradcheck(abs, 1, 2{})
        assert result == "verdict"
"""


class GradientErrorLike(AssertionError):
    """What the stand-in raises."""


def deep_in_the_package(f):
    raise GradientErrorLike("the gradient of\nsquare is wrong") from ValueError("inside")


@pytest.fixture(autouse=True)
def alone(monkeypatch):
    """No other plugin comes in, and no module of the package anew: pytester would forget it, and leave it imported twice."""
    monkeypatch.setenv("PYTEST_DISABLE_PLUGIN_AUTOLOAD", "1")
    before = {name for name in sys.modules if name.startswith("autograd_cy.")}
    assert "autograd_cy.autograd._gradcheck_report" in before and issubclass(GradcheckError, Exception)
    yield
    assert before == {name for name in sys.modules if name.startswith("autograd_cy.")}


@pytest.fixture
def calls(monkeypatch):
    """The calls of check_gradients, which is replaced."""
    found = []

    def check_gradients(f, *inputs, **options):
        found.append((f, inputs, options))
        return deep_in_the_package(f) if f is not abs else "verdict"

    monkeypatch.setattr(testing, "check_gradients", check_gradients, raising=False)
    monkeypatch.setattr(testing, "GradientError", GradientErrorLike, raising=False)
    return found


def run(pytester, *arguments):
    return pytester.runpytest_inprocess("-p", PLUGIN, "-p", "no:cacheprovider", *arguments)


def test_the_fixture_calls_check_gradients(pytester, calls):
    pytester.makepyfile(CALL.format(", skip=('batched',)"))
    run(pytester).assert_outcomes(passed=1)
    assert calls == [(abs, (1, 2), {"mode": "auto", "skip": ("batched",)})]


def test_the_fixture_works_under_given(pytester, calls):
    pytester.makepyfile("""
        from hypothesis import given, strategies as st

        @given(st.integers(0, 9))
        def test_it(gradcheck, n):
            gradcheck(abs, n)
    """)
    run(pytester, "-p", "_hypothesis_pytestplugin").assert_outcomes(passed=1)
    assert {n for _, (n,), _ in calls} <= set(range(10)) and len(calls) > 5


@pytest.mark.parametrize(
    ("ini", "option", "call", "mode"),
    [
        ("", "", "", "auto"), ("gradcheck_mode = full", "", "", "full"), ("", "probe", "", "probe"), ("", "fast", "", "probe"),
        ("gradcheck_mode = full", "auto", "", "auto"), ("gradcheck_mode = full", "probe", ", mode='full'", "full"),
        ("gradcheck_mode = fast", "", "", "probe"), ("", "full", ", mode='fast'", "probe"),
    ],
)  # fmt: skip
def test_the_mode(pytester, calls, ini, option, call, mode):
    pytester.makeini(f"[pytest]\naddopts = --strict-config --strict-markers\nfilterwarnings = error\n{ini}\n")
    pytester.makepyfile(CALL.format(call))
    run(pytester, *([f"--gradcheck-mode={option}"] if option else [])).assert_outcomes(passed=1)
    assert [options["mode"] for _, _, options in calls] == [mode]


def test_a_mode_that_is_none(pytester):
    pytester.makepyfile(CALL)
    result = run(pytester, "--gradcheck-mode=exact")
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines(["*--gradcheck-mode: invalid choice: 'exact'*"])
    pytester.makeini("[pytest]\ngradcheck_mode = exact\n")
    result = run(pytester)
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines(["ERROR: gradcheck_mode is one of auto, full, probe, fast, not 'exact'"])


def test_a_failure_shows_the_line_of_the_test_and_the_report(pytester, calls):
    pytester.makepyfile("""
        def test_it(gradcheck):
            gradcheck(len, 1)
    """)
    result = run(pytester)
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(
        [">*gradcheck(len, 1)", "E * the gradient of", "E * square is wrong", "", "test_a_failure*.py:2: GradientErrorLike"],
        consecutive=True,
    )
    assert "deep_in_the_package" not in result.stdout.str() and "inside" not in result.stdout.str()


def test_an_error_of_the_function_keeps_its_traceback(pytester, calls, monkeypatch):
    monkeypatch.setattr(testing, "check_gradients", lambda f, **options: f())
    pytester.makepyfile("""
        def broken():
            raise KeyError("of mine")

        def test_it(gradcheck):
            gradcheck(broken)
    """)
    result = run(pytester)
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(["*gradcheck(broken)", '>*raise KeyError("of mine")', "E*KeyError: 'of mine'"])


def test_the_fixture_and_the_option_are_listed(pytester):
    text = run(pytester, "--fixtures").stdout
    text.fnmatch_lines(["gradcheck [[]session scope] -- *", "*autograd_cy.testing.check_gradients()*"])
    text = run(pytester, "--help").stdout
    text.fnmatch_lines(["autograd_cy:", "*--gradcheck-mode={auto,full,probe,fast}", "*gradcheck_mode *"])


def test_a_right_and_a_wrong_gradient(pytester, monkeypatch):
    """The whole of it, without a stand-in."""
    if importlib.util.find_spec("autograd_cy.testing._check") is None:
        pytest.skip("check_gradients is not there yet")
    pytester.makepyfile("""
        import autograd_cy as ag

        x = ag.tensor([1.0, 2.0], dtype=ag.float64, requires_grad=True)

        class Square(ag.autograd.Function):
            @staticmethod
            def forward(ctx, x):
                ctx.save_for_backward(x)
                return x * x

            @staticmethod
            def backward(ctx, g):
                (x,) = ctx.saved_tensors
                return g * x

        def test_right(gradcheck):
            assert gradcheck(ag.exp, x).outcome == "right"

        def test_wrong(gradcheck):
            gradcheck(Square.apply, x)
    """)
    monkeypatch.setenv("PYTHONPATH", os.path.dirname(importlib.import_module(PLUGIN).__file__), prepend=os.pathsep)
    result = pytester.runpytest_subprocess("-p", PLUGIN, "-p", "no:cacheprovider")
    result.assert_outcomes(passed=1, failed=1)
    result.stdout.fnmatch_lines([">*gradcheck(Square.apply, x)", "E *"])
    assert "_check.py" not in result.stdout.str()


def test_it_costs_nothing_where_it_is_not_used():
    script = f"import sys, pytest, {PLUGIN}; print(*{{'numpy', 'autograd_cy'}} & set(sys.modules))"
    done = subprocess.run([sys.executable, "-W", "error", "-c", script], capture_output=True, text=True, cwd=ROOT)
    assert (done.stdout, done.stderr) == ("\n", "")


def test_the_plugin_is_registered_under_the_name_of_its_module():
    """Then `-p autograd_cy_pytest` finds it once, whether it is installed or not."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    assert project["project"]["entry-points"]["pytest11"] == {PLUGIN: PLUGIN}
    assert project["tool"]["setuptools"]["py-modules"] == [PLUGIN]
    installed = [entry for entry in importlib.metadata.entry_points(group="pytest11") if "autograd_cy" in entry.name]
    assert {(entry.name, entry.value) for entry in installed} <= {(PLUGIN, PLUGIN)}
