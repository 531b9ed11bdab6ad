"""ShapeProp: what each node of a graph results in, by running it (facade)."""

from typing import Any, NamedTuple

from ..._core.arrays.formats import channels_last, channels_last_3d, contiguous_format
from ..._core.graph.tensor import Tensor
from ...autograd.grad_mode import no_grad
from ..interpreter import Interpreter
from ..node import Node, map_aggregate

__all__ = ["ShapeProp", "TensorMetadata"]


class TensorMetadata(NamedTuple):
    """What is known of a tensor without its values."""

    shape: Any
    dtype: Any
    requires_grad: bool
    stride: tuple[int, ...]
    memory_format: Any
    is_quantized: bool
    qparams: dict[str, Any]


def _extract_tensor_metadata(result: Tensor, include_contiguity: bool = True) -> TensorMetadata:
    formats = (contiguous_format, channels_last, channels_last_3d)
    kept = [f for f in formats if include_contiguity and _is_in(result, f)]
    return TensorMetadata(
        result.shape, result.dtype, result.requires_grad, result.stride(), kept[0] if kept else None, False, {}
    )


def _is_in(tensor: Tensor, memory_format: Any) -> bool:
    ranks = {"torch.channels_last": 4, "torch.channels_last_3d": 5}
    wanted = ranks.get(str(memory_format), tensor.ndim)
    return tensor.ndim == wanted and bool(tensor.is_contiguous(memory_format=memory_format))


class ShapeProp(Interpreter):
    """``ShapeProp(module).propagate(*args)`` runs the module; ``node.meta["tensor_meta"]`` is then the TensorMetadata of each
    node's tensors, ``node.meta["type"]`` the type of its value.

    >>> import autograd_cy as ag
    >>> from autograd_cy.fx.passes.shape_prop import ShapeProp
    >>> traced = ag.fx.symbolic_trace(lambda x: x.sum(0))
    >>> _ = ShapeProp(traced).propagate(ag.ones(2, 3))
    >>> [node.meta["tensor_meta"].shape for node in traced.graph.nodes]
    [torch.Size([2, 3]), torch.Size([3]), torch.Size([3])]
    """

    def __init__(self, gm: Any, fake_mode: Any = None) -> None:
        super().__init__(gm)

    def run_node(self, n: Node) -> Any:
        """``run_node(n)``: the value of a node, whose kind is noted."""
        result = super().run_node(n)
        found = False

        def of_tensor(value: Any) -> Any:
            nonlocal found
            if not isinstance(value, Tensor):
                return value
            found = True
            return _extract_tensor_metadata(value)

        meta = map_aggregate(result, of_tensor)
        if found:
            n.meta["tensor_meta"] = meta
        n.meta["type"] = type(result)
        return result

    def propagate(self, *args: Any) -> Any:
        """``propagate(*args)`` runs the module on these arguments; returns what it returns."""
        with no_grad():
            return super().run(*args)
