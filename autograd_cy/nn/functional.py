"""Functions of neural networks: the operations of this namespace, and those that PyTorch has here, too (facade)."""

from .._core.ops.operations import OPS as _OPS
from .._core.ops.registry import namespace_of as _namespace_of
from .._core.runtime.entry import public as _public
from .._missing import getattr_of as _getattr_of
from ._embedding_bag import embedding_bag
from ._multi_head import multi_head_attention_forward

_names = _namespace_of("nn.functional")
_names |= {name: _OPS[name].function for name in ("relu", "sigmoid", "tanh")}
globals().update(_names)
__all__ = [*_names, "embedding_bag", "leaky_relu_", "multi_head_attention_forward", "relu_"]


@_public
def leaky_relu_(input, negative_slope: "float" = 0.01):
    """leaky_relu_(input, negative_slope=0.01) -> Tensor: leaky_relu() written into the tensor's own memory.

    >>> import autograd_cy as ag
    >>> x = ag.tensor([-1.0, 2.0])
    >>> ag.nn.functional.leaky_relu_(x, 0.5) is x, x
    (True, tensor([-0.5000,  2.0000]))
    """
    return _names["leaky_relu"](input, negative_slope, inplace=True)


@_public
def relu_(input):
    """relu_(input) -> Tensor: relu() written into the tensor's own memory.

    >>> import autograd_cy as ag
    >>> x = ag.tensor([-1.0, 2.0])
    >>> ag.nn.functional.relu_(x) is x, x
    (True, tensor([0., 2.]))
    """
    return _names["relu"](input, inplace=True)


__getattr__ = _getattr_of(__name__, "torch.nn.functional")
