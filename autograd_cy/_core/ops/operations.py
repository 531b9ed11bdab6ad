"""All families of operations: after this import the table of operations is complete."""

from autograd_cy._core.ops import nn  # noqa: F401
from autograd_cy._core.ops.basics import OPS

__all__ = ["OPS"]
