"""``torch.backends.cuda``: switches that nothing depends on (facade)."""

from contextlib import nullcontext
from types import SimpleNamespace
from typing import Any

from .._compat import answers as _answers
from ._absent import is_built

__all__ = [
    "allow_fp16_bf16_reduction_math_sdp", "can_use_cudnn_attention", "can_use_efficient_attention",
    "can_use_flash_attention", "cudnn_sdp_enabled", "cufft_plan_cache", "enable_cudnn_sdp", "enable_flash_sdp",
    "enable_math_sdp", "enable_mem_efficient_sdp", "flash_sdp_enabled", "fp16_bf16_reduction_math_sdp_allowed",
    "is_built", "is_ck_sdpa_available", "is_flash_attention_available", "math_sdp_enabled", "matmul",
    "mem_efficient_sdp_enabled", "preferred_blas_library", "preferred_linalg_library", "preferred_rocm_fa_library",
    "sdp_kernel",
]  # fmt: skip

matmul = SimpleNamespace(
    allow_tf32=False, allow_fp16_reduced_precision_reduction=True, allow_bf16_reduced_precision_reduction=True,
    allow_fp16_accumulation=False, fp32_precision="none",
)  # fmt: skip
cufft_plan_cache = SimpleNamespace(size=0, max_size=0, clear=_answers.answers(None))

can_use_cudnn_attention = can_use_efficient_attention = can_use_flash_attention = _answers.answers(False)
is_ck_sdpa_available = is_flash_attention_available = fp16_bf16_reduction_math_sdp_allowed = can_use_flash_attention
cudnn_sdp_enabled = flash_sdp_enabled = math_sdp_enabled = mem_efficient_sdp_enabled = _answers.answers(True)
allow_fp16_bf16_reduction_math_sdp = enable_cudnn_sdp = enable_flash_sdp = enable_math_sdp = _answers.answers(None)
enable_mem_efficient_sdp = enable_math_sdp
preferred_blas_library = preferred_linalg_library = preferred_rocm_fa_library = _answers.answers("default")


def sdp_kernel(*args: Any, **kwargs: Any) -> nullcontext[None]:
    """``with sdp_kernel(enable_flash=False):`` changes nothing: attention has one kernel.

    >>> import autograd_cy as ag
    >>> with ag.backends.cuda.sdp_kernel(enable_flash=False):
    ...     pass
    """
    return nullcontext()


_answers.named(globals(), "there is no such device")
