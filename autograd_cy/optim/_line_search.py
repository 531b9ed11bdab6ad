"""The line search of LBFGS: a step that meets the strong Wolfe conditions (facade)."""

import math
from collections.abc import Callable
from typing import Any, NamedTuple

from .._core.graph.tensor import Tensor


class Point(NamedTuple):
    """A point along the direction: its distance, loss, gradient, and slope along the direction."""

    t: float
    loss: float
    grad: Tensor
    slope: float


Evaluate = Callable[[float], Point]


def strong_wolfe(
    evaluate: Evaluate, start: Point, t: float, span: float, tolerance: float, most: int, c1: float = 1e-4, c2: float = 0.9
) -> tuple[Point, int]:
    """The point found, and the number of evaluations (Nocedal and Wright, Numerical Optimization, section 3.5).

    The loss falls by at least `c1` times the linear prediction, and the slope shrinks to at most `c2` of the first one. At
    most `most` points after the first are tried; the search ends when the bracket, times `span`, is below `tolerance`.
    """
    bracket, tried, done = _bracketed(evaluate, start, evaluate(t), most, c1, c2)
    low, high = (0, 1) if bracket[0].loss <= bracket[-1].loss else (1, 0)
    hesitant = False
    evaluations = tried + 1
    while not done and tried < most and abs(bracket[1].t - bracket[0].t) * span >= tolerance:
        t, hesitant = _inside(bracket, _cubic(bracket[0], bracket[1]), hesitant)
        point = evaluate(t)
        tried, evaluations = tried + 1, evaluations + 1
        if point.loss > start.loss + c1 * point.t * start.slope or point.loss >= bracket[low].loss:
            bracket[high] = point
            low, high = (0, 1) if bracket[0].loss <= bracket[1].loss else (1, 0)
            continue
        if abs(point.slope) <= -c2 * start.slope:
            done = True
        elif point.slope * (bracket[high].t - bracket[low].t) >= 0:
            bracket[high] = bracket[low]
        bracket[low] = point
    return bracket[low], evaluations


def _bracketed(
    evaluate: Evaluate, start: Point, point: Point, most: int, c1: float, c2: float
) -> tuple[list[Point], int, bool]:
    """Two points that bracket the solution, or the solution itself; and the number of points tried after the first."""
    before, tried = start, 0
    while tried < most:
        if point.loss > start.loss + c1 * point.t * start.slope or (tried > 1 and point.loss >= before.loss):
            return [before, point], tried, False
        if abs(point.slope) <= -c2 * start.slope:
            return [point], tried, True
        if point.slope >= 0:
            return [before, point], tried, False
        limits = point.t + 0.01 * (point.t - before.t), point.t * 10
        before, point = point, evaluate(_cubic(before, point, limits))
        tried += 1
    return [start, point], tried, False


def _inside(bracket: list[Point], t: float, hesitant: bool) -> tuple[float, bool]:
    """`t`, or, if `t` is at an end of the bracket or near one for the second time, a point a tenth away from that end."""
    least, largest = sorted(point.t for point in bracket)
    margin = 0.1 * (largest - least)
    if min(largest - t, t - least) >= margin:
        return t, False
    if not hesitant and least < t < largest:
        return t, True
    return (largest - margin if abs(t - largest) < abs(t - least) else least + margin), False


def _cubic(a: Point, b: Point, limits: tuple[float, float] | None = None) -> float:
    """The minimum of the cubic through both points with their slopes; without one, the middle of the limits."""
    first, last = (a, b) if a.t <= b.t else (b, a)
    least, largest = (first.t, last.t) if limits is None else limits
    d = a.slope + b.slope - 3 * (a.loss - b.loss) / (a.t - b.t)
    square = d * d - a.slope * b.slope
    if not square >= 0:
        return (least + largest) / 2
    root = math.sqrt(square)
    t = last.t - (last.t - first.t) * ((last.slope + root - d) / (last.slope - first.slope + 2 * root))
    return min(max(t, least), largest)


def strong_wolfe_of_torch(
    obj_func: Callable[..., Any], x: Any, t: Any, d: Tensor, f: Any, g: Tensor, gtd: Any, c1: float = 1e-4, c2: float = 0.9,
    tolerance_change: float = 1e-9, max_ls: int = 25,
) -> tuple[Any, Tensor, Any, int]:  # fmt: skip
    """torch.optim.lbfgs._strong_wolfe: (loss, gradient, step, calls); obj_func(x, t, d) returns loss and gradient."""

    def evaluate(t: float) -> Point:
        loss, gradient = obj_func(x, t, d)
        return Point(t, float(loss), gradient.clone(), float(gradient.dot(d)))

    start = Point(0.0, float(f), g, float(gtd))
    found, calls = strong_wolfe(evaluate, start, float(t), float(d.abs().max()), tolerance_change, max_ls, c1, c2)
    return found.loss, found.grad, found.t, calls


def cubic_of_torch(x1: Any, f1: Any, g1: Any, x2: Any, f2: Any, g2: Any, bounds: Any = None) -> float:
    """torch.optim.lbfgs._cubic_interpolate: the minimum of the cubic through two points with slopes g1 and g2."""
    a, b = (Point(float(x), float(f), None, float(g)) for x, f, g in ((x1, f1, g1), (x2, f2, g2)))  # type: ignore[arg-type]
    return _cubic(a, b, None if bounds is None else (float(bounds[0]), float(bounds[1])))
