"""``torch.amp``: mixed precision, by autocast and GradScaler (facade).

>>> import autograd_cy as ag
>>> ag.amp.is_autocast_available("cpu")
True
"""

from .autocast_mode import autocast, custom_bwd, custom_fwd, is_autocast_available
from .grad_scaler import GradScaler

__all__ = ["GradScaler", "autocast", "custom_bwd", "custom_fwd", "is_autocast_available"]
