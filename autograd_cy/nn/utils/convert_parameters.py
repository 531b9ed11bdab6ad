"""Parameters as one vector, and back (facade)."""

from collections.abc import Iterable
from typing import Any

from ..._core.graph.tensor import Tensor
from ..._core.ops.shapes.joining import cat
from ..._core.runtime.entry import public as _public

__all__ = ["parameters_to_vector", "vector_to_parameters"]


@_public
def parameters_to_vector(parameters: Iterable[Any]) -> Tensor:
    """``parameters_to_vector(parameters)``: the concatenation of their elements; it is differentiable.

    >>> import autograd_cy as ag
    >>> ag.nn.utils.parameters_to_vector([ag.zeros(1, 2), ag.ones(2)])
    tensor([0., 0., 1., 1.])
    """
    return cat([parameter.view(-1) for parameter in parameters])


@_public
def vector_to_parameters(vec: Tensor, parameters: Iterable[Any]) -> None:
    """``vector_to_parameters(vec, parameters)`` makes the parameters' data consecutive parts of the vector.

    >>> import autograd_cy as ag
    >>> w, b = ag.nn.Parameter(ag.zeros(1, 2)), ag.nn.Parameter(ag.zeros(1))
    >>> ag.nn.utils.vector_to_parameters(ag.tensor([1.0, 2.0, 3.0]), [w, b])
    >>> w.data, b.data
    (tensor([[1., 2.]]), tensor([3.]))
    """
    if not isinstance(vec, Tensor):
        raise TypeError(f"expected torch.Tensor, but got: {type(vec).__module__}.{type(vec).__name__}")
    start = 0
    for parameter in parameters:
        end = start + parameter.numel()
        parameter.data = vec[start:end].view_as(parameter).data
        start = end
