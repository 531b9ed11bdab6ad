"""Positional forms of a few operations that PyTorch has deprecated but still accepts: numbers among the tensors.

The factors come after the input, or the first of them before it: a.add_(2, b), addmm(beta, input, alpha, a, b), and the
method M.addmm(beta, alpha, a, b).
"""

from numbers import Number

from autograd_cy._core.graph.tensor import Tensor
from autograd_cy._core.ops.registry import OPS, op_of
from autograd_cy._core.runtime.once import warn_once

_FUNCTIONS = {OPS[name].function for name in "add addbmm addcdiv addcmul addmm addmv addr baddbmm sub".split()}


def in_order(function, args):
    """The arguments of such a call in today's order, and its factors by name; None if the call is not of that form."""
    entry = op_of(function)
    if entry is None or (entry.base or function) not in _FUNCTIONS:
        return None
    code = function.__code__
    factors = code.co_varnames[code.co_argcount :][: code.co_kwonlyargcount]
    n = len(args) - code.co_argcount  # of factors
    if not 0 < n <= len(factors):
        return None
    if len(factors) == 2 and isinstance(args[0], Number):
        args = (args[1], args[0], *args[2:])
    if not isinstance(args[0], Tensor) or not all(_is_number(x) for x in args[1 : 1 + n]):
        return None
    return (args[0], *args[1 + n :]), dict(zip(factors, args[1 : 1 + n], strict=False))


def warn_of(function, args):
    """Warn of such a call with PyTorch's text, once in a process for all operations."""
    code = function.__code__
    name, tensors = function.__name__, [f"Tensor {name}" for name in code.co_varnames[1 : code.co_argcount]]
    factors = [f"Number {name}" for name in code.co_varnames[code.co_argcount :][: code.co_kwonlyargcount]]
    given = factors[: len(args) - code.co_argcount]
    first, out = [], ""
    if isinstance(args[0], Number):
        first, out = ["Tensor input"], ", *, Tensor out = None"
    older = ", ".join([*given[:1], *first, *given[1:], *tensors]) if first else ", ".join([*given, *tensors])
    now = ", ".join([*first, *tensors, "*", *[f"{factor} = 1" for factor in factors]]) + out.removeprefix(", *")
    warn_once(
        f"This overload of {name} is deprecated:\n\t{name}({older}{out})\n"
        f"Consider using one of the following signatures instead:\n\t{name}({now})",
        kind="overload",
    )


def _is_number(x):
    return isinstance(x, Number) or (isinstance(x, Tensor) and x.ndim == 0 and not x.requires_grad)
