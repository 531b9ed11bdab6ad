"""``torch.backends``: libraries that PyTorch computes with, and this package does not (facade).

Their switches can be set and read; nothing depends on them.

>>> import autograd_cy as ag
>>> ag.backends.cudnn.deterministic = True
>>> ag.backends.cudnn.is_available(), ag.backends.mps.is_available()
(False, False)
"""

from . import cuda, cudnn, mkl, mkldnn, mps, openmp

__all__ = ["cuda", "cudnn", "mkl", "mkldnn", "mps", "openmp"]
