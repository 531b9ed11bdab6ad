"""Checks of second derivatives by differences of gradients; each returns a Finding or None (facade)."""

from ._compare import Probes, ShapeError, probe_backward, probe_forward
from ._culprit import explain_backward, explain_forward
from ._subject import Subject
from ._verdict import Finding


def second_order(subject: Subject, seed: int = 0) -> tuple[Finding | None, int]:
    """The gradient of the gradient against differences of the gradient, along random directions; and the digits that agree."""
    try:
        second = subject.point.gradient_point(subject.seeds)
        probes = Probes(second, 2, seed)
        comparison = probe_backward(probes)
    except ShapeError as error:
        facts = f"a second gradient has shape {error.got}, its input {error.expected}."
        return Finding("second order", "second order", facts), 0
    finding = explain_backward(second, comparison, probes, None)
    if finding is not None:
        return Finding("second order", "second order", finding.facts.replace("the output", "the gradient")), 0
    return None, comparison.digits if comparison.known else 16


def forward_over_reverse(subject: Subject, seed: int = 0) -> Finding | None:
    """The tangent of the gradient, against differences of it."""
    probes = Probes(subject.point.gradient_point(subject.seeds), 1, seed)
    comparison = probe_forward(probes)
    finding = explain_forward(probes.point, comparison, probes)
    return finding and Finding("forward over reverse", "second order", finding.facts)
