"""Samplers: the order of samples (facade)."""

import itertools
from collections.abc import Iterable, Iterator, Sequence, Sized
from typing import Any, Generic, TypeVar

import numpy as _np

from ..._core.arrays.dtypes import convert as _convert
from ..._core.runtime.entry import public as _public
from ..._creation.data import as_tensor
from ..._random import Generator
from ..._random.sampling import multinomial
from ...random import default_generator, randint, randperm
from ._seeds import drawn_seed as _drawn_seed

__all__ = [
    "BatchSampler", "RandomSampler", "Sampler", "SequentialSampler", "SubsetRandomSampler", "WeightedRandomSampler",
]  # fmt: skip

_Number_co = TypeVar("_Number_co", covariant=True)
_AT_ONCE = 32  # independent numbers that are drawn together


def _seeded(generator: Generator | None) -> Generator:
    """The generator, or by default a new one with a seed drawn from the default generator."""
    if generator is not None:
        return generator
    made = Generator()
    made.manual_seed(_drawn_seed(None))
    return made


def _checked_count(name: str, count: Any) -> int:
    if not isinstance(count, int) or isinstance(count, bool) or count <= 0:
        raise ValueError(f"{name} should be a positive integer value, but got {name}={count}")
    return count


class Sampler(Generic[_Number_co]):
    """Indices of samples in some order: a subclass defines ``__iter__``, and ``__len__`` if it is known.

    >>> import autograd_cy as ag
    >>> class Backwards(ag.utils.data.Sampler):
    ...     def __iter__(self):
    ...         return iter((2, 1, 0))
    >>> list(ag.utils.data.DataLoader("abc", sampler=Backwards()))
    [['c'], ['b'], ['a']]
    """

    def __iter__(self) -> Iterator[_Number_co]:
        raise NotImplementedError("Subclasses of Sampler should implement __iter__.")


class SequentialSampler(Sampler[int]):
    """``SequentialSampler(dataset)``: 0, 1, 2, ...

    >>> import autograd_cy as ag
    >>> list(ag.utils.data.SequentialSampler("abc"))
    [0, 1, 2]
    """

    def __init__(self, data_source: Sized):
        self.data_source = data_source

    def __iter__(self) -> Iterator[int]:
        return iter(range(len(self.data_source)))

    def __len__(self) -> int:
        return len(self.data_source)


class RandomSampler(Sampler[int]):
    """``RandomSampler(dataset, replacement=False, num_samples=None)``: indices in random order, or drawn independently.

    num_samples: how many, by default len(dataset). Without replacement, more than that are several permutations. Without a
    generator, each iteration draws a seed from the default one.

    >>> import autograd_cy as ag
    >>> sorted(ag.utils.data.RandomSampler("abc"))
    [0, 1, 2]
    """

    @_public
    def __init__(
        self, data_source: Sized, replacement: bool = False, num_samples: int | None = None, generator: Generator | None = None
    ):
        if not isinstance(replacement, bool):
            raise TypeError(f"replacement should be a boolean value, but got replacement={replacement}")
        if num_samples is not None:
            _checked_count("num_samples", num_samples)
        self.data_source, self.replacement = data_source, replacement
        self._num_samples, self.generator = num_samples, generator

    @property
    def num_samples(self) -> int:
        """How many numbers a round has."""
        return len(self.data_source) if self._num_samples is None else self._num_samples

    def __iter__(self) -> Iterator[int]:
        n, generator = len(self.data_source), _seeded(self.generator)
        if self.replacement:
            for begin in range(0, self.num_samples, _AT_ONCE):
                yield from randint(0, n, (min(_AT_ONCE, self.num_samples - begin),), generator=generator).tolist()
            return
        for begin in range(0, self.num_samples, n or 1):
            yield from randperm(n, generator=generator).tolist()[: self.num_samples - begin]

    def __len__(self) -> int:
        return self.num_samples


class SubsetRandomSampler(Sampler[int]):
    """``SubsetRandomSampler(indices)``: these indices in random order.

    >>> import autograd_cy as ag
    >>> sorted(ag.utils.data.SubsetRandomSampler([5, 7]))
    [5, 7]
    """

    def __init__(self, indices: Sequence[int], generator: Generator | None = None):
        self.indices, self.generator = indices, generator

    def __iter__(self) -> Iterator[int]:
        for i in randperm(len(self.indices), generator=self.generator or default_generator).tolist():
            yield self.indices[i]

    def __len__(self) -> int:
        return len(self.indices)


class WeightedRandomSampler(Sampler[int]):
    """``WeightedRandomSampler(weights, num_samples, replacement=True)``: indices drawn in proportion to their weights.

    ValueError if the weights are not one-dimensional.

    >>> import autograd_cy as ag
    >>> list(ag.utils.data.WeightedRandomSampler([0.0, 1.0], 3))
    [1, 1, 1]
    """

    @_public
    def __init__(
        self, weights: Sequence[float], num_samples: int, replacement: bool = True, generator: Generator | None = None
    ):
        _checked_count("num_samples", num_samples)
        if not isinstance(replacement, bool):
            raise ValueError(f"replacement should be a boolean value, but got replacement={replacement}")
        self.weights = as_tensor(weights, dtype=_convert(_np.dtype("float64")))
        if self.weights.ndim != 1:
            raise ValueError(f"weights should be a 1d sequence but given weights have shape {tuple(self.weights.shape)}")
        self.num_samples, self.replacement, self.generator = num_samples, replacement, generator

    def __iter__(self) -> Iterator[int]:
        yield from multinomial(
            self.weights, self.num_samples, self.replacement, generator=self.generator or default_generator
        ).tolist()

    def __len__(self) -> int:
        return self.num_samples


class BatchSampler(Sampler[list[int]]):
    """``BatchSampler(sampler, batch_size, drop_last)``: the indices of a sampler in lists.

    The last list may be shorter, or is dropped.

    >>> import autograd_cy as ag
    >>> list(ag.utils.data.BatchSampler(range(5), 2, False))
    [[0, 1], [2, 3], [4]]
    """

    @_public
    def __init__(self, sampler: Iterable[int], batch_size: int, drop_last: bool):
        _checked_count("batch_size", batch_size)
        if not isinstance(drop_last, bool):
            raise ValueError(f"drop_last should be a boolean value, but got drop_last={drop_last}")
        self.sampler, self.batch_size, self.drop_last = sampler, batch_size, drop_last

    def __iter__(self) -> Iterator[list[int]]:
        numbers = iter(self.sampler)
        while batch := list(itertools.islice(numbers, self.batch_size)):
            if len(batch) < self.batch_size and self.drop_last:
                return
            yield batch

    def __len__(self) -> int:
        whole, rest = divmod(len(self.sampler), self.batch_size)  # type: ignore[arg-type]
        return whole + (rest > 0 and not self.drop_last)
