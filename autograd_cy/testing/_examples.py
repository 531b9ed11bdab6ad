"""check_gradients over the examples of hypothesis strategies (facade)."""

from collections.abc import Callable, Sequence
from typing import Any

from ._verdict import GradientError, Verdict


def is_strategy(x: Any) -> bool:
    """is_strategy(x): whether it is one of hypothesis, which is not imported for the question."""
    return any(kind.__module__.startswith("hypothesis.") and kind.__name__ == "SearchStrategy" for kind in type(x).__mro__)


def check_examples(examine: Callable[[Sequence[Any]], Verdict], inputs: Sequence[Any], max_examples: int) -> Verdict:
    """check_examples(examine, inputs, max_examples): the verdict of the smallest example that fails, or of all together."""
    import hypothesis

    strategies = hypothesis.strategies
    drawn = strategies.tuples(*[x if is_strategy(x) else strategies.just(x) for x in inputs])
    verdicts: list[Verdict] = []

    def check(example: tuple[Any, ...]) -> None:
        verdict = examine(example)
        if verdict.outcome == "wrong":
            raise GradientError(verdict.text, verdict)
        verdicts.append(verdict)

    settings = hypothesis.settings(
        max_examples=max_examples,
        deadline=None,
        database=None,
        derandomize=True,
        report_multiple_bugs=False,
        print_blob=False,
        suppress_health_check=list(hypothesis.HealthCheck),
    )
    try:
        settings(hypothesis.given(drawn)(check))()
    except GradientError as error:
        return error.verdict  # type: ignore[no-any-return]
    return _together(verdicts)


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
