"""How PyTorch cuts the work of linear_cross_entropy (facade)."""

from dataclasses import dataclass
from typing import Any

__all__ = ["LinearCrossEntropyOptions"]


@dataclass
class LinearCrossEntropyOptions:
    """``LinearCrossEntropyOptions(...)`` says how PyTorch cuts the work into chunks; functions refuse it here.

    >>> import autograd_cy as ag
    >>> ag.nn.LinearCrossEntropyOptions().chunking_method
    'auto'
    """

    allow_retain_graph: bool = False
    batch_chunk_size: int | None = None
    chunking_method: str | None = "auto"
    acc_policy: str = "auto"
    acc_dtype: Any = None
