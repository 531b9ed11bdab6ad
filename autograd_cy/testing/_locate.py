"""Which operation of a function has the wrong gradient (facade)."""

import linecache
import os
import sys
from collections.abc import Callable
from typing import Any, NamedTuple

from .._core.graph.tensor import Tensor
from .._core.ops.overrides import calls_handed_to
from .._core.runtime.entry import public
from ..autograd.function import _shown_to as shown_to
from ..autograd.grad_mode import is_grad_enabled
from ..utils._pytree import tree_flatten, tree_leaves, tree_map, tree_unflatten
from ._check import CHECKS, examine
from ._report import name_of
from ._verdict import Verdict

PACKAGE = os.path.dirname(os.path.dirname(os.path.abspath(__file__))) + os.sep
OWN = (
    "shape", "inputs unchanged", "seeds unchanged", "repeatable", "gradient", "dtype", "create_graph", "layouts", "zero seeds",
)  # fmt: skip
"""The checks of an operation's own gradient."""


class Location(NamedTuple):
    """The result of `locate`: where the gradient goes wrong. It is true if something was found.

    ``operation``: the name of the call, "MyFunction.apply" for a Function. ``node``: the name of the node that it recorded.
    ``file``, ``line``: where it was called. ``verdict``: its Verdict. ``checked``: the number of checked calls. All but the
    last are None if all calls are right.

    >>> import autograd_cy as ag
    >>> print(ag.testing.locate(lambda x: (x * x).sum(), ag.ones(2, dtype=ag.float64, requires_grad=True)))
    each of the 2 operations has the right gradient
    """

    operation: str | None
    node: str | None
    file: str | None
    line: int | None
    verdict: Verdict | None
    checked: int

    def __bool__(self) -> bool:
        return self.verdict is not None

    def __str__(self) -> str:
        if self.verdict is None:
            return f"each of the {self.checked} operations has the right gradient"
        code = linecache.getline(self.file or "", self.line or 0).strip()
        return f"{self.node}, recorded by {self.operation} in {self.file}:{self.line}: {code}\n{self.verdict}"


class _Call(NamedTuple):
    function: Callable[..., Any]
    leaves: list[Any]  # of its arguments, tensors as copies
    spec: Any
    node: str
    file: str
    line: int


@public
def locate(f: Callable[..., Any], *inputs: Any) -> Location:
    """``locate(f, *inputs)`` finds the operation of `f` whose own gradient is wrong, and the line that calls it.

    It runs `f` once, then compares each recorded operation, in order, with finite differences at its own inputs. The first
    failure is returned as a `Location` with its Verdict. In-place operators, item assignments and calls with varying results
    are not checked.

    >>> import autograd_cy as ag
    >>> class Cube(ag.autograd.Function):
    ...     @staticmethod
    ...     def forward(ctx, x):
    ...         ctx.save_for_backward(x)
    ...         return x**3
    ...     @staticmethod
    ...     def backward(ctx, g):
    ...         (x,) = ctx.saved_tensors
    ...         return 3 * x * g
    >>> x = ag.tensor([0.5, 2.0], dtype=ag.float64, requires_grad=True)
    >>> place = ag.testing.locate(lambda x: Cube.apply(x.sin()).sum(), x)
    >>> place.operation, place.node, place.verdict.culprit, place.checked
    ('Cube.apply', 'CubeBackward', 'dropped term', 2)
    """
    calls = _calls_of(f, inputs)
    for checked, call in enumerate(calls, 1):
        places = [i for i, x in enumerate(call.leaves) if isinstance(x, Tensor) and x.requires_grad]

        def alone(*tensors: Any, call: _Call = call, places: list[int] = places) -> Any:
            leaves = list(call.leaves)
            for place, tensor in zip(places, tensors, strict=True):
                leaves[place] = tensor
            args, kwargs = tree_unflatten(leaves, call.spec)
            return call.function(*args, **kwargs)

        alone.__qualname__ = name_of(call.function)
        try:
            verdict = examine(alone, [call.leaves[i] for i in places], skip=[name for name in CHECKS if name not in OWN])
        except Exception:  # it can't be called a second time, or not in double precision
            continue
        if verdict.outcome == "wrong" and verdict.culprit != "not repeatable":
            return Location(name_of(call.function), call.node, call.file, call.line, verdict, checked)
    return Location(None, None, None, None, None, len(calls))


def _calls_of(f: Callable[..., Any], inputs: tuple[Any, ...]) -> list[_Call]:
    """The calls of operations and Functions that are recorded while `f` runs, with copies of their arguments."""
    calls: list[_Call] = []

    def note(function: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        leaves, spec = tree_flatten((args, kwargs))
        before = [_copied(x) for x in leaves]
        result = function(*args, **kwargs)
        nodes = [x.grad_fn for x in tree_leaves(result) if isinstance(x, Tensor) and x.grad_fn is not None]
        if nodes and _any_requires_grad(before):
            calls.append(_Call(function, before, spec, nodes[0].name(), *_users_line()))
        return result

    def note_function(cls: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        leaves, spec = tree_flatten((args, kwargs))
        if is_grad_enabled() and _any_requires_grad(leaves):
            name = cls._backward_cls.__name__
            calls.append(_Call(cls.apply, [_copied(x) for x in leaves], spec, name, *_users_line()))

    with calls_handed_to(note), shown_to(note_function):
        f(*tree_map(_copied, inputs))
    return calls


def _any_requires_grad(leaves: list[Any]) -> bool:
    return any(isinstance(x, Tensor) and x.requires_grad for x in leaves)


def _copied(x: Any) -> Any:
    return x.detach().clone().requires_grad_(x.requires_grad) if isinstance(x, Tensor) else x


def _users_line() -> tuple[str, int]:
    """The file and the line of the innermost frame that is not this package's."""
    frame = sys._getframe(1)
    while frame.f_back is not None and frame.f_code.co_filename.startswith(PACKAGE):
        frame = frame.f_back
    return frame.f_code.co_filename, frame.f_lineno
