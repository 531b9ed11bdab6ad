"""Functions of neural networks: the operations of this namespace, and those that PyTorch has here, too (facade)."""

from .._core.ops.operations import OPS as _OPS
from .._core.ops.registry import namespace_of as _namespace_of
from .._missing import getattr_of as _getattr_of

_names = _namespace_of("nn.functional")
_names |= {name: _OPS[name].function for name in ("relu", "sigmoid", "tanh")}
globals().update(_names)
__all__ = list(_names)
__getattr__ = _getattr_of(__name__, "torch.nn.functional")
