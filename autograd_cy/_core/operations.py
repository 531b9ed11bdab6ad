"""All families of operations: after this import the table of operations is complete."""

from . import (  # importing a family declares its operations
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
    reduce,
    select_reduce,
    shape,
)
from .registry import OPS

FAMILIES = (
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
    reduce,
    select_reduce,
    shape,
)

__all__ = ["FAMILIES", "OPS"]
