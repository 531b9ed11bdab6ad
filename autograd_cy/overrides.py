"""The override protocol for those who write functions of their own, under the names of torch.overrides (facade)."""

from ._core.graph.tensor import Tensor
from ._core.ops.overrides import handle_torch_function, has_torch_function

__all__ = ["handle_torch_function", "has_torch_function", "is_tensor_like"]


def is_tensor_like(inp):
    """``is_tensor_like(inp)`` is True for a Tensor and for what defines `__torch_function__`.

    >>> import autograd_cy as ag
    >>> ag.overrides.is_tensor_like(ag.ones(1)), ag.overrides.is_tensor_like([1.0])
    (True, False)
    """
    return isinstance(inp, Tensor) or has_torch_function((inp,))
