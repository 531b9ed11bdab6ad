"""functionalize(): a function without in-place writes (facade)."""

import functools
from collections.abc import Callable
from typing import Any

from ..autograd.grad_mode import inference_mode
from ..fx.experimental._functionalization import functional_module
from ..utils._pytree import tree_flatten, tree_unflatten

__all__ = ["functionalize"]


def functionalize(func: Callable[..., Any], *, remove: str = "mutations") -> Callable[..., Any]:
    """``functionalize(func)`` computes the results of func by operations that write nothing in place.

    Arguments that func writes to get their new values at the end. remove="mutations_and_views" also replaces views by copies.
    With make_fx the graph shows these operations. func is called twice for each call, as by make_fx, on copies of the
    arguments. ValueError for another `remove`. NotImplementedError if a graph can't represent func: writes to a
    tensor that is no argument, to one of two arguments that share memory, through a view of another dtype or one whose
    elements share memory, or within no_grad() to a tensor that requires grad; other shapes for an argument; hooks, custom
    Functions, backward(), NumPy arrays, and transforms within func; and set_default_dtype(), set_default_device() or
    manual_seed() before another operation.

    >>> import autograd_cy as ag
    >>> from autograd_cy.fx.experimental.proxy_tensor import make_fx
    >>> def f(x):
    ...     y = x.clone()
    ...     y[0].mul_(10)
    ...     return y
    >>> ag.func.functionalize(f)(ag.ones(2))
    tensor([10.,  1.])
    >>> [node.name for node in make_fx(ag.func.functionalize(f))(ag.ones(2)).graph.nodes][1:-1]
    ['clone', 'index', 'mul', 'reshape', 'slice_scatter']
    """
    if remove not in ("mutations", "mutations_and_views"):
        raise ValueError(f"functionalize(): remove is 'mutations' or 'mutations_and_views', but got {remove!r}")

    @functools.wraps(func)
    def functional(*args: Any, **kwargs: Any) -> Any:
        leaves, spec = tree_flatten((args, kwargs))

        def of_leaves(*leaves: Any) -> Any:
            args, kwargs = tree_unflatten(leaves, spec)
            return func(*args, **kwargs)

        with inference_mode(False):  # inference tensors have no versions, which reveal writes
            module = functional_module(of_leaves, tuple(leaves), remove == "mutations_and_views")
        return module(*leaves)

    return functional
