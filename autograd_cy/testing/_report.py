"""The report of a verdict, as text (facade)."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from .._core.graph.tensor import Tensor
from ._differences import Array
from ._point import Point
from ._verdict import CULPRITS, Verdict

WHOLE_UP_TO = 64  # entries of an input that the code to reproduce writes out


def report(verdict: Verdict, f: Callable[..., Any], inputs: Sequence[Any], point: Point) -> str:
    """report(verdict, f, inputs, point): the findings, and code to reproduce them."""
    name = name_of(f)
    if not verdict.findings:
        lines = [f"{name}: derivatives are {verdict.outcome}, to {verdict.digits} digits."]
        if verdict.outcome == "cannot tell":
            lines = [f"{name}: cannot tell whether its derivatives are right."]
        lines += [f"  {verdict.odds}"] if verdict.odds else []
        lines += [f"  {check}: {said}" for check, said in verdict.checks.items() if said != "passed"]
        return "\n".join(lines)
    (finding,) = verdict.findings
    lines = [
        f"{name}: {CULPRITS[finding.culprit]} ({finding.culprit!r}, found by the check {finding.check!r}).",
        *("  " + line for line in finding.facts.split("\n")),
    ]
    passed = [check for check, said in verdict.checks.items() if said.startswith("passed")]
    if passed:
        lines.append(f"  What passed before: {', '.join(passed)}.")
    lines += ["To see it again:", *("  " + line for line in code(name, inputs, point))]
    return "\n".join(lines)


def name_of(f: Callable[..., Any]) -> str:
    """name_of(f): what the user calls it."""
    owner = getattr(f, "__self__", None)
    if isinstance(owner, type):  # of Function.apply, the class
        return f"{owner.__name__}.{f.__name__}"
    name = getattr(f, "__qualname__", None) or type(f).__name__
    return str(name.rpartition("<locals>.")[2])


def code(name: str, inputs: Sequence[Any], point: Point) -> list[str]:
    """code(name, inputs, point): the call with these inputs."""
    lines, names = [], []
    if point.takes_tensors:
        lines.append("import autograd_cy as ag")
    else:
        lines.append("import numpy as np")
    for i, x in enumerate(inputs):
        names.append(f"x{i}")
        lines.append(f"x{i} = {_literal(x)}")
    f = "f" if name == "<lambda>" else name
    extra = "" if point.takes_tensors else ", gradient=gradient"
    lines.append(f"{'ag' if point.takes_tensors else 'autograd_cy'}.testing.check_gradients({f}, {', '.join(names)}{extra})")
    return lines


def _literal(x: Any) -> str:
    if isinstance(x, Tensor):
        array: Array = x.detach().numpy()
        flag = ", requires_grad=True" if x.requires_grad else ""
        dtype = str(x.dtype).replace("torch", "ag")
        if array.size <= WHOLE_UP_TO:
            empty = f".reshape({tuple(array.shape)})" if array.size == 0 and array.ndim > 1 else ""
            if empty:
                return f"ag.tensor([], dtype={dtype}){empty}" + (".requires_grad_()" if flag else "")
            return f"ag.tensor({array.tolist()}, dtype={dtype}{flag})"
        return f"...  # a tensor of shape {list(array.shape)} and {x.dtype}{flag.replace(', ', ' that has ')}"
    if not isinstance(x, np.ndarray):
        return repr(x)
    if x.size > WHOLE_UP_TO:
        return f"...  # an array of shape {x.shape} and {x.dtype}"
    return f"np.array({x.tolist()}, dtype='{x.dtype}')"
