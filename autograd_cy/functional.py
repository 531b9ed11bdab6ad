# ruff: noqa: F822
"""``torch.functional``: where PyTorch keeps functions that it writes in Python; they are those of the package (facade)."""

import sys
from typing import Any

__all__ = [
    "atleast_1d", "atleast_2d", "atleast_3d", "block_diag", "broadcast_shapes", "broadcast_tensors", "cartesian_prod", "cdist",
    "chain_matmul", "einsum", "istft", "lu", "meshgrid", "norm", "pca_lowrank", "split", "stft", "svd_lowrank", "tensordot",
    "unique", "unique_consecutive", "unravel_index",
]  # fmt: skip

_PACKAGE = sys.modules[__name__.rpartition(".")[0]]


def __getattr__(name: str) -> Any:
    if name in __all__:
        return getattr(_PACKAGE, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
