"""``torch._dynamo`` where nothing is compiled: its decorators return functions as they are (facade)."""

from .._compat import answers as _answers
from . import config
from ._compile import backends, compile
from .eval_frame import OptimizedModule

__all__ = [
    "OptimizedModule", "allow_in_graph", "assume_constant_result", "config", "disable", "disallow_in_graph", "explain",
    "export", "forbid_in_graph", "graph_break", "is_compiling", "list_backends", "mark_dynamic", "mark_static",
    "mark_static_address", "maybe_mark_dynamic", "nonstrict_trace", "optimize", "optimize_assert", "reset", "run",
]  # fmt: skip

disable = allow_in_graph = disallow_in_graph = forbid_in_graph = _answers.unchanged()
assume_constant_result = nonstrict_trace = run = disable
is_compiling = _answers.answers(False)
reset = graph_break = mark_dynamic = maybe_mark_dynamic = mark_static = mark_static_address = _answers.answers(None)
explain = export = _answers.refuses(NotImplementedError, "torch._dynamo.{}: this package has no compiler")
list_backends = backends


def optimize(
    backend: object = "inductor", *, nopython: bool = False, disable: bool = False, dynamic: bool | None = None
) -> object:
    """``optimize(backend)(f)`` is ``compile(f, backend=backend)``.

    >>> import autograd_cy as ag
    >>> ag._dynamo.optimize(disable=True)(abs) is abs
    True
    """
    return compile(fullgraph=nopython, backend=backend, disable=disable, dynamic=dynamic)


optimize_assert = optimize
_answers.named(globals(), "nothing is compiled here")
