"""unique() under PyTorch's internal names, which return all that it can (facade). Imported when asked for."""

from .._core.graph.tensor import Tensor
from .._core.ops.indexing.selection import unique
from .._core.runtime.entry import public


def _none(like: Tensor) -> Tensor:
    """A placeholder for indices that were not requested."""
    return like.new_empty((0,))


@public
def _unique(input: Tensor, sorted: bool = True, return_inverse: bool = False) -> tuple[Tensor, Tensor]:
    """``_unique(x)`` is the different elements of x and, with return_inverse, their places: see unique().

    >>> import autograd_cy as ag
    >>> ag._unique(ag.tensor([3, 1, 3]), return_inverse=True)
    (tensor([1, 3]), tensor([1, 0, 1]))
    """
    return _unique2(input, sorted, return_inverse)[:2]


@public
def _unique2(
    input: Tensor, sorted: bool = True, return_inverse: bool = False, return_counts: bool = False
) -> tuple[Tensor, Tensor, Tensor]:
    """``_unique2(x)`` is the same and, with return_counts, how often each element is there. What isn't asked for is empty.

    >>> import autograd_cy as ag
    >>> ag._unique2(ag.tensor([3, 1, 3]), return_counts=True)
    (tensor([1, 3]), tensor([], dtype=torch.int64), tensor([1, 2]))
    """
    found, inverse, counts = unique(input, sorted, True, True)
    return found, inverse if return_inverse else _none(inverse), counts if return_counts else _none(counts)


@public
def unique_dim(
    input: Tensor, dim: int, sorted: bool = True, return_inverse: bool = False, return_counts: bool = False
) -> tuple[Tensor, Tensor, Tensor]:
    """``unique_dim(x, dim)`` is the different rows along a dimension, the places of all rows there, and their numbers.

    >>> import autograd_cy as ag
    >>> ag._VF.unique_dim(ag.tensor([[1, 2], [1, 2]]), 0)
    (tensor([[1, 2]]), tensor([0, 0]), tensor([2]))
    """
    return unique(input, sorted, True, True, dim)
