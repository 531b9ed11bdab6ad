"""Access to the graph: nodes, edges, hooks on several tensors or on every operation, the running backward (facade)."""

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any

from .._compat import names_later as _names_later
from .._core.engine.engine import (
    current_graph_task_id,
    current_node,
    execution_order,
    task_notes,
    unchain,
    unchain_backward,
    will_execute,
)
from .._core.graph.edges import GradientEdge
from .._core.graph.node import gradient_node as _gradient_node
from .._core.graph.record import register_op_hook as _register_op_hook
from .._core.graph.tensor import Tensor
from .._core.runtime.entry import public as _public
from .._core.writes.inplace import count_writes as _count_writes
from ._multi_grad import register_multi_grad_hook
from ._node import InputMetadata as _InputMetadata  # noqa: F401  (_C._autograd has it)
from ._node import Node
from ._saved_hooks import disable_saved_tensors_hooks, save_on_cpu, saved_tensors_hooks

if TYPE_CHECKING:
    from ._cycles import Cycle, find_cycles
    from ._explain import HookCall, HookPlan, explain_hooks
    from ._graph_draw import GraphPicture, draw
    from ._graph_memory import GraphMemory, MemoryRow, NodeMemory, memory
    from ._node_creation import node_creation_hook, region
    from ._packers import save_as_half, save_on_disk
    from ._parallel import parallel_backward
    from ._saved_guard import allow_mutation_on_saved_tensors, guard_buffers

__all__ = [
    "Cycle", "GradientEdge", "GraphMemory", "GraphPicture", "HookCall", "HookPlan", "MemoryRow", "Node", "NodeMemory",
    "allow_mutation_on_saved_tensors", "current_graph_task_id", "current_node", "disable_saved_tensors_hooks", "draw",
    "execution_order", "explain_hooks", "find_cycles", "get_gradient_edge", "guard_buffers", "increment_version",
    "memory", "node_creation_hook", "parallel_backward", "region", "register_multi_grad_hook", "register_op_hook",
    "save_as_half", "save_on_cpu", "save_on_disk", "saved_tensors_hooks", "task_notes", "unchain", "unchain_backward",
    "will_execute",
]  # fmt: skip


@_public
def get_gradient_edge(tensor: Tensor) -> GradientEdge:
    """``get_gradient_edge(tensor)`` is the edge at which the tensor's gradient arrives.

    RuntimeError for a tensor that requires no gradient.

    >>> import autograd_cy as ag
    >>> x = ag.ones(1, requires_grad=True)
    >>> edge = ag.autograd.graph.get_gradient_edge(x * 2)
    >>> edge.node
    <MulBackward0>
    >>> ag.autograd.grad(edge, x)
    (tensor([2.]),)
    """
    if not tensor.requires_grad:
        raise RuntimeError(
            "It is not possible to get the gradient edge for a Tensor that does not require gradients: "
            f"this one has shape {list(tensor.shape)} and requires_grad=False"
        )
    edge = GradientEdge(tensor.grad_fn or _gradient_node(tensor), tensor.output_nr)
    edge.metadata = (tensor.shape, tensor.dtype)
    return edge


@_public
def increment_version(tensor: Tensor | Iterable[Tensor]) -> None:
    """``increment_version(tensor)`` counts a write to the memory of a tensor, or of several, that was not counted.

    A node that saved the tensor then refuses it. Inference tensors count no writes. RuntimeError for other objects.

    >>> import autograd_cy as ag
    >>> x = ag.ones(2)
    >>> x.numpy()[0] = 3.0
    >>> ag.autograd.graph.increment_version(x)
    >>> x._version
    1
    """
    try:
        tensors = (tensor,) if isinstance(tensor, Tensor) else tuple(tensor)
    except TypeError:
        raise RuntimeError(
            f"increment_version expect a Iterable[Tensor] as input, or a Tensor, but got {type(tensor).__name__}"
        ) from None
    for x in tensors:
        if not isinstance(x, Tensor):
            raise RuntimeError(
                f"increment_version expects each element of the iterable to be a tensor, but got {type(x).__name__}"
            )
    _count_writes(tensors)


@_public
def register_op_hook(forward: Callable[..., Any] | None = None, backward: Callable[..., Any] | None = None) -> Any:
    """``register_op_hook(forward, backward)`` observes every operation of this thread; returns a handle.

    forward(node, inputs, outputs) is called once for each operation, whether it is recorded or not; `inputs` is a tuple
    with None for arguments that are not Tensors. Writes (in place, x[i] = y) pass their result before it is written. An
    operation without a derivative passes a node with its name. backward(node, grad_inputs, grad_outputs) is called after
    each node that a backward of this thread runs. Results of the hooks are ignored, and operations in them are not
    observed. Their exceptions are raised by the operation, which then has written nothing. The handle's remove(), or the
    end of a `with` block, ends it.

    >>> import autograd_cy as ag
    >>> x = ag.ones(1, requires_grad=True)
    >>> with ag.autograd.graph.register_op_hook(
    ...     forward=lambda node, inputs, outputs: print("forward", node.name(), outputs.tolist()),
    ...     backward=lambda node, grad_inputs, grad_outputs: print("backward", node.name()),
    ... ):
    ...     (x * 2).neg().backward()
    forward MulBackward0 [2.0]
    forward NegBackward0 [-2.0]
    backward NegBackward0
    backward MulBackward0
    backward torch::autograd::AccumulateGrad
    """
    for hook in (forward, backward):
        if hook is not None and not callable(hook):
            raise TypeError(f"a hook must be callable, not {type(hook).__name__}")
    if forward is None and backward is None:
        raise TypeError("register_op_hook() needs a function for forward, for backward, or both")
    return _register_op_hook(forward, backward)


if not TYPE_CHECKING:  # else any name would be right
    __getattr__, __dir__ = _names_later(
        __name__,
        {
            "_cycles": ["Cycle", "find_cycles"],
            "_explain": ["HookCall", "HookPlan", "explain_hooks"],
            "_graph_draw": ["GraphPicture", "draw"],
            "_graph_memory": ["GraphMemory", "MemoryRow", "NodeMemory", "memory"],
            "_node_creation": ["node_creation_hook", "region"],
            "_parallel": ["parallel_backward"],
            "_packers": ["save_as_half", "save_on_disk"],
            "_saved_guard": ["allow_mutation_on_saved_tensors", "guard_buffers"],
        },
    )
