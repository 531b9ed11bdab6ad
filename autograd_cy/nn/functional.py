"""Functions of neural networks: its own operations, and general ones that PyTorch repeats here (facade)."""

import warnings as _warnings

from .._compat import names_later as _names_later
from .._compat.missing import getattr_of as _getattr_of
from .._core.ops.operations import OPS as _OPS
from .._core.ops.registry import namespace_of as _namespace_of
from .._core.runtime.entry import public as _public
from .._functional import in_place as _in_place
from ._embedding_bag import embedding_bag
from ._multi_head import multi_head_attention_forward

_names = _namespace_of("nn.functional")
_names |= {name: _OPS[name].function for name in (
    "adaptive_avg_pool1d", "avg_pool1d", "channel_shuffle", "conv1d", "conv2d", "conv3d", "conv_tbc", "conv_transpose1d",
    "conv_transpose2d", "conv_transpose3d", "cosine_similarity", "hardshrink", "native_channel_shuffle", "pairwise_distance",
    "pdist", "pixel_shuffle", "pixel_unshuffle", "prelu", "relu", "sigmoid", "tanh")}  # fmt: skip
_names |= {f"{name}_": _in_place(_names[name], "nn.functional.") for name in (
    "celu", "elu", "hardtanh", "leaky_relu", "relu", "rrelu", "selu")}  # fmt: skip
_names["threshold_"] = _in_place(_names["threshold"], "nn.functional.", ", 0.5, 1.0")
globals().update(_names)
__all__ = [*_names, "embedding_bag", "gumbel_softmax", "multi_head_attention_forward"]


@_public
def gumbel_softmax(logits, tau: float = 1, hard: bool = False, eps: float = 1e-10, dim: int = -1):
    """gumbel_softmax(logits, tau=1, hard=False, dim=-1) -> Tensor: draws from a categorical distribution, with a gradient.

    softmax((logits + noise) / tau), where the noise has the Gumbel distribution. With `hard` the result is one-hot, and has
    the gradient of the soft one. Source: Jang, Gu, Poole, "Categorical reparameterization with Gumbel-softmax" (2016).

    >>> import autograd_cy as ag
    >>> y = ag.nn.functional.gumbel_softmax(ag.zeros(3), hard=True)
    >>> sorted(y.tolist())
    [0.0, 0.0, 1.0]
    """
    if eps != 1e-10:
        _warnings.warn("`eps` parameter is deprecated and has no effect.", stacklevel=2)
    noise = -logits.detach().clone().exponential_().log()
    soft = ((logits + noise) / tau).softmax(dim)
    if not hard:
        return soft
    chosen = soft.detach().argmax(dim, keepdim=True)
    return (soft.detach() * 0).scatter(dim, chosen, 1.0) - soft.detach() + soft


__getattr__, __dir__ = _names_later(__name__, {"grad": []}, _getattr_of(__name__, "torch.nn.functional"))
