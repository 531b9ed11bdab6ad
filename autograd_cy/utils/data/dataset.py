"""Collections of samples (facade)."""

import bisect
import itertools
import math
import warnings
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, Generic, TypeVar

from ..._core.graph.tensor import Tensor
from ..._core.runtime.entry import public as _public
from ..._random import Generator
from ...random import default_generator, randperm

__all__ = [
    "ChainDataset", "ConcatDataset", "Dataset", "IterableDataset", "StackDataset", "Subset", "TensorDataset", "random_split",
]  # fmt: skip

_Sample = TypeVar("_Sample")
_Sample_co = TypeVar("_Sample_co", covariant=True)


class Dataset(Generic[_Sample_co]):
    """Samples by index: a subclass defines ``__getitem__``, and ``__len__`` if it is needed. ``a + b`` joins two.

    ``__getitems__(indices)``, if defined, gives a DataLoader the samples of a batch at once.

    >>> import autograd_cy as ag
    >>> class Squares(ag.utils.data.Dataset):
    ...     def __getitem__(self, i):
    ...         return i * i
    ...     def __len__(self):
    ...         return 4
    >>> list(ag.utils.data.DataLoader(Squares(), batch_size=2))
    [tensor([0, 1]), tensor([4, 9])]
    """

    def __getitem__(self, index: Any) -> _Sample_co:
        raise NotImplementedError("Subclasses of Dataset should implement __getitem__.")

    def __add__(self, other: "Dataset[_Sample_co]") -> "ConcatDataset[_Sample_co]":
        return ConcatDataset([self, other])


class IterableDataset(Dataset[_Sample_co]):
    """A stream of samples: a subclass defines ``__iter__``. ``a + b`` chains two.

    Each worker of a DataLoader iterates over a copy, which can use get_worker_info() to divide the samples.

    >>> import autograd_cy as ag
    >>> class Count(ag.utils.data.IterableDataset):
    ...     def __iter__(self):
    ...         return iter(range(3))
    >>> list(ag.utils.data.DataLoader(Count(), batch_size=2))
    [tensor([0, 1]), tensor([2])]
    """

    def __iter__(self) -> Iterator[_Sample_co]:
        raise NotImplementedError("Subclasses of IterableDataset should implement __iter__.")

    def __add__(self, other: Dataset[_Sample_co]) -> "ChainDataset[_Sample_co]":  # type: ignore[override]
        return ChainDataset([self, other])


class TensorDataset(Dataset[tuple[Tensor, ...]]):
    """``TensorDataset(x, y)``: sample i is ``(x[i], y[i])``. AssertionError unless all tensors have the same number of rows.

    >>> import autograd_cy as ag
    >>> ag.utils.data.TensorDataset(ag.arange(3), ag.ones(3))[1]
    (tensor(1), tensor(1.))
    """

    @_public
    def __init__(self, *tensors: Tensor):
        sizes = [tensor.size(0) for tensor in tensors]
        if len(set(sizes)) > 1:
            raise AssertionError(f"Size mismatch between tensors: TensorDataset() got first dimensions of {sizes}")
        self.tensors = tensors

    def __getitem__(self, index: Any) -> tuple[Tensor, ...]:
        return tuple(tensor[index] for tensor in self.tensors)

    def __len__(self) -> int:
        return self.tensors[0].size(0)


class StackDataset(Dataset[_Sample_co]):
    """``StackDataset(a, b)`` has tuples of samples of its datasets, ``StackDataset(x=a, y=b)`` dicts of them.

    ValueError if their lengths differ, if none is given, or if only some are given by name.

    >>> import autograd_cy as ag
    >>> ag.utils.data.StackDataset(x=[1, 2], y=["a", "b"])[1]
    {'x': 2, 'y': 'b'}
    """

    @_public
    def __init__(self, *args: Any, **kwargs: Any):
        if bool(args) == bool(kwargs):
            raise ValueError(
                "Supported either ``tuple``- (via ``args``) or ``dict``- (via ``kwargs``) like input/output, but both types "
                "are given." if args else "At least one dataset should be passed to StackDataset()"
            )
        self.datasets: Any = args or kwargs
        lengths = {len(dataset) for dataset in self._parts()}
        if len(lengths) > 1:
            raise ValueError(f"Size mismatch between datasets: StackDataset() got lengths {sorted(lengths)}")
        self._length = lengths.pop()

    def _parts(self) -> Iterable[Any]:
        return self.datasets.values() if isinstance(self.datasets, dict) else self.datasets

    def _like(self, samples: Iterable[Any]) -> Any:
        return dict(zip(self.datasets, samples, strict=True)) if isinstance(self.datasets, dict) else tuple(samples)

    def __getitem__(self, index: Any) -> Any:
        return self._like(dataset[index] for dataset in self._parts())

    def __getitems__(self, indices: Sequence[int]) -> list[Any]:
        columns = [_samples(dataset, indices) for dataset in self._parts()]
        return [self._like(row) for row in zip(*columns, strict=True)]

    def __len__(self) -> int:
        return self._length


def _samples(dataset: Any, indices: Sequence[int]) -> Sequence[Any]:
    """The samples at those indices; ValueError if the dataset returns another number of them."""
    at_once = getattr(dataset, "__getitems__", None)
    if at_once is None:
        return [dataset[i] for i in indices]
    samples = at_once(indices)
    if len(samples) != len(indices):
        raise ValueError(
            f"Nested dataset's output size mismatch. Expected {len(indices)}, got {len(samples)} from __getitems__"
        )
    return samples


class ConcatDataset(Dataset[_Sample_co]):
    """``ConcatDataset([a, b])``: the samples of the first dataset, then of the next.

    AssertionError without datasets, or if one is an IterableDataset.

    >>> import autograd_cy as ag
    >>> list(ag.utils.data.ConcatDataset([[1, 2], [3]]))
    [1, 2, 3]
    """

    datasets: list[Any]
    cumulative_sizes: list[int]

    @_public
    def __init__(self, datasets: Iterable["Dataset[_Sample_co] | Sequence[_Sample_co]"]):
        self.datasets = list(datasets)
        if not self.datasets:
            raise AssertionError("datasets should not be an empty iterable: ConcatDataset() got none")
        for dataset in self.datasets:
            if isinstance(dataset, IterableDataset):
                raise AssertionError("ConcatDataset does not support IterableDataset: its samples have no numbers")
        self.cumulative_sizes = list(itertools.accumulate(map(len, self.datasets)))

    def __len__(self) -> int:
        return self.cumulative_sizes[-1]

    def __getitem__(self, index: int) -> _Sample_co:
        if index < 0:
            if -index > len(self):
                raise ValueError(f"absolute value of index should not exceed dataset length: got {index} of {len(self)}")
            index += len(self)
        elif index >= len(self):
            raise IndexError(f"index {index} is out of range for a ConcatDataset of {len(self)} samples")
        which = bisect.bisect_right(self.cumulative_sizes, index)
        return self.datasets[which][index - (self.cumulative_sizes[which - 1] if which else 0)]

    @property
    def cummulative_sizes(self) -> list[int]:
        """The old spelling."""
        warnings.warn("cummulative_sizes attribute is renamed to cumulative_sizes", DeprecationWarning, stacklevel=2)
        return self.cumulative_sizes


class ChainDataset(IterableDataset[_Sample_co]):
    """``ChainDataset([a, b])``: all samples of the first IterableDataset, then of the next. AssertionError at others.

    >>> import autograd_cy as ag
    >>> class Count(ag.utils.data.IterableDataset):
    ...     def __iter__(self):
    ...         return iter(range(2))
    >>> list(Count() + Count())
    [0, 1, 0, 1]
    """

    @_public
    def __init__(self, datasets: Iterable[Dataset[_Sample_co]]):
        self.datasets: Any = datasets

    def __iter__(self) -> Iterator[_Sample_co]:
        return itertools.chain.from_iterable(self._checked())

    def __len__(self) -> int:
        return sum(map(len, self._checked()))

    def _checked(self) -> Iterator[Any]:
        for dataset in self.datasets:
            if not isinstance(dataset, IterableDataset):
                raise AssertionError(f"ChainDataset only supports IterableDataset, got {type(dataset).__name__}")
            yield dataset


class Subset(Dataset[_Sample_co]):
    """``Subset(dataset, indices)``: the samples at these indices.

    >>> import autograd_cy as ag
    >>> list(ag.utils.data.Subset(["a", "b", "c"], [2, 0]))
    ['c', 'a']
    """

    def __init__(self, dataset: "Dataset[_Sample_co] | Sequence[_Sample_co]", indices: Sequence[int]):
        self.dataset: Any = dataset
        self.indices = indices

    def __getitem__(self, index: Any) -> _Sample_co:
        if isinstance(index, list):
            return self.dataset[[self.indices[i] for i in index]]
        return self.dataset[self.indices[index]]

    def __getitems__(self, indices: Sequence[int]) -> Sequence[_Sample_co]:
        return _samples(self.dataset, [self.indices[i] for i in indices])

    def __len__(self) -> int:
        return len(self.indices)


def _lengths_of_parts(fractions: Sequence[float], total: int) -> list[int]:
    """Integer lengths for fractions of a total; the remainder goes to the first parts, one each."""
    if any(not 0 <= fraction <= 1 for fraction in fractions):
        raise ValueError(f"random_split(): expected fractions from 0 to 1, got {list(fractions)}")
    lengths = [math.floor(total * fraction) for fraction in fractions]
    lengths[-1] -= max(0, sum(lengths) - total)  # rounding may bring the sum of fractions above 1
    for i in range(total - sum(lengths)):
        lengths[i % len(lengths)] += 1
    for i, length in enumerate(lengths):
        if length == 0:
            warnings.warn(f"Length of split at index {i} is 0. This might result in an empty dataset.", stacklevel=3)
    return lengths


@_public
def random_split(
    dataset: Dataset[_Sample] | Sequence[_Sample], lengths: Sequence[float], generator: Generator | None = default_generator
) -> list[Subset[_Sample]]:
    """``random_split(dataset, lengths)`` -> disjoint random Subsets of a dataset.

    lengths: numbers of samples, or fractions that sum to 1. ValueError if they don't add up to the dataset.

    >>> import autograd_cy as ag
    >>> [len(part) for part in ag.utils.data.random_split(range(10), [0.75, 0.25])]
    [8, 2]
    """
    size = len(dataset)  # type: ignore[arg-type]
    if math.isclose(sum(lengths), 1) and not all(isinstance(n, int) for n in lengths):
        lengths = _lengths_of_parts(lengths, size)
    if sum(lengths) != size:
        raise ValueError(
            f"Sum of input lengths does not equal the length of the input dataset! Expected {size}, got {sum(lengths)}"
        )
    order = randperm(size, generator=generator).tolist()
    ends = itertools.accumulate(map(int, lengths))
    return [Subset(dataset, order[end - int(n) : end]) for n, end in zip(lengths, ends, strict=True)]
