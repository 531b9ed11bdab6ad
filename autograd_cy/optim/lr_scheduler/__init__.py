"""Schedules of the learning rate, under the names of torch.optim.lr_scheduler (facade).

Step a scheduler after the optimizer. The constructor makes its first step, which sets the rate for epoch 0.
"""

from ._combined import ChainedScheduler, SequentialLR
from ._cosine import CosineAnnealingLR, CosineAnnealingWarmRestarts
from ._cycles import CyclicLR, OneCycleLR
from ._factors import ConstantLR, ExponentialLR, LinearLR, MultiStepLR, PolynomialLR, StepLR
from ._functions import LambdaLR, MultiplicativeLR
from ._plateau import ReduceLROnPlateau
from ._scheduler import EPOCH_DEPRECATION_WARNING, LRScheduler

__all__ = [
    "EPOCH_DEPRECATION_WARNING",
    "ChainedScheduler",
    "ConstantLR",
    "CosineAnnealingLR",
    "CosineAnnealingWarmRestarts",
    "CyclicLR",
    "ExponentialLR",
    "LRScheduler",
    "LambdaLR",
    "LinearLR",
    "MultiStepLR",
    "MultiplicativeLR",
    "OneCycleLR",
    "PolynomialLR",
    "ReduceLROnPlateau",
    "SequentialLR",
    "StepLR",
]  # fmt: skip

_LRScheduler = LRScheduler  # its name before PyTorch 2.0
