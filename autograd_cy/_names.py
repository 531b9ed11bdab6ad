"""The names that tables declare: functions of operations (without a namespace of their own) and dtypes (facade)."""

from ._core.arrays.dtypes import all_dtypes
from ._core.ops.operations import OPS

_ALIASES = {
    "half": "float16", "float": "float32", "double": "float64", "cfloat": "complex64", "cdouble": "complex128",
    "short": "int16", "int": "int32", "long": "int64",
}  # fmt: skip

_names = {op.name: op.function for op in OPS.values() if not op.namespace}
_names |= {name: op.function for op in OPS.values() if op.kind == "elementwise" for name in op.methods}
_names |= {dtype.name: dtype for dtype in all_dtypes()}
_names |= {alias: _names[name] for alias, name in _ALIASES.items()}
globals().update(_names)
__all__ = list(_names)
