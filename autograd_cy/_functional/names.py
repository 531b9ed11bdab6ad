"""The names that tables declare: functions of operations (without a namespace of their own) and dtypes (facade).

Those of neural networks: `_layers`.
"""

from .._core.arrays.dtypes import all_dtypes, other_dtypes
from .._core.graph.tensor import Tensor as _Tensor
from .._core.ops.basics import OPS
from . import in_place

_ALIASES = {
    "half": "float16", "float": "float32", "double": "float64", "cfloat": "complex64", "cdouble": "complex128",
    "short": "int16", "int": "int32", "long": "int64", "bit": "uint1", "chalf": "complex32",
}  # fmt: skip
_OPERANDS = {"other", "exponent", "values", "end", "tensor1"}  # the second tensors of operations

# Functions that PyTorch has under two names.
_SAME = {
    "concat": "cat", "concatenate": "cat", "moveaxis": "movedim", "row_stack": "vstack", "swapaxes": "transpose",
    "swapdims": "transpose",
}  # fmt: skip

_names = {op.name: op.function for op in OPS.values() if not op.namespace}
_names |= {name: op.function for op in OPS.values() if op.kind == "elementwise" for name in op.methods}
_names |= {alias: _names[name] for alias, name in _SAME.items()}
_names |= {dtype.name: dtype for dtype in (*all_dtypes(), *other_dtypes())}
_names |= {alias: _names[name] for alias, name in _ALIASES.items()}
# In place there are functions, as PyTorch has them, of the methods that take no second tensor, and of few more.
_names |= {
    f"{name}_": method
    for op in OPS.values()
    if op.kind == "elementwise" and not _OPERANDS & set(op.function.__code__.co_varnames)
    for name in (op.name, *op.methods)
    if (method := getattr(_Tensor, f"{name}_", None))
}
_names |= {
    name: getattr(_Tensor, name)
    for name in (
        "addmv_", "as_strided_", "detach_", "fill_", "gcd_", "index_put_", "lcm_", "ldexp_", "resize_as_", "xlogy_", "zero_",
    )
}  # fmt: skip
# Of nn.functional, and in place what takes `inplace=`.
_names |= {name: OPS[f"nn.functional.{name}"].function for name in ("celu", "selu", "threshold")}
_names |= {f"{name}_": in_place(_names[name]) for name in ("celu", "selu")}
_names["threshold_"] = in_place(_names["threshold"], arguments=", 0.5, 1.0")
globals().update(_names)
__all__ = list(_names)
