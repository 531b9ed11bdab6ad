"""``torch.ops``: the module is an object that finds operations when they are asked for (facade).

>>> import autograd_cy as ag
>>> ag.ops.aten.exp.default(ag.zeros(1))
tensor([1.])
"""

import sys

from ._ops import ops

__all__ = ["ops"]
sys.modules[__name__] = ops
