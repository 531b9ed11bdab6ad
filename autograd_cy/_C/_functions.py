"""What PyTorch code takes from `torch._C._functions`: node classes, and Functions made of them (facade)."""

from .._core.engine.functions import DelayedError, Error, UndefinedGrad, UndefinedGradBackward
from .._core.graph.node import AccumulateGrad
from ..autograd._node import Node

__all__ = ["AccumulateGrad", "DelayedError", "Error", "UndefinedGrad", "UndefinedGradBackward"]

Node.register(DelayedError)  # in PyTorch these are the nodes themselves
Node.register(UndefinedGrad)
