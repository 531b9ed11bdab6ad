"""Functions of networks that PyTorch has in C, as code that torch.fx has written calls them (facade)."""

from ..nn.functional import (
    avg_pool2d,
    avg_pool3d,
    elu_,
    gelu,
    hardtanh_,
    leaky_relu_,
    linear,
    one_hot,
    scaled_dot_product_attention,
    softplus,
    softshrink,
)

__all__ = [
    "avg_pool2d", "avg_pool3d", "elu_", "gelu", "hardtanh_", "leaky_relu_", "linear", "one_hot",
    "scaled_dot_product_attention", "softplus", "softshrink",
]  # fmt: skip
