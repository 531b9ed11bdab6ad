"""Each process's part of a dataset (facade)."""

import math
from collections.abc import Iterator, Sized
from typing import Any, TypeVar

from ..._random import Generator
from ...random import randperm
from .sampler import Sampler

__all__ = ["DistributedSampler"]

_Number_co = TypeVar("_Number_co", covariant=True)


class DistributedSampler(Sampler[_Number_co]):
    """``DistributedSampler(dataset, num_replicas, rank, shuffle=True, seed=0, drop_last=False)``: the indices of one process's
    samples; all processes get equally many: the first ones are repeated, or with drop_last the last ones are dropped.

    num_replicas and rank come from torch.distributed by default. ``set_epoch(n)`` before each epoch changes the order.

    >>> import autograd_cy as ag
    >>> [list(ag.utils.data.DistributedSampler(range(5), 2, rank, shuffle=False)) for rank in (0, 1)]
    [[0, 2, 4], [1, 3, 0]]
    """

    def __init__(
        self,
        dataset: Sized,
        num_replicas: int | None = None,
        rank: int | None = None,
        shuffle: bool = True,
        seed: int = 0,
        drop_last: bool = False,
    ):
        if num_replicas is None or rank is None:
            from ... import distributed

            num_replicas = distributed.get_world_size() if num_replicas is None else num_replicas
            rank = distributed.get_rank() if rank is None else rank
        if not 0 <= rank < num_replicas:
            raise ValueError(f"Invalid rank {rank}, rank should be in the interval [0, {num_replicas - 1}]")
        self.dataset, self.num_replicas, self.rank = dataset, num_replicas, rank
        self.epoch, self.seed, self.shuffle, self.drop_last = 0, seed, shuffle, drop_last
        samples = len(dataset)
        self.num_samples = samples // num_replicas if drop_last else math.ceil(samples / num_replicas)
        self.total_size = self.num_samples * num_replicas

    def __iter__(self) -> Iterator[_Number_co]:
        samples = len(self.dataset)
        indices: list[Any] = list(range(samples))
        if self.shuffle:
            indices = randperm(samples, generator=Generator().manual_seed(self.seed + self.epoch)).tolist()
        if indices:
            indices *= math.ceil(max(self.total_size, 1) / samples)
        return iter(indices[self.rank : self.total_size : self.num_replicas])

    def __len__(self) -> int:
        return self.num_samples

    def set_epoch(self, epoch: int) -> None:
        """``set_epoch(n)`` changes the order of samples."""
        self.epoch = epoch
