"""DataLoader: batches of a dataset (facade)."""

import itertools
import multiprocessing
import os
import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, Generic, TypeVar

from ..._core.runtime.entry import public as _public
from ..._random import Generator
from ._collate import default_collate, default_convert
from ._iteration import Iteration as _Iteration
from ._iteration import SingleProcessIteration as _SingleProcessIteration
from ._iteration import WorkersIteration as _WorkersIteration
from .dataset import Dataset, IterableDataset
from .sampler import BatchSampler, RandomSampler, SequentialSampler

__all__ = ["DataLoader"]

_Sample_co = TypeVar("_Sample_co", covariant=True)

_FIXED = ("batch_size", "batch_sampler", "sampler", "drop_last", "dataset", "persistent_workers")


class _Endless:
    """The sampler for a dataset without indices: None, endlessly."""

    def __iter__(self) -> Iterator[None]:
        return itertools.repeat(None)


class DataLoader(Generic[_Sample_co]):
    """``DataLoader(dataset, batch_size=1, shuffle=False, num_workers=0, ...)``: batches of a dataset, one pass per iteration.

    batch_size None gives single samples. sampler: indices of samples in the desired order; batch_sampler: lists of them.
    collate_fn makes a batch from a list of samples, by default default_collate(). num_workers processes each make
    prefetch_factor batches ahead; they end with the pass unless persistent_workers is on. timeout: seconds to wait for a
    batch. worker_init_fn is called with a worker's number at its start. generator: draws the order and the workers' seeds.
    Errors in a worker are raised with its traceback. pin_memory warns and changes nothing. ValueError for conflicting
    arguments.

    >>> import autograd_cy as ag
    >>> data = ag.utils.data.TensorDataset(ag.arange(5), ag.ones(5))
    >>> for x, y in ag.utils.data.DataLoader(data, batch_size=2):
    ...     print(x, y)
    tensor([0, 1]) tensor([1., 1.])
    tensor([2, 3]) tensor([1., 1.])
    tensor([4]) tensor([1.])
    """

    _is_initialized = False
    _reported: int | None = None  # the length that an IterableDataset reported, if len() was called

    @_public
    def __init__(
        self, dataset: Dataset[_Sample_co] | Sequence[_Sample_co], batch_size: int | None = 1, shuffle: bool | None = None,
        sampler: Iterable[Any] | None = None, batch_sampler: Iterable[list[Any]] | None = None, num_workers: int = 0,
        collate_fn: Callable[[Any], Any] | None = None, pin_memory: bool = False, drop_last: bool = False, timeout: float = 0,
        worker_init_fn: Callable[[int], None] | None = None, multiprocessing_context: Any = None,
        generator: Generator | None = None, *, prefetch_factor: int | None = None, persistent_workers: bool = False,
        pin_memory_device: str = "", in_order: bool = True,
    ):  # fmt: skip
        _check_workers(num_workers, timeout, prefetch_factor, persistent_workers, multiprocessing_context)
        _warn_of_many(num_workers)
        is_iterable = isinstance(dataset, IterableDataset)
        if is_iterable:
            _check_iterable(shuffle, sampler, batch_sampler)
        elif sampler is not None and shuffle:
            raise ValueError("sampler option is mutually exclusive with shuffle")
        if batch_sampler is not None:
            if batch_size != 1 or shuffle or sampler is not None or drop_last:
                raise ValueError("batch_sampler option is mutually exclusive with batch_size, shuffle, sampler, and drop_last")
            batch_size, drop_last = None, False
        elif batch_size is None and drop_last:
            raise ValueError("batch_size=None option disables auto-batching and is mutually exclusive with drop_last")
        if pin_memory or pin_memory_device:
            warnings.warn("DataLoader(): 'pin_memory' changes nothing: there is no accelerator", stacklevel=3)
        self.dataset, self.num_workers, self.timeout, self.generator = dataset, num_workers, timeout, generator
        self.prefetch_factor = 2 if num_workers and prefetch_factor is None else prefetch_factor
        self.pin_memory, self.pin_memory_device, self.in_order = pin_memory, pin_memory_device, in_order
        self.worker_init_fn, self.persistent_workers = worker_init_fn, persistent_workers
        if sampler is None:
            sampler = _Endless() if is_iterable else _sampler_of(dataset, shuffle, generator)
        numbers: Any = sampler
        if batch_size is not None:
            batch_sampler = BatchSampler(numbers, batch_size, drop_last)
        self.batch_size, self.drop_last, self.sampler, self.batch_sampler = batch_size, drop_last, sampler, batch_sampler
        self.collate_fn = collate_fn or (default_convert if batch_sampler is None else default_collate)
        self.multiprocessing_context = multiprocessing_context
        self._context = _context_of(multiprocessing_context) if num_workers else None
        self._kept: _WorkersIteration | None = None  # with persistent workers
        self._is_initialized = True

    def __setattr__(self, name: str, value: Any) -> None:
        if self._is_initialized and name in _FIXED:
            raise ValueError(f"{name} attribute should not be set after {type(self).__name__} is initialized")
        super().__setattr__(name, value)

    @property
    def _index_sampler(self) -> Any:
        return self.sampler if self.batch_sampler is None else self.batch_sampler

    @property
    def _fetcher_arguments(self) -> tuple[Any, ...]:
        return self.dataset, self.batch_sampler is not None, self.collate_fn, self.drop_last

    def __iter__(self) -> _Iteration:
        if self.num_workers == 0:
            return _SingleProcessIteration(self)
        if not self.persistent_workers:
            return _WorkersIteration(self)
        if self._kept is None:
            self._kept = _WorkersIteration(self)
        else:
            self._kept.restart(self)
        return self._kept

    def __len__(self) -> int:
        if not isinstance(self.dataset, IterableDataset):
            return len(self._index_sampler)
        length = len(self.dataset)  # type: ignore[arg-type]
        if self.batch_size is not None:
            length = length // self.batch_size if self.drop_last else -(-length // self.batch_size)
        self._reported = length
        return length

    def _check_count(self, yielded: int) -> None:
        """Warn when an IterableDataset yields more than the loader's len()."""
        if self._reported is not None and yielded > self._reported:
            warnings.warn(
                f"Length of IterableDataset {self.dataset!r} was reported to be {self._reported} "
                f"(when accessing len(dataloader)), but {yielded} samples have been fetched. "
                + (_EACH_WORKER if self.num_workers else ""),
                stacklevel=4,
            )


_EACH_WORKER = (
    "For multiprocessing data-loading, this may come from workers that each iterate over all of it: a dataset can give each "
    "its part by get_worker_info()."
)


def _sampler_of(dataset: Any, shuffle: bool | None, generator: Generator | None) -> Any:
    if not shuffle:
        return SequentialSampler(dataset)
    if len(dataset) == 0:
        raise ValueError("num_samples should be a positive integer value, but got num_samples=0")
    return RandomSampler(dataset, generator=generator)


def _check_iterable(shuffle: Any, sampler: Any, batch_sampler: Any) -> None:
    """Refuse samplers and shuffling for an IterableDataset, which has its own order."""
    if shuffle not in (False, None):
        option = f"shuffle option, but got shuffle={shuffle}"
    elif sampler is not None:
        option = f"sampler option, but got sampler={sampler}"
    elif batch_sampler is not None:
        option = f"batch_sampler option, but got batch_sampler={batch_sampler}"
    else:
        return
    raise ValueError(f"DataLoader with IterableDataset: expected unspecified {option}")


def _check_workers(count: int, timeout: float, prefetch: int | None, persistent: bool, context: Any) -> None:
    if count < 0:
        raise ValueError("num_workers option should be non-negative; use num_workers=0 to disable multiprocessing.")
    if timeout < 0:
        raise ValueError("timeout option should be non-negative")
    if count == 0 and prefetch is not None:
        raise ValueError(
            "prefetch_factor option could only be specified in multiprocessing. let num_workers > 0 to enable "
            "multiprocessing, otherwise set prefetch_factor to None."
        )
    if prefetch is not None and prefetch < 1:
        raise ValueError(f"prefetch_factor option should be positive, got {prefetch}")
    if persistent and count == 0:
        raise ValueError("persistent_workers option needs num_workers > 0")
    if context is not None and count == 0:
        raise ValueError(
            "multiprocessing_context can only be used with multi-process loading (num_workers > 0), but got num_workers=0"
        )


def _warn_of_many(workers: int) -> None:
    """Warn of more workers than there are CPUs that this process may use."""
    counted = hasattr(os, "sched_getaffinity")
    most = len(os.sched_getaffinity(0)) if counted else os.cpu_count() or 1
    if workers > most:
        warnings.warn(
            f"This DataLoader will create {workers} worker processes in total. Our suggested max number of worker in current "
            f"system is {most}{'' if counted else ' (`cpuset` is not taken into account)'}, which is smaller than what this "
            "DataLoader is going to create. Please be aware that excessive worker creation might get DataLoader running slow "
            "or even freeze, lower the worker number to avoid potential slowness/freeze if necessary.",
            stacklevel=3,
        )


def _context_of(context: Any) -> Any:
    """A multiprocessing context, given by itself or by name."""
    if context is None or isinstance(context, str):
        if context is not None and context not in multiprocessing.get_all_start_methods():
            raise ValueError(
                "multiprocessing_context option should specify a valid start method in "
                f"{multiprocessing.get_all_start_methods()!r}, but got multiprocessing_context={context!r}"
            )
        return multiprocessing.get_context(context)
    if not isinstance(context, multiprocessing.context.BaseContext):
        raise TypeError(
            "multiprocessing_context option should be a valid context object or a string specifying the start method, "
            f"but got multiprocessing_context={context}"
        )
    return context
