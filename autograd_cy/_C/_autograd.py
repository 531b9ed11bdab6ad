"""What PyTorch code takes from `torch._C._autograd`: saved tensors, their hooks, version counters (facade)."""

from collections.abc import Callable
from typing import Any

from .._core.engine.engine import keeps_graph as _get_current_graph_task_keep_graph
from .._core.graph.context import HookPair, disable_hooks, pop_hooks, push_hooks, refused_by, top_hooks
from .._core.graph.node import SavedTensor
from .._core.graph.tensor import Tensor
from .._core.writes.inplace import set_versions
from ..autograd.graph import _InputMetadata

__all__ = [
    "SavedTensor", "_InputMetadata", "_get_current_graph_task_keep_graph", "_pop_saved_tensors_default_hooks",
    "_push_saved_tensors_default_hooks", "_saved_tensors_hooks_disable", "_saved_tensors_hooks_enable",
    "_saved_tensors_hooks_get_disabled_error_message", "_saved_tensors_hooks_is_enabled",
    "_top_saved_tensors_default_hooks", "_unsafe_set_version_counter",
]  # fmt: skip


def _push_saved_tensors_default_hooks(pack_hook: Callable[..., Any], unpack_hook: Callable[..., Any]) -> None:
    """Let a pair of hooks pack what is saved from now on."""
    push_hooks(HookPair(pack_hook, unpack_hook))


def _pop_saved_tensors_default_hooks() -> None:
    """Take the pair back that was pushed last; RuntimeError if there is none."""
    pop_hooks()


def _top_saved_tensors_default_hooks(ignore_is_tracing: bool) -> tuple[Any, Any] | None:
    """The pair that was pushed last, or None. Nothing is traced here, so the argument has no effect."""
    return top_hooks()


def _saved_tensors_hooks_is_enabled() -> bool:
    """Whether hooks may be pushed: `disable_saved_tensors_hooks` is not in force."""
    return refused_by() is None


def _saved_tensors_hooks_get_disabled_error_message() -> str | None:
    """The text of the error for who pushes hooks, None if they are enabled."""
    return refused_by()


def _saved_tensors_hooks_disable(error_message: str, fail_if_non_empty: bool = True) -> None:
    """Refuse hooks from now on, with that text."""
    disable_hooks(error_message)


def _saved_tensors_hooks_enable() -> None:
    """Allow hooks again."""
    disable_hooks(None)


def _unsafe_set_version_counter(tensors: tuple[Tensor, ...], versions: tuple[int, ...]) -> None:
    """Let the memory of each tensor count as written so often; RuntimeError for a negative number, nothing is changed then."""
    for version in versions:
        if version < 0:
            raise RuntimeError(f"Cannot set a version_counter to a value below 0: {version}")
    set_versions(tuple(tensors), tuple(versions))
