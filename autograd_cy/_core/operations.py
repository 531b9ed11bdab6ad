"""All families of operations: after this import the table of operations is complete."""

from . import (  # importing a family declares its operations
    gather,
    index,
    normalize,
    norms,
    pointwise,
    reduce,
    select_reduce,
    shape,
)
from .registry import OPS

FAMILIES = (gather, index, normalize, norms, pointwise, reduce, select_reduce, shape)

__all__ = ["FAMILIES", "OPS"]
