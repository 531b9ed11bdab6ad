"""How functions become methods and properties of Tensor (facade)."""

from .._core.graph.tensor import extend
from .._core.ops.overrides import extend_overridable


def method(function, batch=None):
    """Attach a function to Tensor under its own name; calls on a subclass are handed over unless it is a special method.

    `batch` is its batching rule; without one it is called as it is within vmap.
    """
    name = function.__name__
    if name.startswith("__"):
        extend(name, function)
    else:
        extend_overridable(name, function, batch)
    return function


def attribute(function):
    """Attach a function to Tensor as a read-only property."""
    extend(function.__name__, property(function))
    return function
