"""``torch.backends.cuda``: switches that nothing depends on (facade)."""

from types import SimpleNamespace

from ._absent import is_built

__all__ = ["is_built", "matmul"]

matmul = SimpleNamespace(
    allow_tf32=False, allow_fp16_reduced_precision_reduction=True, allow_bf16_reduced_precision_reduction=True
)
