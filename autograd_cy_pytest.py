"""The pytest plugin of autograd_cy: the fixture `gradcheck`, and the option --gradcheck-mode.

    def test_gradient_of_my_function(gradcheck):
        gradcheck(my_function, torch.randn(3, dtype=torch.float64, requires_grad=True))

pytest imports this module at every start in an environment where autograd_cy is installed. The module is not part of the
package, because importing the package imports its core and NumPy, which takes as long as importing pytest. The fixture
imports the package.

PYTEST_DONT_REWRITE: the module is already loaded when a test runs pytest in its own process.
"""

from collections.abc import Callable
from typing import Any

import pytest

MODES = ("auto", "full", "probe", "fast")


def pytest_addoption(parser: pytest.Parser) -> None:
    text = "how the fixture gradcheck checks derivatives: each entry (full), random directions (probe, or fast), or auto"
    parser.getgroup("autograd_cy").addoption("--gradcheck-mode", choices=MODES, default=None, help=text)
    parser.addini("gradcheck_mode", f"{text}, where --gradcheck-mode is not given", default="auto")


def pytest_configure(config: pytest.Config) -> None:
    mode = config.getini("gradcheck_mode")
    if mode not in MODES:
        raise pytest.UsageError(f"gradcheck_mode is one of {', '.join(MODES)}, not {mode!r}")


@pytest.fixture(scope="session")  # hypothesis refuses fixtures of single tests under @given
def gradcheck(pytestconfig: pytest.Config) -> Callable[..., Any]:
    """gradcheck(f, *inputs, **options): autograd_cy.testing.check_gradients() in the chosen mode.

    A wrong derivative fails the test with its report. `mode=` in the call overrides --gradcheck-mode.
    """
    from autograd_cy import testing
    from autograd_cy.autograd.gradcheck import GradcheckError

    mode = pytestconfig.getoption("gradcheck_mode") or pytestconfig.getini("gradcheck_mode")

    def gradcheck(f: Callable[..., Any], *inputs: Any, **options: Any) -> Any:
        __tracebackhide__ = True
        options.setdefault("mode", mode)
        if options["mode"] == "fast":  # as gradcheck(fast_mode=True) of PyTorch
            options["mode"] = "probe"
        try:
            return testing.check_gradients(f, *inputs, **options)
        except (GradcheckError, testing.GradientError) as error:
            raise error.with_traceback(None) from None  # hides the frames of the package

    return gradcheck
