"""Autocast: its settings in a context, and the casts before an operation (facade).

NOTE [Autocast]
  1. While it is enabled, `answer` is the last handler of calls (case 9 of NOTE [Overrides]). It casts the operands of the
     operations in the table of `autocast_rules`, and leaves all other calls alone. Nothing else in the package knows of it,
     but sparse tensors, whose handler comes before and asks for the rule (`rule_for`).
  2. Operands that are cast are real tensors of floats, except float64 and longdouble. Calls with `out=` and in-place
     operations are made as they are.
  3. The cast of a float32 leaf that requires grad is kept until the outermost autocast ends, so that a weight is cast once
     and its gradients are summed before they are cast back. A cast serves again only for the same version of the leaf, in
     the same grad mode, and outside of forward mode and of func's transforms.
  4. A backward that is started within autocast computes in the dtypes of its forward pass: only an autocast that was
     entered in the same backward casts there. (A recorded gradient consists of ordinary operations.)
"""

import contextlib
import weakref
from collections.abc import Callable, Iterator
from contextvars import ContextVar
from typing import Any, NamedTuple

from .._core.engine.engine import current_graph_task_id
from .._core.graph.context import dual_depth
from .._core.graph.tensor import Tensor
from .._core.ops.overrides import hand_last_to
from .._functional.names import bfloat16, float16, float32, float64, longdouble
from ..autograd.grad_mode import is_grad_enabled

LOWER = (bfloat16, float16)


class Setting(NamedTuple):
    """Whether autocast is enabled for a device, and its dtype."""

    enabled: bool
    dtype: Any


_DEFAULTS = {"cpu": Setting(False, bfloat16), "cuda": Setting(False, float16)}
_settings: ContextVar[dict[str, Setting]] = ContextVar("autograd_cy autocast", default=_DEFAULTS)
_cache_enabled: ContextVar[bool] = ContextVar("autograd_cy autocast keeps casts", default=True)
_nesting: ContextVar[int] = ContextVar("autograd_cy nested autocasts", default=0)
_task: ContextVar[int] = ContextVar("autograd_cy backward of autocast", default=-1)  # in which it was enabled
_kept: ContextVar[dict[int, tuple[Any, ...]] | None] = ContextVar("autograd_cy kept casts", default=None)
_makers: list[Callable[[], dict[Any, Callable[..., Any]]]] = []  # filled in by autocast_rules
_rules: dict[Any, Callable[..., Any]] = {}  # filled when autocast is first enabled


def setting(device_type: str) -> Setting:
    """setting(device_type): the one in force in this context."""
    return _settings.get().get(device_type, _DEFAULTS["cpu"])


def set_for(device_type: str, **changes: Any) -> None:
    """set_for(device_type, enabled=..., dtype=...): change the setting in this context."""
    changed = setting(device_type)._replace(**changes)
    if device_type == "cpu":
        if changed.enabled and not _rules:
            _rules.update(_makers[0]())
        _task.set(current_graph_task_id())
        hand_last_to(answer if changed.enabled else None)
    _settings.set({**_settings.get(), device_type: changed})


def take_rules(make: Callable[[], dict[Any, Callable[..., Any]]]) -> None:
    """take_rules(make): let make() tell the rules when autocast is first enabled."""
    _makers.append(make)


def is_cache_enabled() -> bool:
    """is_cache_enabled(): whether casts of weights are kept."""
    return _cache_enabled.get()


def enable_cache(enabled: bool) -> None:
    """enable_cache(enabled): keep casts of weights from now on, or don't."""
    _cache_enabled.set(enabled)


def nest(by: int) -> int:
    """nest(by): enter (1) or leave (-1) one autocast; how many are entered then."""
    _nesting.set(_nesting.get() + by)
    return _nesting.get()


def clear_cache() -> None:
    """clear_cache(): drop the casts that are kept."""
    _kept.set(None)


@contextlib.contextmanager
def in_force(settings: dict[str, Setting], cache_enabled: bool) -> Iterator[None]:
    """Within it autocast has these settings."""
    before, present = setting("cpu"), _settings.get()
    cached = _cache_enabled.get()
    wanted = settings.get("cpu", _DEFAULTS["cpu"])
    set_for("cpu", **wanted._asdict())
    _settings.set(settings)
    enable_cache(cache_enabled)
    nest(1)
    try:
        yield
    finally:
        if nest(-1) == 0:
            clear_cache()
        enable_cache(cached)
        set_for("cpu", **before._asdict())
        _settings.set(present)


def as_now() -> Callable[[], contextlib.AbstractContextManager[None]]:
    """as_now(): a function whose contexts set autocast as it is now."""
    settings, cache_enabled = _settings.get(), _cache_enabled.get()
    if settings["cpu"].enabled:
        return lambda: in_force(settings, cache_enabled)
    return lambda: in_force(settings, cache_enabled) if setting("cpu").enabled else contextlib.nullcontext()


def answer(function: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """The handler: case 1 of NOTE [Autocast]."""
    rule = _rules.get(function)
    if rule is None or current_graph_task_id() != _task.get():
        return NotImplemented
    return function(*args, **kwargs) if kwargs.get("out") is not None else rule(function, args, kwargs)


def rule_for(function: Callable[..., Any]) -> Callable[..., Any] | None:
    """rule_for(function): its rule, if autocast is enabled, for handlers that answer before `answer` does."""
    if not setting("cpu").enabled or current_graph_task_id() != _task.get():
        return None
    return _rules.get(function)


def is_cast(x: Any) -> bool:
    """is_cast(x): case 2 of NOTE [Autocast]."""
    return isinstance(x, Tensor) and x.is_floating_point() and x.dtype not in (float64, longdouble)


def cast(value: Any, dtype: Any) -> Any:
    """cast(value, dtype): a tensor, or those in a list or tuple, in that dtype if they are to be cast."""
    if isinstance(value, Tensor):
        return _cast_tensor(value, dtype) if is_cast(value) and value.dtype is not dtype else value
    if type(value) in (list, tuple):
        return type(value)(cast(item, dtype) for item in value)
    return value


def _cast_tensor(x: Tensor, dtype: Any) -> Tensor:
    keeps = dtype in LOWER and x.dtype is float32 and x.is_leaf and x.requires_grad and not x._is_view()
    if not (keeps and _cache_enabled.get() and _nesting.get()) or dual_depth():
        return x.to(dtype)
    kept = _kept.get()
    if kept is None:
        kept = {}
        _kept.set(kept)
    state = (x._version, is_grad_enabled(), dtype)
    found = kept.get(id(x))
    if found is None or found[0]() is not x or found[1] != state:
        found = kept[id(x)] = (weakref.ref(x), state, x.to(dtype))
    return found[2]
