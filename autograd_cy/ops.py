"""``torch.ops``: the module is an object that finds operations when they are asked for (facade).

>>> import autograd_cy as ag
>>> ag.ops.aten.exp.default(ag.zeros(1))
tensor([1.])
"""

import sys
from typing import TYPE_CHECKING, Any

from ._ops import ops

__all__ = ["ops"]
if TYPE_CHECKING:
    load_library = ops.load_library

    def __getattr__(name: str) -> Any: ...
else:
    sys.modules[__name__] = ops
