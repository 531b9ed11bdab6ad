"""All families of operations: after this import the table of operations is complete."""

from importlib import import_module
from os.path import dirname

from autograd_cy._core.batching.rules import declare_rule, rule_of
from autograd_cy._core.graph.tensor import attached
from autograd_cy._core.modules import compiled_below
from autograd_cy._core.ops.overrides import make_overridable
from autograd_cy._core.ops.registry import OPS

for _module in compiled_below(__package__, dirname(__file__)):
    import_module(_module)

for _op in OPS.values():
    make_overridable(_op.function, _op.name)
_own = (attached.__module__, make_overridable.__module__)
for _value in attached():  # in-place operations and views, which are methods only
    _method = _value.fget if isinstance(_value, property) else _value
    if type(_method) is type(attached) and _method.__module__ not in _own:
        make_overridable(_method)
        _base = OPS.get(_method.__name__.rstrip("_")) if _method.__name__.endswith("_") else None
        if _base is not None and rule_of(_method) is None:
            declare_rule(_method, rule_of(_base.function))

__all__ = ["OPS"]
