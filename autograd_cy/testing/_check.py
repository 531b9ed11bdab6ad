"""check_gradients: one call that checks the derivatives of a function and explains mistakes (facade).

_point evaluates the function, _differences finds slopes with error estimates, _compare compares derivatives with them, the
modules named _..._checks check other properties of derivatives, _culprit and _patterns identify mistakes, and _report
writes the report.
"""

import functools
import warnings
from collections.abc import Callable, Sequence
from typing import Any, Literal

import numpy as np

from .._core.engine.functions import UnknownDerivative
from .._core.runtime.entry import public
from ._batch_checks import batched, batched_tangents, mapped
from ._compare import (
    Comparison,
    Probes,
    ShapeError,
    full_backward,
    full_forward,
    jacobian_of_slopes,
    probe_backward,
    probe_forward,
    probes_for,
)
from ._culprit import explain_backward, explain_forward, explain_ties
from ._differences import Slope
from ._examples import check_examples, is_strategy
from ._gradient_checks import (
    create_graph,
    dtype_of_gradients,
    inputs_unchanged,
    once_more,
    one_tensor_twice,
    repeatable,
    seeds_unchanged,
    shape_of_gradients,
    subsets,
    zero_seeds,
)
from ._memory_checks import layouts, layouts_of_seeds, shared_memory
from ._point import ModulePoint, NotApplicable, NumPyPoint, Point, real_size, to_real
from ._precision_checks import single_precision
from ._report import report
from ._second_order import forward_over_reverse, second_order
from ._subject import Subject, first_line
from ._verdict import Finding, GradientError, Verdict

Mode = Literal["auto", "full", "probe"]
SMALL = 48  # real coordinates of inputs and of outputs up to which "auto" looks at each entry


@public
def check_gradients(
    f: Callable[..., Any],
    *inputs: Any,
    gradient: Callable[..., Any] | None = None,
    mode: Mode = "auto",
    miss: float = 1e-3,
    skip: Sequence[str] = (),
    max_examples: int = 50,
    seed: int = 0,
    raise_exception: bool = True,
) -> Verdict:
    """``check_gradients(f, *inputs)`` checks the derivatives of `f`; raises GradientError with an explanation.

    f: a function, a Function's ``apply``, or a module, whose parameters are differentiated like its inputs.
    inputs: the arguments of `f`. Tensors that require grad are differentiated; others are passed unchanged. If one of them is
    a hypothesis strategy (`autograd_cy.testing.strategies`), `f` is checked for many examples of it, and a failure is shrunk
    to the smallest one; this needs the extra ``autograd_cy[testing]``.
    gradient: the gradient of a NumPy function `f` that returns a number, written by hand: it takes the same arrays and returns
    an array for each of floating dtype. Of a function that returns an array it is the Jacobian, of f's shape + the input's.
    mode: "full" looks at each entry of the Jacobian, "probe" along random directions, which costs the same for any size;
    "auto" takes the cheaper one. miss: the probability of missing an error in probe mode; `Verdict.odds` has its size.
    skip: names of checks to leave out (the keys of `Verdict.checks`). seed: of the random directions.
    max_examples: of strategies. raise_exception: False to get the Verdict of a wrong derivative, too.

    Derivatives are compared, in double precision, with finite differences of adaptive step and known error (and the complex
    step, if `f` is analytic). At a kink, where left and right slopes differ, any value between them is right.
    Then: forward mode, second order, batches, create_graph, subsets of inputs, other layouts and precisions, missing
    and zero incoming gradients, that nothing is written to or shared, and that all of it can be repeated.

    GradientError: a derivative is wrong. ValueError, TypeError: there is nothing to check, or an argument is invalid.

    >>> import autograd_cy as ag
    >>> w = ag.randn(3, 2, dtype=ag.float64, requires_grad=True)
    >>> x = ag.randn(4, 3, dtype=ag.float64, requires_grad=True)
    >>> ag.testing.check_gradients(lambda x, w: (x @ w).tanh(), x, w).outcome
    'right'
    >>> import numpy as np
    >>> def square(x):
    ...     return (x**2).sum()
    >>> verdict = ag.testing.check_gradients(square, np.arange(3.0), gradient=lambda x: x, raise_exception=False)
    >>> verdict.outcome, verdict.culprit
    ('wrong', 'factor')
    """
    options: dict[str, Any] = {"gradient": gradient, "mode": mode, "miss": miss, "skip": skip, "seed": seed}
    _check_arguments(f, mode, miss, skip, gradient, max_examples)
    if any(is_strategy(x) for x in inputs):
        verdict = check_examples(lambda example: examine(f, example, **options), inputs, max_examples)
    else:
        verdict = examine(f, inputs, **options)
    if raise_exception and verdict.outcome == "wrong":
        raise GradientError(verdict.text, verdict)
    return verdict


@public
def gradients(*inputs: Any, **options: Any) -> Callable[[Callable[..., Any]], Callable[[], None]]:
    """``@gradients(*inputs, **options)`` turns a function into a test of its derivatives, for pytest or unittest.

    It takes the arguments of `check_gradients`; the test takes none.

    >>> import autograd_cy as ag
    >>> @ag.testing.gradients(ag.ones(2, dtype=ag.float64, requires_grad=True))
    ... def test_of_the_sine(x):
    ...     return x.sin()
    >>> test_of_the_sine()
    """

    def decorate(f: Callable[..., Any]) -> Callable[[], None]:
        def test() -> None:
            check_gradients(f, *inputs, **options)

        # not functools.wraps: pytest would look for fixtures of the names of f's arguments
        test.__name__, test.__qualname__, test.__doc__, test.__module__ = f.__name__, f.__qualname__, f.__doc__, f.__module__
        return test

    return decorate


def _check_arguments(f: Any, mode: Any, miss: Any, skip: Any, gradient: Any, max_examples: Any) -> None:
    if not callable(f):
        raise TypeError(f"check_gradients expects a function, not {type(f).__name__}")
    if gradient is not None and not callable(gradient):
        raise TypeError(f"check_gradients expects a function for gradient=, not {type(gradient).__name__}")
    if mode not in ("auto", "full", "probe"):
        raise ValueError(f"check_gradients expects mode='auto', 'full' or 'probe', not {mode!r}")
    if not 1e-30 <= miss <= 0.5:
        raise ValueError(f"check_gradients expects a probability miss= from 1e-30 to 0.5, not {miss!r}")
    if isinstance(skip, str) or not set(skip) <= set(CHECKS):
        names = ", ".join(map(repr, CHECKS))
        raise ValueError(f"check_gradients expects skip= to be a sequence of {names}, not {skip!r}")
    if max_examples < 1:
        raise ValueError(f"check_gradients expects max_examples= of at least 1, not {max_examples!r}")


class Examination:
    """The checks of a function at a point, in the order in which they are made."""

    def __init__(self, point: Point, mode: Mode, miss: float, seed: int) -> None:
        self.point, self.seed, self.verdict = point, seed, Verdict()
        sizes = real_size(point.arrays), point.value.size
        self.full = mode == "full" or (mode == "auto" and max(sizes) <= SMALL)
        self.count, self.seen = probes_for(miss)
        self.miss = miss

    @functools.cached_property
    def subject(self) -> Subject:
        """The gradients there, for checks that compare them with others."""
        return Subject(self.point, self.seed)

    @functools.cached_property
    def slopes(self) -> list[Slope]:
        """The slopes of each entry."""
        return jacobian_of_slopes(self.point)

    @functools.cached_property
    def probes(self) -> Probes:
        """Random directions, and the slopes along them."""
        return Probes(self.point, self.count, self.seed)

    def against_differences(self, forward: bool) -> Finding | None:
        """Compare one mode's derivatives with differences."""
        if not real_size(self.point.arrays) or not self.point.value.size:
            raise NotApplicable("there are no numbers to differentiate")
        if self.full:
            comparison = (full_forward if forward else full_backward)(self.point, self.slopes)
        else:
            comparison = (probe_forward if forward else probe_backward)(self.probes)
        probes, slopes = (None, self.slopes) if self.full else (self.probes, None)
        if forward:
            finding = explain_forward(self.point, comparison, probes)
        else:
            finding = explain_backward(self.point, comparison, probes, slopes) or self._at_ties()
        self._note(comparison, forward)
        return finding

    def _at_ties(self) -> Finding | None:
        """Ties must also be right if they move together; for single entries, any value between two slopes is right."""
        values = to_real(self.point.arrays)
        if np.unique(values).size == values.size:
            return None
        probes = Probes(self.point, 2, self.seed, together=True)
        return explain_ties(self.point, probe_backward(probes), probes)

    def _note(self, comparison: Comparison, forward: bool) -> None:
        name = "forward mode" if forward else "gradient"
        if not comparison.known and comparison.unknown:
            self.verdict.checks[name] = "cannot tell: differences don't settle at any entry"
        elif comparison.unknown:
            what = "entries" if self.full else "directions"
            self.verdict.checks[name] = f"passed, but for {comparison.unknown} {what} where differences don't settle"
        if comparison.known or comparison.unknown:
            self.verdict.digits = min(self.verdict.digits, comparison.digits if comparison.known else 0)
        if not self.full and not forward:
            size = comparison.resolution / self.seen
            self.verdict.odds = (
                f"along {self.count} random directions: an error of the Jacobian of more than {size:.1e} (Frobenius norm) "
                f"is missed with a probability of {self.miss:g} at most"
            )

    def second_order(self) -> Finding | None:
        """The gradient of the gradient."""
        finding, digits = second_order(self.subject, self.seed)
        self.verdict.digits = min(self.verdict.digits, digits)
        return finding


CHECKS: dict[str, Callable[[Examination], Finding | None]] = {
    "shape": lambda e: shape_of_gradients(e.subject),
    "inputs unchanged": lambda e: inputs_unchanged(e.subject),
    "seeds unchanged": lambda e: seeds_unchanged(e.subject),
    "repeatable": lambda e: repeatable(e.subject),
    "gradient": lambda e: e.against_differences(forward=False),
    "dtype": lambda e: dtype_of_gradients(e.subject),
    "create_graph": lambda e: create_graph(e.subject),
    "subsets": lambda e: subsets(e.subject),
    "one tensor twice": lambda e: one_tensor_twice(e.subject),
    "layouts": lambda e: layouts(e.subject),
    "layouts of seeds": lambda e: layouts_of_seeds(e.subject),
    "zero seeds": lambda e: zero_seeds(e.subject),
    "shared memory": lambda e: shared_memory(e.subject),
    "forward mode": lambda e: e.against_differences(forward=True),
    "single precision": lambda e: single_precision(e.subject),
    "batched": lambda e: batched(e.subject),
    "vmap": lambda e: mapped(e.subject),
    "batched tangents": lambda e: batched_tangents(e.subject),
    "second order": lambda e: e.second_order(),
    "forward over reverse": lambda e: forward_over_reverse(e.subject, e.seed),
    "once more": lambda e: once_more(e.subject),
}
"""The checks by name, each after those that explain its failures better."""


def examine(
    f: Callable[..., Any],
    inputs: Sequence[Any],
    *,
    gradient: Callable[..., Any] | None = None,
    mode: Mode = "auto",
    miss: float = 1e-3,
    skip: Sequence[str] = (),
    seed: int = 0,
) -> Verdict:
    """examine(f, inputs): all checks at one point, up to the first that fails."""
    if gradient is not None:
        point: Point = NumPyPoint(f, inputs, gradient)
    else:
        point = ModulePoint(f, inputs) if hasattr(f, "named_parameters") else Point(f, inputs)
    examination = Examination(point, mode, miss, seed)
    verdict = examination.verdict
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # a check at unusual points is no use of the function
        finding = _first_finding(examination, skip)
    if finding is not None:
        verdict.outcome, verdict.culprit, verdict.digits = "wrong", finding.culprit, 0
        verdict.checks[finding.check] = "failed"
        verdict.findings = [finding]
    elif any(said.startswith("cannot tell") for said in verdict.checks.values()):
        verdict.outcome = "cannot tell"
    verdict.text = report(verdict, f, inputs, point)
    return verdict


def _first_finding(examination: Examination, skip: Sequence[str]) -> Finding | None:
    """Make the checks up to the first that fails; the verdict notes what the others say."""
    said = examination.verdict.checks
    for name, check in CHECKS.items():
        if name in skip:
            said[name] = "skipped"
            continue
        try:
            finding = check(examination)
        except NotApplicable as reason:
            said[name] = f"not applicable: {reason}"
            continue
        except Exception as error:
            if _has_no_forward_mode(name, error):
                said[name] = f"not applicable: {first_line(error)}"
                continue
            finding = _raised(name if "subject" in vars(examination) else "gradient", error)
        if finding is not None:
            return finding
        said.setdefault(name, "passed")
    return None


FORWARD = ("forward mode", "batched tangents", "forward over reverse")
WITHOUT_FORWARD_MODE = ("jvp", "forward mode", "forward AD", "forward-mode")


def _has_no_forward_mode(name: str, error: Exception) -> bool:
    """Whether an error within a check only says that a function has none."""
    return name in FORWARD and isinstance(error, RuntimeError) and any(word in str(error) for word in WITHOUT_FORWARD_MODE)


def _raised(name: str, error: Exception) -> Finding:
    """The finding for an error within a check."""
    text = f"{type(error).__name__}: {error}"
    culprit = RAISED_IN.get(name, "raises")
    if isinstance(error, ShapeError) or ("invalid gradient" in text and "shape" in text):
        culprit = "shape"
    elif isinstance(error, UnknownDerivative):
        culprit = "second order"
    elif "gradient of torch." in text and "for an input of" in text:
        culprit = "dtype"
    return Finding(name, culprit, f"it raises {text}")


RAISED_IN = {"zero seeds": "undefined", "layouts": "layout", "layouts of seeds": "layout"}
