"""``torch.backends``: libraries that PyTorch computes with, and this package does not (facade).

Their switches can be set and read; nothing depends on them.

>>> import autograd_cy as ag
>>> ag.backends.cudnn.deterministic = True
>>> ag.backends.cudnn.is_available(), ag.backends.mps.is_available()
(False, False)
"""

from . import (
    cpu,
    cuda,
    cudnn,
    cusparselt,
    kleidiai,
    mha,
    miopen,
    mkl,
    mkldnn,
    mps,
    nnpack,
    openmp,
    opt_einsum,
    quantized,
    xnnpack,
)

__all__ = [
    "cpu", "cuda", "cudnn", "cusparselt", "disable_global_flags", "flags_frozen", "fp32_precision", "kleidiai", "mha",
    "miopen", "mkl", "mkldnn", "mps", "nnpack", "openmp", "opt_einsum", "quantized", "xnnpack",
]  # fmt: skip

fp32_precision = "none"


def flags_frozen() -> bool:
    """``flags_frozen()`` is False: switches can be set.

    >>> import autograd_cy as ag
    >>> ag.backends.flags_frozen()
    False
    """
    return False


def disable_global_flags() -> None:
    """``disable_global_flags()`` does nothing: nothing depends on the switches.

    >>> import autograd_cy as ag
    >>> ag.backends.disable_global_flags()
    """
