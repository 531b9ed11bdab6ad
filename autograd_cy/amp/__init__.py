"""``torch.amp``: scripts with mixed precision run, in the dtypes of their tensors (facade).

>>> import autograd_cy as ag
>>> ag.amp.is_autocast_available("cpu")
False
"""

from .autocast_mode import autocast, custom_bwd, custom_fwd, is_autocast_available
from .grad_scaler import GradScaler

__all__ = ["GradScaler", "autocast", "custom_bwd", "custom_fwd", "is_autocast_available"]
