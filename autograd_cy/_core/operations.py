"""All families of operations: after this import the table of operations is complete."""

from . import (  # noqa: F401  (importing a family declares its operations)
    activations,
    arithmetic,
    cross_entropy,
    einsum,
    gather,
    index,
    linalg,
    losses,
    matmul,
    mm,
    nll_loss,
    normalize,
    norms,
    pointwise,
    pointwise_inplace,
    reduce,
    select_reduce,
    shape,
    where,
)
from .registry import OPS

__all__ = ["OPS"]
