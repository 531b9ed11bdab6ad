"""``parallel_apply`` (facade)."""

from typing import Any

__all__ = ["parallel_apply"]


def parallel_apply(modules: Any, inputs: Any, kwargs_tup: Any = None, devices: Any = None) -> list[Any]:
    """``parallel_apply(modules, inputs)`` calls each module with its inputs, one after the other, and returns the results.

    >>> import autograd_cy as ag
    >>> ag.nn.parallel.parallel_apply([ag.nn.ReLU()], [(ag.ones(1),)])
    [tensor([1.])]
    """
    keywords: Any = kwargs_tup or ({},) * len(modules)
    return [
        module(*(given if isinstance(given, list | tuple) else (given,)), **named)
        for module, given, named in zip(modules, inputs, keywords, strict=True)
    ]
