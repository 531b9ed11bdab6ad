"""All families of operations: after this import the table of operations is complete."""

from . import (  # noqa: F401  (importing a family declares its operations)
    activations,
    arithmetic,
    cross_entropy,
    cumsum,
    einsum,
    extremes,
    gather,
    index,
    index_put,
    layer_norm,
    linalg,
    losses,
    masked_fill,
    matmul,
    mm,
    nll_loss,
    normalize,
    norms,
    overwriting,
    part_views,
    pointwise,
    pointwise_inplace,
    scatter,
    set_item,
    shape,
    shape_views,
    sums,
    transposes,
    variance,
    where,
)
from .overrides import make_overridable
from .registry import OPS

for _op in OPS.values():
    make_overridable(_op.name, _op.function)

__all__ = ["OPS"]
