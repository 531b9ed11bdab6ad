"""Optimizers, under the names of torch.optim (facade).

A step makes one pass over each parameter: its value, gradient and state are read and written once, and one call handles all
parameters of a group. So `foreach` and `fused` are accepted but change nothing. With `differentiable=True` a step consists of
recorded operations: parameters are then results of operations (`w = start.clone()`), gradients may be, and state is replaced,
not written.
"""

from .._compat import names_later as _names_later
from .._compat.missing import getattr_of as _getattr_of
from . import lr_scheduler
from ._adafactor import Adafactor
from ._muon import Muon
from .adadelta import Adadelta
from .adagrad import Adagrad
from .adam import Adam
from .adamax import Adamax
from .adamw import AdamW
from .asgd import ASGD
from .lbfgs import LBFGS
from .nadam import NAdam
from .optimizer import Optimizer
from .radam import RAdam
from .rmsprop import RMSprop
from .rprop import Rprop
from .sgd import SGD
from .sparse_adam import SparseAdam

__getattr__, __dir__ = _names_later(__name__, {"swa_utils": []}, _getattr_of(__name__, "torch.optim"))

__all__ = [
    "ASGD",
    "LBFGS",
    "SGD",
    "Adadelta",
    "Adafactor",
    "Adagrad",
    "Adam",
    "AdamW",
    "Adamax",
    "Muon",
    "NAdam",
    "Optimizer",
    "RAdam",
    "RMSprop",
    "Rprop",
    "SparseAdam",
    "lr_scheduler",
    "swa_utils",
]  # fmt: skip
