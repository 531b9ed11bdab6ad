"""What PyTorch code takes from `torch._C`: questions to the running backward (facade).

Their public home is `autograd.graph`.
"""

from .._core.node import Node
from .._core.overrides import disabled_torch_function
from .._core.overrides import subclasses_as_tensors as DisableTorchFunctionSubclass
from .._core.running import current_graph_task_id as _current_graph_task_id
from .._core.running import current_node as _current_autograd_node
from .._core.running import execution_order
from .._core.running import will_execute as _will_engine_execute_node
from .._core.tensor import TensorBase
from ..autograd.grad_mode import is_multithreading_enabled
from ..autograd.variable import ImperativeEngine as _ImperativeEngine

__all__ = [
    "DisableTorchFunction", "DisableTorchFunctionSubclass", "TensorBase", "_ImperativeEngine", "_current_autograd_node",
    "_current_graph_task_execution_order", "_current_graph_task_id", "_disabled_torch_function_impl",
    "_will_engine_execute_node",
]  # fmt: skip

DisableTorchFunction = DisableTorchFunctionSubclass
_disabled_torch_function_impl = staticmethod(disabled_torch_function)  # as an attribute of a class it is not bound


def _current_graph_task_execution_order() -> list[Node]:
    """_current_graph_task_execution_order() -> list: the nodes that the running backward has still to run, in order.

    RuntimeError outside of backward, and where backward may use several threads, which makes the order a guess.
    `autograd.graph.execution_order` has only the first of these conditions: here one thread runs a backward.
    """
    order: list[Node] = execution_order()
    if is_multithreading_enabled():
        raise RuntimeError(
            "_current_graph_task_execution_order() expects the current backward to be executed with multithreading disabled: "
            "run it within `with torch.autograd.set_multithreading_enabled(False)`"
        )
    return order
