"""All families of operations: after this import the table of operations is complete."""

from . import (  # noqa: F401  (importing a family declares its operations)
    activations,
    arithmetic,
    cross_entropy,
    cumsum,
    division,
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
    powers,
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
from .tensor import attached

for _op in OPS.values():
    make_overridable(_op.function, _op.name)
_own = (attached.__module__, make_overridable.__module__)
for _value in attached():  # in-place operations and views, which are methods only
    _method = _value.fget if isinstance(_value, property) else _value
    if type(_method) is type(attached) and _method.__module__ not in _own:
        make_overridable(_method)

__all__ = ["OPS"]
