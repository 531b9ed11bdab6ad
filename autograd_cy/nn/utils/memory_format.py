"""Memory formats of the weights of convolutions (facade)."""

import sys
from typing import Any

__all__ = ["convert_conv2d_weight_memory_format", "convert_conv3d_weight_memory_format"]


def convert_conv2d_weight_memory_format(module: Any, memory_format: Any) -> Any:
    """``convert_conv2d_weight_memory_format(module, channels_last)`` reorders the weights of all Conv2d and ConvTranspose2d.

    The values stay the same. Returns the module.
    """
    return _converted(module, memory_format, ("Conv2d", "ConvTranspose2d"))


def convert_conv3d_weight_memory_format(module: Any, memory_format: Any) -> Any:
    """``convert_conv3d_weight_memory_format(module, channels_last_3d)``: the same of all Conv3d and ConvTranspose3d."""
    return _converted(module, memory_format, ("Conv3d", "ConvTranspose3d"))


def _converted(module: Any, memory_format: Any, names: tuple[str, ...]) -> Any:
    conv: Any = sys.modules.get(f"{__package__.rpartition('.')[0]}.modules.conv")
    if conv is not None:  # else there are none
        kinds: Any = tuple(getattr(conv, name) for name in names)
        for layer in module.modules():
            if isinstance(layer, kinds):
                layer.weight.data = layer.weight.detach().clone(memory_format=memory_format)
    return module
