"""The functions of neural networks that PyTorch has outside nn.functional, too (facade); imported when asked for."""

from .._core.ops import nn as _family
from .._core.ops.registry import OPS
from . import in_place

_own = f"{_family.__name__}."
_names = {op.name: op.function for op in OPS.values() if not op.namespace and op.function.__module__.startswith(_own)}
# Of nn.functional, and in place what takes `inplace=`.
_names["rrelu"] = OPS["nn.functional.rrelu"].function
_names["rrelu_"] = in_place(_names["rrelu"])
_names |= {
    f"{name}_": in_place(_names[name], arguments=", 0.5, False")
    for name in ("alpha_dropout", "dropout", "feature_alpha_dropout", "feature_dropout")
}
globals().update(_names)
__all__ = list(_names)
