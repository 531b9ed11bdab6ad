"""Utilities for modules and their parameters, imported on first use (facade)."""

from ..._compat import names_later as _names_later
from ..._compat.missing import getattr_of as _getattr_of
from .spectral_norm import remove_spectral_norm, spectral_norm  # now, as their files have the same names
from .weight_norm import remove_weight_norm, weight_norm

_HOMES: dict[str, list[str]] = {
    "clip_grad": ["clip_grad_norm", "clip_grad_norm_", "clip_grad_value_", "clip_grads_with_norm_", "get_total_norm"],
    "convert_parameters": ["parameters_to_vector", "vector_to_parameters"],
    "fusion": ["fuse_conv_bn_eval", "fuse_conv_bn_weights", "fuse_linear_bn_eval", "fuse_linear_bn_weights"],
    "init": ["skip_init"],
    "memory_format": ["convert_conv2d_weight_memory_format", "convert_conv3d_weight_memory_format"],
    "parametrizations": [],
    "parametrize": [],
    "prune": [],
    "rnn": [],
    "stateless": [],
}
__all__ = sorted(name for names in _HOMES.values() for name in names)
__all__ += [
    "parametrizations", "parametrize", "prune", "remove_spectral_norm", "remove_weight_norm", "rnn", "spectral_norm",
    "stateless", "weight_norm",
]  # fmt: skip

__getattr__, __dir__ = _names_later(
    __name__, {home: [home, *names] for home, names in _HOMES.items()}, _getattr_of(__name__, "torch.nn.utils")
)
