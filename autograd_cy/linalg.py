"""Linear algebra, under the names of torch.linalg (facade)."""

from ._compat.missing import getattr_of as _getattr_of
from ._core.ops import basics as _basics  # noqa: F401  (they declare themselves)
from ._core.ops.matrices.systems import LinAlgError as _LinAlgError
from ._core.ops.registry import namespace_of as _namespace_of

_names = _namespace_of("linalg")
globals().update(_names)
LinAlgError = _LinAlgError
__all__ = [*_names, "LinAlgError"]
__getattr__ = _getattr_of(__name__, "torch.linalg")
