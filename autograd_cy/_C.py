"""What PyTorch code takes from `torch._C`: questions to the running backward (facade).

Their public home is `autograd.graph`.
"""

from ._core.overrides import subclasses_as_tensors as DisableTorchFunctionSubclass
from ._core.running import current_graph_task_id as _current_graph_task_id
from ._core.running import current_node as _current_autograd_node
from ._core.running import execution_order as _current_graph_task_execution_order
from ._core.running import will_execute as _will_engine_execute_node
from .autograd.variable import ImperativeEngine as _ImperativeEngine

__all__ = [
    "DisableTorchFunctionSubclass", "_ImperativeEngine", "_current_autograd_node", "_current_graph_task_execution_order",
    "_current_graph_task_id", "_will_engine_execute_node",
]  # fmt: skip
