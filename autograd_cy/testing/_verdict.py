"""Results of a check of gradients: findings, and the verdict from them (facade)."""

from dataclasses import dataclass, field
from typing import Any, Literal, NamedTuple

CULPRITS = {
    "sign": "the gradient has the wrong sign",
    "factor": "the gradient is off by a constant factor",
    "conj": "the gradient is the complex conjugate of the right one",
    "transposed": "the gradient is transposed",
    "shifted index": "the gradient's entries are those of their neighbours",
    "broadcast not summed": "the gradient is not summed over what the input was broadcast to",
    "nan": "the gradient is NaN where the function has a slope",
    "dropped term": "a term of the gradient is missing or wrong",
    "detached": "the input does not get a gradient: a part of the function is detached, or its backward gives None",
    "one entry": "few of the entries are wrong",
    "ties": "the gradient at a kink lies outside of the slopes on its two sides",
    "layout": "the gradient depends on how its input lies in memory",
    "recorded": "the gradient is another one with create_graph=True",
    "shape": "the gradient does not have its input's shape",
    "dtype": "the gradient does not have its input's dtype",
    "float32": "the gradient is wrong in single precision only",
    "not repeatable": "the same call does not give the same",
    "input changed": "an input is not what it was before",
    "seed changed": "the incoming gradient is not what it was before",
    "shared memory": "a gradient shares memory with something else",
    "forward mode": "the tangent of forward mode is wrong",
    "second order": "the gradient of the gradient is wrong",
    "batched": "batched gradients are not those of one call each",
    "subset of inputs": "the gradient depends on which other inputs require one",
    "empty or size one": "tensors of no or of one element go wrong",
    "undefined": "a zero or missing incoming gradient is mishandled",
    "raises": "the derivative raises an error",
}
"""What may be wrong with a derivative, by the short name that `Verdict.culprit` is."""


class Finding(NamedTuple):
    """One thing that is wrong: which check saw it, the likely culprit (a key of CULPRITS), and the facts."""

    check: str
    culprit: str
    facts: str


Outcome = Literal["right", "wrong", "cannot tell"]


@dataclass
class Verdict:
    """What `check_gradients` found out. It is true if the derivatives are right.

    * ``outcome``: "right", "wrong", or "cannot tell" where differences are too rough to say (a jump, a point at the edge).
    * ``digits``: to how many digits the derivatives were confirmed.
    * ``culprit``: the likely mistake, a key of `CULPRITS`; None if nothing is wrong.
    * ``checks``: by its name, what each check came to: "passed", "failed", "cannot tell: ..." or "not applicable: ...".
    * ``odds``: in probe mode, how large an error may be that is missed, and how often.
    * ``text``: all of it as a report, which ``print`` shows.

    >>> import autograd_cy as ag
    >>> x = ag.tensor([0.5, 2.0], dtype=ag.float64, requires_grad=True)
    >>> verdict = ag.testing.check_gradients(lambda x: x.exp(), x)
    >>> verdict.outcome, verdict.digits >= 10, verdict.culprit
    ('right', True, None)
    """

    outcome: Outcome = "right"
    digits: int = 15
    culprit: str | None = None
    checks: dict[str, str] = field(default_factory=dict)
    odds: str = ""
    text: str = ""
    findings: list[Finding] = field(default_factory=list)

    def __bool__(self) -> bool:
        return self.outcome == "right"

    def __str__(self) -> str:
        return self.text


class GradientError(AssertionError):
    """Raised by `check_gradients` when a derivative is wrong. ``verdict`` holds the Verdict.

    >>> import autograd_cy as ag
    >>> x = ag.tensor([0.5, 2.0], dtype=ag.float64, requires_grad=True)
    >>> try:
    ...     ag.testing.check_gradients(lambda x: x * x.detach(), x)
    ... except ag.testing.GradientError as error:
    ...     print(error.verdict.culprit)
    factor
    """

    def __init__(self, text: str, verdict: Any = None) -> None:
        super().__init__(text)
        self.verdict = verdict
