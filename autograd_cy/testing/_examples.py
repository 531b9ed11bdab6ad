"""check_gradients over the examples of hypothesis strategies (facade)."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from .._core.graph.tensor import Tensor
from ..utils._pytree import tree_leaves
from ._verdict import GradientError, Verdict

ENOUGH = 5  # conclusive examples


def is_strategy(x: Any) -> bool:
    """is_strategy(x): whether it is a hypothesis strategy; does not import hypothesis."""
    return any(kind.__module__.startswith("hypothesis.") and kind.__name__ == "SearchStrategy" for kind in type(x).__mro__)


def check_examples(examine: Callable[[Sequence[Any]], Verdict], inputs: Sequence[Any], max_examples: int) -> Verdict:
    """check_examples(examine, inputs, max_examples): the verdict of the smallest example that fails, or of all together."""
    verdicts: list[Verdict] = []
    failure, example = _search(examine, inputs, max_examples, verdicts, lambda example: True)
    if failure is None:
        return _together(verdicts)
    if _is_large(example):
        return failure
    larger: list[Verdict] = []
    of_larger, _ = _search(examine, inputs, max_examples, larger, _is_large)
    if of_larger is None and len(larger) >= ENOUGH:
        failure.culprit = "empty or size one"
        first, _, rest = failure.text.partition("\n")
        failure.text = f"{first} None of {len(larger)} examples fails that has no dimension of size 0 or 1.\n{rest}"
    return failure


def _search(
    examine: Callable[[Sequence[Any]], Verdict],
    inputs: Sequence[Any],
    max_examples: int,
    verdicts: list[Verdict],
    wanted: Callable[[Any], bool],
) -> tuple[Verdict | None, Any]:
    """The verdict of the smallest wanted example that fails, and that example; or None."""
    import hypothesis

    strategies = hypothesis.strategies
    drawn = strategies.tuples(*[x if is_strategy(x) else strategies.just(x) for x in inputs])
    last: list[Any] = [None]

    def check(example: tuple[Any, ...]) -> None:
        hypothesis.assume(wanted(example))
        verdict = examine(example)
        if verdict.outcome == "wrong":
            last[0] = example
            raise GradientError(verdict.text, verdict)
        verdicts.append(verdict)

    settings = hypothesis.settings(
        max_examples=max_examples,
        deadline=None,
        database=None,
        derandomize=True,
        report_multiple_bugs=False,
        print_blob=False,
        phases=[hypothesis.Phase.generate, hypothesis.Phase.shrink],  # the report explains; a tracer would slow each call
        suppress_health_check=list(hypothesis.HealthCheck),
    )
    try:
        settings(hypothesis.given(drawn)(check))()
    except GradientError as error:
        return error.verdict, last[0]
    except hypothesis.errors.Unsatisfiable:
        pass
    return None, None


def _is_large(example: Any) -> bool:
    """Whether no tensor or array that is differentiated has a dimension of size 0 or 1."""
    leaves = tree_leaves(example)
    sources = [x for x in leaves if isinstance(x, np.ndarray) or (isinstance(x, Tensor) and x.requires_grad)]
    return all(n > 1 for x in sources for n in x.shape) and any(x.ndim for x in sources)


def _together(verdicts: list[Verdict]) -> Verdict:
    """The verdict of many examples: as many digits as the worst, and right if any of them could be told."""
    told = [v for v in verdicts if v.outcome == "right"]
    if not told:
        return verdicts[-1]
    worst = min(told, key=lambda v: v.digits)
    checks: dict[str, str] = {}
    for verdict in verdicts:
        for name, said in verdict.checks.items():
            if checks.get(name, "not applicable") != "passed":
                checks[name] = said
    text = worst.text.partition("\n")[0].rstrip(".") + f", for {len(verdicts)} examples."
    return Verdict("right", worst.digits, None, checks, worst.odds, text)
