"""Where the elements of a view are in the tensor that it is a view of, and how a value of the view is put back (facade).

The tensor counts as one in C order: what the recorded operations see may be laid out otherwise, and has the same elements.
"""

import math
from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from ..._core.writes.inplace import shares_elements

__all__ = ["Part", "Region", "parts_of", "region_of"]


class Part(NamedTuple):
    """The elements of a view along one dimension of its tensor."""

    start: int
    size: int
    step: int

    @property
    def stop(self) -> int:
        """The index after the last one."""
        return self.start + (self.size - 1) * self.step + 1


class Region(NamedTuple):
    """A view as NumPy describes it, in elements: the offset of the first one, the sizes and the strides."""

    offset: int
    sizes: tuple[int, ...]
    strides: tuple[int, ...]
    is_crowded: bool

    @property
    def order(self) -> list[int]:
        """The dimensions of the view, those with the largest strides first: in C order as far as the tensor's are."""
        moving = [d for d, size in enumerate(self.sizes) if size > 1]
        ordered = sorted(moving, key=lambda d: -self.strides[d])
        if ordered == moving:
            return list(range(len(self.sizes)))
        return ordered + [d for d, size in enumerate(self.sizes) if size == 1]

    def is_whole(self, shape: tuple[int, ...]) -> bool:
        """Whether the view has each element of a tensor of that shape once."""
        if math.prod(self.sizes) != math.prod(shape):
            return False
        stride = 1
        for d in reversed(self.order):
            if self.sizes[d] > 1:
                if self.strides[d] != stride:
                    return False
                stride *= self.sizes[d]
        return True


def region_of(shape: tuple[int, ...], view: Callable[[np.ndarray], np.ndarray]) -> Region:
    """The region of a view of a tensor of that shape. `view` is called with an array of bytes that are never touched."""
    whole = np.empty(shape, np.uint8)
    part = view(whole)
    offset = part.__array_interface__["data"][0] - whole.__array_interface__["data"][0]
    return Region(offset, part.shape, part.strides, shares_elements(part))


def parts_of(region: Region, shape: tuple[int, ...]) -> list[Part] | None:
    """The part of each dimension of a tensor of that shape; None if the region is no product of such parts, as a diagonal."""
    parts = [Part(int(start), 1, 1) for start in np.unravel_index(region.offset, shape)]
    units = [math.prod(shape[d + 1 :]) for d in range(len(shape))]
    for size, stride in zip(region.sizes, region.strides, strict=True):
        if size > 1:
            d = next(d for d in range(len(shape)) if units[d] <= stride)
            part = Part(parts[d].start, size, stride // units[d])
            if stride % units[d] or parts[d].size > 1 or part.stop > shape[d]:
                return None
            parts[d] = part
    return parts
