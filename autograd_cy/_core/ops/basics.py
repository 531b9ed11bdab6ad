"""The families that are loaded with the package: those with methods of Tensor. After this import they are in the
table OPS. The operations of neural networks are loaded when one is first used."""

from autograd_cy._core.graph.tensor import attached
from autograd_cy._core.ops.loading import load
from autograd_cy._core.ops.overrides import disabled_torch_function, find_operators, make_overridable
from autograd_cy._core.ops.registry import OPS

load("indexing", "matrices", "pointwise", "products", "reductions", "shapes", "spectral")
find_operators(OPS)

_own = (make_overridable.__module__, disabled_torch_function.__module__)
_tensor = attached.__module__.removesuffix("_class")  # the methods of Tensor itself and of its parts
for _value in attached():  # in-place operations and views, which are methods only
    _method = _value.fget if isinstance(_value, property) else _value
    if type(_method) is type(attached) and _method.__module__ not in _own and not _method.__module__.startswith(_tensor):
        make_overridable(_method)

__all__ = ["OPS"]
