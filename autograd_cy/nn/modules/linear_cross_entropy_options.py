"""PyTorch's chunking options of linear_cross_entropy (facade)."""

from dataclasses import dataclass
from typing import Any

from ..._core.arrays.dtypes import dtype
from ..._core.graph.tensor import Tensor
from ..._functional.names import bfloat16, float16, float32, float64

__all__ = ["LinearCrossEntropyOptions"]


@dataclass(slots=True, frozen=True)
class LinearCrossEntropyOptions:
    """``LinearCrossEntropyOptions(...)`` sets PyTorch's chunks of the batch in linear_cross_entropy().

    Here the options are checked but change nothing: the loss is computed at once, and has all derivatives. ValueError for
    values that PyTorch refuses.

    >>> import autograd_cy as ag
    >>> ag.nn.LinearCrossEntropyOptions().chunking_method
    'auto'
    """

    allow_retain_graph: bool = False
    batch_chunk_size: int | None = None
    chunking_method: str | None = "auto"
    acc_policy: str = "auto"
    acc_dtype: dtype | None = None

    def __post_init__(self) -> None:
        size: Any = self.batch_chunk_size
        method = self.chunking_method
        if self.acc_policy not in ("auto", "accurate", "balanced", "compact"):
            raise ValueError(f"invalid acc_policy: {self.acc_policy!r}")
        if method not in (None, "auto", "aspect_ratio") and not _factor(method):
            raise ValueError(f"invalid chunking_method: {method!r}")
        if size is not None and not (isinstance(size, int) and size > 0):
            raise ValueError(f"batch_chunk_size must be positive int or None, got {size!r}")
        if self.acc_dtype not in (None, float16, bfloat16, float32, float64):
            raise ValueError(
                "acc_dtype must be one of {None, torch.float16, torch.bfloat16, torch.float32, torch.float64}, got "
                f"{self.acc_dtype!r}. Pass acc_dtype=None to let the op pick automatically."
            )

    def _check_chunks(self, rows: int, features: int, classes: int) -> None:
        """ValueError where a size and a method are given, and the method chooses another size.

        RuntimeError where `allow_retain_graph` is no bool, no number and not None.
        """
        retained: Any = self.allow_retain_graph
        if not (retained is None or isinstance(retained, bool | int | float | Tensor)):
            raise RuntimeError(
                "torch_nn::_linear_cross_entropy_batch_chunked() Expected a value of type 'bool' for argument "
                f"'allow_retain_graph' but instead found type '{type(retained).__name__}'."
            )
        size, method = self.batch_chunk_size, self.chunking_method
        if size is None or method in (None, "auto"):
            return
        parts = -(-rows // -(-classes // features))
        chosen = max(1, min((1 << (parts - 1).bit_length()) // (_factor(method) or 1), rows))
        if min(size, rows) != chosen:
            raise ValueError(
                f"batch_chunk_size (={size}) and chunking_method ('{method}') give different chunk sizes ({size} vs "
                f"{chosen}); pass only one."
            )


def _factor(method: object) -> int:
    """N of "aspect_ratio:N", 0 for anything else."""
    name, _, factor = str(method).partition(":")
    return int(factor) if name == "aspect_ratio" and factor.isdecimal() else 0
