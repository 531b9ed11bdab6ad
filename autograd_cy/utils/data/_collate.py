"""Samples into a batch (facade)."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from ..._core.arrays.dtypes import convert
from ..._core.graph.tensor import Tensor
from ..._core.runtime.entry import public
from ..._creation.data import as_tensor, tensor
from ..._functional.names import stack

_TEXT = (str, bytes)


def _converted(data: Any) -> Any:
    """A NumPy array or number as a tensor; None for other objects."""
    if isinstance(data, np.ndarray | np.generic) and not isinstance(data, _TEXT):
        if data.dtype.kind in "SUOV":
            return data if data.dtype.kind != "O" and isinstance(data, np.generic) else None
        return as_tensor(data)
    return None


def _like(data: Any, items: list[Any]) -> Any:
    """A sequence or mapping like `data` with other items; a list or dict if its class can't be constructed from them."""
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


def collate_tensor_fn(batch: Sequence[Any], *, collate_fn_map: Any = None) -> Any:
    return stack(list(batch))


def collate_numpy_array_fn(batch: Sequence[Any], *, collate_fn_map: Any = None) -> Any:
    if _converted(batch[0]) is None:
        raise TypeError(_refusal(batch[0].dtype))
    return as_tensor(np.stack(batch))


def collate_numpy_scalar_fn(batch: Sequence[Any], *, collate_fn_map: Any = None) -> Any:
    if _converted(batch[0]) is None:
        raise TypeError(_refusal(batch[0].dtype))
    return as_tensor(np.asarray(batch))


def collate_float_fn(batch: Sequence[Any], *, collate_fn_map: Any = None) -> Any:
    return tensor(batch, dtype=convert(np.dtype("float64")))


def collate_int_fn(batch: Sequence[Any], *, collate_fn_map: Any = None) -> Any:
    return tensor(batch)


def collate_str_fn(batch: Sequence[Any], *, collate_fn_map: Any = None) -> Any:
    return batch


default_collate_fn_map: dict[Any, Callable[..., Any]] = {
    Tensor: collate_tensor_fn,
    np.ndarray: collate_numpy_array_fn,
    str: collate_str_fn,
    bytes: collate_str_fn,
    (np.bool_, np.number, np.object_, np.generic): collate_numpy_scalar_fn,
    float: collate_float_fn,
    int: collate_int_fn,
}


@public
def collate(batch: Sequence[Any], *, collate_fn_map: dict[Any, Callable[..., Any]] | None = None) -> Any:
    """``collate(samples, collate_fn_map=functions)``: applies the function for the samples' type.

    `functions` maps types, or tuples of them, to functions. The first sample's exact type is looked up first, then the first
    entry that it is an instance of. Sequences and mappings are collated item by item.

    >>> from autograd_cy.utils.data._utils.collate import collate
    >>> collate([("a", 1), ("b", 2)], collate_fn_map={(str, int): lambda batch, collate_fn_map: max(batch)})
    ['b', 2]
    """
    first, functions = batch[0], collate_fn_map or {}
    found = functions.get(type(first)) or next((f for types, f in functions.items() if isinstance(first, types)), None)
    if found is not None:
        return found(batch, collate_fn_map=collate_fn_map)
    if isinstance(first, Mapping):
        return _like(first, [collate([sample[key] for sample in batch], collate_fn_map=collate_fn_map) for key in first])
    if isinstance(first, tuple) and hasattr(first, "_fields"):
        return _like(first, [collate(column, collate_fn_map=collate_fn_map) for column in zip(*batch, strict=True)])
    if isinstance(first, Sequence):
        if len({len(sample) for sample in batch}) > 1:
            raise RuntimeError("each element in list of batch should be of equal size")
        columns = [collate(column, collate_fn_map=collate_fn_map) for column in zip(*batch, strict=True)]
        return columns if isinstance(first, tuple) else _like(first, columns)
    raise TypeError(_refusal(type(first)))


@public
def default_collate(batch: Sequence[Any]) -> Any:
    """``default_collate(samples)``: tensors and arrays stacked, numbers as a tensor, sequences and mappings item by item.

    TypeError for other samples, RuntimeError for sequences of different lengths or tensors of different shapes.

    >>> import autograd_cy as ag
    >>> ag.utils.data.default_collate([(ag.ones(2), 0, "a"), (ag.zeros(2), 1, "b")])
    [tensor([[1., 1.],
            [0., 0.]]), tensor([0, 1]), ('a', 'b')]
    """
    return collate(batch, collate_fn_map=default_collate_fn_map)


def _refusal(found: Any) -> str:
    return f"default_collate: batch must contain tensors, numpy arrays, numbers, dicts or lists; found {found}"

