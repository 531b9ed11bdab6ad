"""Samples into a batch (facade)."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from ..._core.arrays.dtypes import convert
from ..._core.graph.tensor import Tensor
from ..._core.runtime.entry import public
from ..._data import as_tensor, tensor
from ..._names import stack

_TEXT = (str, bytes)


def _converted(data: Any) -> Any:
    """A NumPy array or number as a tensor; None for what is neither."""
    if isinstance(data, np.ndarray | np.generic) and not isinstance(data, _TEXT):
        if data.dtype.kind in "SUOV":
            return data if data.dtype.kind != "O" and isinstance(data, np.generic) else None
        return as_tensor(data)
    return None


def _like(data: Any, items: list[Any]) -> Any:
    """A sequence or mapping like `data` with other items; a list or dict, where its class can't be made of them."""
    if isinstance(data, tuple) and hasattr(data, "_fields"):
        return type(data)(*items)
    make: Any = type(data)
    try:
        return make(zip(data, items, strict=True)) if isinstance(data, Mapping) else make(items)
    except TypeError:
        return dict(zip(data, items, strict=True)) if isinstance(data, Mapping) else items


@public
def default_convert(data: Any) -> Any:
    """``default_convert(data)``: NumPy arrays and numbers in it as tensors, at any depth of sequences and mappings.

    >>> import numpy as np
    >>> import autograd_cy as ag
    >>> ag.utils.data.default_convert({"x": np.zeros(2), "name": "a"})
    {'x': tensor([0., 0.], dtype=torch.float64), 'name': 'a'}
    """
    converted = _converted(data)
    if converted is not None:
        return converted
    if isinstance(data, Mapping):
        return _like(data, [default_convert(value) for value in data.values()])
    if isinstance(data, tuple) and not hasattr(data, "_fields"):
        return [default_convert(value) for value in data]
    if isinstance(data, Sequence) and not isinstance(data, _TEXT):
        return _like(data, [default_convert(value) for value in data])
    return data


def _collated_rows(batch: Sequence[Any], collate: Callable[[Any], Any]) -> list[Any]:
    """Sequences of equal length, turned: a batch of each of their places."""
    if len({len(sample) for sample in batch}) > 1:
        raise RuntimeError("each element in list of batch should be of equal size")
    return [collate(column) for column in zip(*batch, strict=True)]


@public
def default_collate(batch: Sequence[Any]) -> Any:
    """``default_collate(samples)``: tensors and arrays stacked, numbers as a tensor, sequences and mappings place by place.

    TypeError for other samples, RuntimeError for sequences of different lengths or tensors of different shapes.

    >>> import autograd_cy as ag
    >>> ag.utils.data.default_collate([(ag.ones(2), 0, "a"), (ag.zeros(2), 1, "b")])
    [tensor([[1., 1.],
            [0., 0.]]), tensor([0, 1]), ('a', 'b')]
    """
    first = batch[0]
    if isinstance(first, Tensor):
        return stack(list(batch))
    if isinstance(first, np.ndarray | np.generic) and not isinstance(first, _TEXT):
        if _converted(first) is None:
            raise TypeError(_refusal(first.dtype))
        return as_tensor(np.stack(batch)) if isinstance(first, np.ndarray) else as_tensor(np.asarray(batch))
    if isinstance(first, float):
        return tensor(batch, dtype=convert(np.dtype("float64")))
    if isinstance(first, int):
        return tensor(batch)
    if isinstance(first, _TEXT):
        return batch
    if isinstance(first, Mapping):
        return _like(first, [default_collate([sample[key] for sample in batch]) for key in first])
    if isinstance(first, tuple) and hasattr(first, "_fields"):
        return _like(first, [default_collate(column) for column in zip(*batch, strict=True)])
    if isinstance(first, Sequence):
        columns = _collated_rows(batch, default_collate)
        return columns if isinstance(first, tuple) else _like(first, columns)
    raise TypeError(_refusal(type(first)))


def _refusal(found: Any) -> str:
    return f"default_collate: batch must contain tensors, numpy arrays, numbers, dicts or lists; found {found}"

