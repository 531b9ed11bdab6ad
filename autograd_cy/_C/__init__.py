"""What PyTorch code takes from `torch._C`: questions to the running backward, modes (facade).

Their public home is `autograd.graph`, `autograd.grad_mode`.
"""

import contextlib
import sys
import weakref
from collections.abc import Iterator
from typing import Any

from .._compat import answers as _answers
from .._compat import names_later
from .._core.arrays.unset import Filling as _Filling
from .._core.engine.engine import (
    current_graph_task_id as _current_graph_task_id,
)
from .._core.engine.engine import (
    current_node as _current_autograd_node,
)
from .._core.engine.engine import (
    execution_order,
    is_captured_leaf,
    will_execute,
)
from .._core.graph.node import Node
from .._core.graph.tensor import Tensor, TensorBase
from .._core.ops.overrides import (
    calls_handed_to as _calls_handed_to,
)
from .._core.ops.overrides import (
    disabled_torch_function,
)
from .._core.ops.overrides import (
    subclasses_as_tensors as DisableTorchFunctionSubclass,
)
from .._core.runtime.once import is_warn_always_enabled as _get_warnAlways
from .._core.runtime.once import set_warn_always as _set_warnAlways
from .._settings import autocast as _autocast
from ..autograd.forward_ad import _is_fwd_grad_enabled
from ..autograd.forward_ad import _set_fwd_grad_enabled as _SetForward
from ..autograd.grad_mode import is_grad_enabled, is_inference_mode_enabled, is_multithreading_enabled
from ..autograd.variable import ImperativeEngine as _ImperativeEngine

__all__ = [
    "DisableTorchFunction",
    "DisableTorchFunctionSubclass",
    "TensorBase",
    "_ImperativeEngine",
    "_WeakTensorRef",
    "_current_autograd_node",
    "_current_graph_task_execution_order",
    "_current_graph_task_id",
    "_disabled_torch_function_impl",
    "_get_warnAlways",
    "_is_fwd_grad_enabled",
    "_set_fwd_grad_enabled",
    "_set_warnAlways",
    "_will_engine_execute_node",
    "is_grad_enabled",
    "is_inference_mode_enabled",
]  # fmt: skip


@contextlib.contextmanager
def DisableTorchFunction() -> Iterator[None]:
    """Within it neither `__torch_function__` of subclasses nor a mode is asked."""
    with DisableTorchFunctionSubclass(), _calls_handed_to(None):
        yield


_disabled_torch_function_impl = staticmethod(disabled_torch_function)  # as an attribute of a class it is not bound


_PLAIN = {"_get_tracing_state": None, "_is_tracing": False, "_get_default_device": "cpu"}
for _name, _value in _PLAIN.items():
    globals()[_name] = _answers.answers(_value)
_log_api_usage_once = _log_api_usage_metadata = _jit_set_profiling_mode = _jit_set_profiling_executor = _answers.answers(None)
_debug_only_display_vmap_fallback_warnings = _log_api_usage_once
_answers.named(globals(), "nothing is recorded, traced or compiled here")


_OF_PACKAGE = (
    "AcceleratorError", "Generator", "OutOfMemoryError", "Size", "device", "dtype", "layout", "memory_format",
    "has_lapack", "has_openmp", "has_spectral",
)  # fmt: skip


def _of_package(name: str) -> Any:
    """The package for `_VariableFunctions`, which has its functions; classes of it under their names."""
    package = sys.modules[__name__.rpartition(".")[0]]
    if name == "_VariableFunctions":
        return package
    if name in _OF_PACKAGE:
        return getattr(package, name)
    if name == "_LinAlgError":
        return package.linalg.LinAlgError
    if name in ("Future", "ScriptModule", "ScriptFunction"):
        return getattr(package.jit, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


__getattr__, __dir__ = names_later(__name__, {"_nn": [], "_autograd": [], "_functions": []}, _of_package)


def _is_any_autocast_enabled() -> bool:
    """_is_any_autocast_enabled() -> bool: whether autocast is enabled for any device."""
    return any(_autocast.setting(name).enabled for name in ("cpu", "cuda"))


def _get_deterministic_fill_uninitialized_memory() -> bool:
    """utils.deterministic.fill_uninitialized_memory."""
    return _Filling.is_wanted


def _set_deterministic_fill_uninitialized_memory(mode: bool) -> None:
    """Set utils.deterministic.fill_uninitialized_memory."""
    _Filling.set_wanted(mode)


def _set_fwd_grad_enabled(enabled: bool) -> None:
    """_set_fwd_grad_enabled(enabled): let operations carry tangents along, or not, in this context."""
    _SetForward(enabled)


def _will_engine_execute_node(node: Node) -> bool:
    """_will_engine_execute_node(node) -> bool: whether the running backward has a gradient for this node, or had.

    RuntimeError outside of backward, for what is no node, and for a leaf whose gradient grad() only takes.
    `autograd.graph.will_execute` is True for that.
    """
    if not isinstance(node, Node):
        raise RuntimeError(f"_will_engine_execute_node expects an grad_fn, but got {type(node).__name__}")
    if _current_graph_task_id() < 0:
        raise RuntimeError("_get_should_execute_nodes should only be called during the backward pass")
    if is_captured_leaf(node):
        raise RuntimeError(
            "A leaf node was passed to _will_engine_execute_node but we are currently running autograd.grad(). This is "
            "currently not supported. (autograd.graph.will_execute() answers True)"
        )
    return will_execute(node)


class _WeakTensorRef:
    """_WeakTensorRef(tensor): knows whether a tensor is still alive, and does not keep it so; TypeError for anything else."""

    def __init__(self, tensor: Tensor) -> None:
        if not isinstance(tensor, Tensor):
            raise TypeError(f"_WeakTensorRef(): argument 'tensor' must be Tensor, not {type(tensor).__name__}")
        self._reference = weakref.ref(tensor)

    def expired(self) -> bool:
        """expired() -> bool: whether the tensor is gone."""
        return self._reference() is None


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
