"""From numbers of samples to a batch, in this process or in a worker (facade)."""

from collections.abc import Callable, Iterator, Sequence
from typing import Any

from ..._core.graph.tensor import Tensor
from ._collate import default_collate
from .dataset import IterableDataset, Subset, TensorDataset


def _rows(dataset: Any, indices: Sequence[int]) -> list[Tensor] | None:
    """What default_collate() makes of samples of a TensorDataset, without making the samples; None for other datasets."""
    while type(dataset) is Subset:
        indices, dataset = [dataset.indices[i] for i in indices], dataset.dataset
    if type(dataset) is not TensorDataset:
        return None
    return [tensor[list(indices)] for tensor in dataset.tensors]


class Fetcher:
    """``Fetcher(dataset, is_batched, collate, drop_last)(numbers)`` -> the batch.

    Of an IterableDataset it takes the next samples, as many as there are numbers; StopIteration when it has ended.
    """

    def __init__(self, dataset: Any, is_batched: bool, collate: Callable[[Any], Any], drop_last: bool):
        self._dataset, self._is_batched, self._collate, self._drop_last = dataset, is_batched, collate, drop_last
        self._samples: Iterator[Any] | None = iter(dataset) if isinstance(dataset, IterableDataset) else None

    def __call__(self, numbers: Any) -> Any:
        if self._samples is not None:
            return self._collate(self._next(numbers))
        if not self._is_batched:
            return self._collate(self._dataset[numbers])
        if self._collate is default_collate:
            rows = _rows(self._dataset, numbers)
            if rows is not None:
                return rows
        at_once = getattr(self._dataset, "__getitems__", None)
        return self._collate([self._dataset[i] for i in numbers] if at_once is None else at_once(numbers))

    def _next(self, numbers: Any) -> Any:
        assert self._samples is not None
        if not self._is_batched:
            return next(self._samples)
        samples = [sample for _, sample in zip(numbers, self._samples, strict=False)]
        if not samples or (self._drop_last and len(samples) < len(numbers)):
            raise StopIteration
        return samples
