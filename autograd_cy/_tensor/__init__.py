"""The Python part of Tensor: its methods, its text, the device "meta" (facade).

Importing it attaches the methods: from the files here, and for operations from the core's table.
"""

from .._compat.missing import mark_missing_methods
from .._core.graph.tensor import Tensor, extend
from .._core.ops.basics import OPS
from .._random import methods as _random_methods  # noqa: F401
from . import conversions, gradients, memory, metadata, values  # noqa: F401
from .memory import _rebuild as _rebuild  # as pickles name it
from .memory import _rebuild_in_order as _rebuild_in_order

__all__ = ["Tensor"]

for _op in OPS.values():
    for _method in _op.methods:
        extend(_method, _op.function)

mark_missing_methods()
