"""From numbers of samples to a batch, in this process or in a worker (facade)."""

import operator
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from ..._core.graph.tensor import Tensor
from ._collate import default_collate
from .dataset import IterableDataset, Subset, TensorDataset


def _rows(dataset: Any, indices: Sequence[int]) -> list[Tensor] | None:
    """The result of default_collate() for samples of a TensorDataset, computed directly; None for other datasets."""
    while type(dataset) is Subset:
        indices, dataset = [dataset.indices[i] for i in indices], dataset.dataset
    if type(dataset) is not TensorDataset:
        return None
    return [tensor[list(indices)] for tensor in dataset.tensors]


def call(name: str, function: Callable[..., Any], *args: Any) -> Any:
    """Call function(*args); a StopIteration, which would end the epoch silently, becomes a RuntimeError."""
    try:
        return function(*args)
    except StopIteration as error:
        raise RuntimeError(f"{name} raised StopIteration") from error


class Fetcher:
    """``Fetcher(dataset, is_batched, collate, drop_last)(numbers)`` -> the batch.

    From an IterableDataset it takes as many samples as there are numbers; StopIteration at its end.
    """

    def __init__(self, dataset: Any, is_batched: bool, collate: Callable[[Any], Any], drop_last: bool):
        self._dataset, self._is_batched, self._collate, self._drop_last = dataset, is_batched, collate, drop_last
        self._samples: Iterator[Any] | None = None
        if isinstance(dataset, IterableDataset):
            self._samples = call(f"{type(dataset).__name__}.__iter__()", iter, dataset)

    def __call__(self, numbers: Any) -> Any:
        if self._samples is not None:
            samples = self._next(numbers)
        elif self._is_batched and self._collate is default_collate and (rows := _rows(self._dataset, numbers)) is not None:
            return rows
        else:
            samples = self._items(numbers)
        return call("collate_fn()", self._collate, samples)

    def _items(self, numbers: Any) -> Any:
        """The dataset's items of these numbers."""
        name = type(self._dataset).__name__
        at_once = getattr(self._dataset, "__getitems__", None)
        if not self._is_batched:
            return call(f"{name}.__getitem__({numbers!r})", operator.getitem, self._dataset, numbers)
        if at_once is not None:
            return call(f"{name}.__getitems__({numbers!r})", at_once, numbers)
        items, number = [], None
        try:
            for number in numbers:
                items.append(self._dataset[number])
        except StopIteration as error:
            raise RuntimeError(f"{name}.__getitem__({number!r}) raised StopIteration") from error
        return items

    def _next(self, numbers: Any) -> Any:
        assert self._samples is not None
        if not self._is_batched:
            return next(self._samples)
        samples = [sample for _, sample in zip(numbers, self._samples, strict=False)]
        if not samples or (self._drop_last and len(samples) < len(numbers)):
            raise StopIteration
        return samples
