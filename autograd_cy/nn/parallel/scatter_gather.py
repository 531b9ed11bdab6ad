"""Splitting of arguments among devices (here only the CPU), and gathering of results (facade)."""

from typing import Any

from ..._core.graph.tensor import Tensor
from ..._functional import names as _ops
from ..._types import on_cpu as _on_cpu

__all__ = ["gather", "scatter", "scatter_kwargs"]


def scatter(inputs: Any, target_gpus: Any, dim: int = 0) -> Any:
    """``scatter(inputs, devices)`` splits each tensor in a nested structure; PyTorch's error for devices other than the CPU.

    >>> import autograd_cy as ag
    >>> ag.nn.parallel.scatter((ag.ones(2), "same"), ["cpu", "cpu"])
    [(tensor([1.]), 'same'), (tensor([1.]), 'same')]
    """
    for where in target_gpus:
        _on_cpu(where)
    return _parts(inputs, len(target_gpus), dim)


def _parts(value: Any, count: int, dim: int) -> list[Any]:
    """The parts of a nested structure of tensors, one for each device."""
    if isinstance(value, Tensor):
        return list(value.chunk(count, dim))
    if isinstance(value, tuple | list) and value:
        rows = zip(*(_parts(item, count, dim) for item in value), strict=False)
        named = hasattr(value, "_fields")
        return [type(value)(*row) if named else type(value)(row) for row in rows]
    if isinstance(value, dict) and value:
        columns = [_parts(item, count, dim) for item in value.values()]
        return [type(value)(zip(value, row, strict=True)) for row in zip(*columns, strict=False)]
    return [value] * count


def scatter_kwargs(inputs: Any, kwargs: Any, target_gpus: Any, dim: int = 0) -> tuple[tuple[Any, ...], tuple[Any, ...]]:
    """``scatter_kwargs(inputs, kwargs, devices)`` splits both kinds of arguments into equally many.

    >>> import autograd_cy as ag
    >>> ag.nn.parallel.scatter_gather.scatter_kwargs((1,), {"a": 2}, ["cpu"])
    (((1,),), ({'a': 2},))
    """
    given = scatter(inputs, target_gpus, dim) if inputs else []
    named = scatter(kwargs, target_gpus, dim) if kwargs else []
    count = max(len(given), len(named))
    return (*given, *((),) * (count - len(given))), (*named, *({} for _ in range(count - len(named))))


def gather(outputs: Any, target_device: Any, dim: int = 0) -> Any:
    """``gather(tensors, "cpu")`` concatenates the tensors.

    >>> import autograd_cy as ag
    >>> ag.nn.parallel.gather([ag.ones(1), ag.zeros(1)], "cpu")
    tensor([1., 0.])
    """
    if target_device != -1:
        _on_cpu(target_device)
    return _ops.cat(outputs, dim)
