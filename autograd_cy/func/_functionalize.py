"""functionalize(): a function without writes in place (facade)."""

import functools
from collections.abc import Callable
from typing import Any

from ..fx.experimental.functionalization import functional_module

__all__ = ["functionalize"]


def functionalize(func: Callable[..., Any], *, remove: str = "mutations") -> Callable[..., Any]:
    """``functionalize(func)`` computes what func does, by operations that write nothing in place.

    Arguments that func writes to get their new values at the end. remove="mutations_and_views" makes copies of views, too.
    With make_fx the graph shows these operations. func is called twice for each call, as by make_fx, on copies of the
    arguments; keyword arguments are not written to. ValueError for another `remove`. NotImplementedError where func
    writes to a tensor that is no argument, to one of two arguments that share memory, or through a view of another dtype.

    >>> import autograd_cy as ag
    >>> from autograd_cy.fx.experimental.proxy_tensor import make_fx
    >>> def f(x):
    ...     y = x.clone()
    ...     y[0].mul_(10)
    ...     return y
    >>> ag.func.functionalize(f)(ag.ones(2))
    tensor([10.,  1.])
    >>> [node.name for node in make_fx(ag.func.functionalize(f))(ag.ones(2)).graph.nodes][1:-1]
    ['clone', 'index', 'mul', 'arange', 'reshape', 'index_1', 'put']
    """
    if remove not in ("mutations", "mutations_and_views"):
        raise ValueError(f"functionalize(): remove is 'mutations' or 'mutations_and_views', but got {remove!r}")

    @functools.wraps(func)
    def functional(*args: Any, **kwargs: Any) -> Any:
        module = functional_module(lambda *args: func(*args, **kwargs), args, remove == "mutations_and_views")
        return module(*args)

    return functional
