"""Checkpoints: backward recomputes a function's intermediate values, which are not kept (facade)."""

import contextlib
import contextvars
import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

from .._core.engine.engine import is_checkpoint_valid as _is_checkpoint_valid
from .._core.graph.tensor import Tensor
from .._core.runtime.entry import public as _public
from .._settings.autocast import as_now as _autocast_as_now
from ..autograd.function import Function
from ..autograd.grad_mode import enable_grad, is_grad_enabled, no_grad
from ..autograd.gradients import backward
from ..random import get_rng_state, set_rng_state
from ._checkpoint_errors import CheckpointError
from ._checkpoint_frame import Frame as _Frame
from ._checkpoint_policy import (
    CheckpointPolicy,
    SelectiveCheckpointContext,
    create_selective_checkpoint_contexts,
)
from ._checkpoint_policy import (
    set_while as _set_while,
)

__all__ = [
    "CheckpointError", "CheckpointFunction", "CheckpointPolicy", "SelectiveCheckpointContext", "check_backward_validity",
    "checkpoint", "checkpoint_sequential", "create_selective_checkpoint_contexts", "detach_variable", "noop_context_fn",
    "set_checkpoint_debug_enabled", "set_checkpoint_early_stop",
]  # fmt: skip

_debug_enabled: contextvars.ContextVar[bool | None] = contextvars.ContextVar("checkpoint_debug", default=None)
_early_stop_enabled: contextvars.ContextVar[bool | None] = contextvars.ContextVar("checkpoint_early_stop", default=None)

_CHECKS = ("default", "none")
_ASK_FOR_REENTRANT = (
    "{}: the use_reentrant parameter should be passed explicitly. use_reentrant=False is recommended; as long as it is not "
    "passed, True is taken."
)


def noop_context_fn() -> tuple[Any, Any]:
    """``noop_context_fn()`` -> two contexts that do nothing: the default of ``checkpoint(context_fn=...)``.

    >>> import autograd_cy as ag
    >>> with ag.utils.checkpoint.noop_context_fn()[0]:
    ...     pass
    """
    return contextlib.nullcontext(), contextlib.nullcontext()


def set_checkpoint_debug_enabled(enabled: bool | None) -> contextlib.AbstractContextManager[None]:
    """``with set_checkpoint_debug_enabled(enabled):`` overrides ``debug`` of the checkpoints inside, unless None.

    >>> import autograd_cy as ag
    >>> with ag.utils.checkpoint.set_checkpoint_debug_enabled(True):
    ...     pass
    """
    return _set_while(_debug_enabled, enabled)


def set_checkpoint_early_stop(enable: bool) -> contextlib.AbstractContextManager[None]:
    """``with set_checkpoint_early_stop(enable):`` overrides ``early_stop`` of the checkpoints that run forward inside.

    >>> import autograd_cy as ag
    >>> with ag.utils.checkpoint.set_checkpoint_early_stop(False):
    ...     pass
    """
    return _set_while(_early_stop_enabled, enable)


@_public
def checkpoint(
    function: Callable[..., Any],
    *args: Any,
    use_reentrant: bool | None = None,
    context_fn: Callable[[], tuple[Any, Any]] = noop_context_fn,
    determinism_check: str = "default",
    debug: bool = False,
    early_stop: bool = True,
    **kwargs: Any,
) -> Any:
    """``checkpoint(function, *args, use_reentrant=False, **kwargs)`` is ``function(*args, **kwargs)``, kept by its arguments.

    Backward calls the function again to recompute its saved tensors, with the random numbers of the first call unless
    ``preserve_rng_state=False``. ``early_stop`` ends that call when all are saved. ``context_fn()`` gives contexts for the
    two calls. CheckpointError if the second saves another number of tensors, or (unless ``determinism_check="none"``) other
    shapes or dtypes; ``debug=True`` lists both calls' operations. ``use_reentrant=True`` runs forward unrecorded and a
    backward inside backward, without grad(), ``inputs`` and keyword arguments. ValueError for invalid arguments.

    >>> import autograd_cy as ag
    >>> x = ag.tensor(2.0, requires_grad=True)
    >>> y = ag.utils.checkpoint.checkpoint(lambda t: (t * t).exp(), x, use_reentrant=False)
    >>> y.backward()
    >>> x.grad
    tensor(218.3926)
    """
    if use_reentrant is None:
        warnings.warn(_ASK_FOR_REENTRANT.format("torch.utils.checkpoint"), stacklevel=2)
        use_reentrant = True
    preserve = kwargs.pop("preserve_rng_state", True)
    if not use_reentrant:
        return _recomputed(function, args, kwargs, preserve, context_fn, determinism_check, debug, early_stop)
    if kwargs:
        raise ValueError("Unexpected keyword arguments: " + ",".join(kwargs) + " (use_reentrant=False takes them)")
    if context_fn is not noop_context_fn or debug:
        raise ValueError("Passing `context_fn` or `debug` is only supported when use_reentrant=False.")
    if is_grad_enabled():
        check_backward_validity(args)
    return CheckpointFunction.apply(function, preserve, *args)


def _recomputed(
    function: Callable[..., Any],
    args: tuple[Any, ...],
    kwargs: dict[str, Any],
    preserve: bool,
    context_fn: Callable[[], tuple[Any, Any]],
    determinism_check: str,
    debug: bool,
    early_stop: bool,
) -> Any:
    """The variant that is not reentrant: by saved-tensor hooks; see NOTE [Checkpoint]."""
    debug = debug if _debug_enabled.get() is None else bool(_debug_enabled.get())
    if debug and context_fn is not noop_context_fn:
        raise ValueError("debug=True is incompatible with non-default context_fn")
    if determinism_check not in _CHECKS:
        raise ValueError(f"determinism_check should be one of {list(_CHECKS)}, but got {determinism_check}")
    first_context, second_context = context_fn()
    state = get_rng_state() if preserve else None
    autocast = _autocast_as_now()

    def run_again(*args: Any) -> None:
        with _random_numbers_from(state), autocast(), second_context:
            function(*args, **kwargs)

    if not is_grad_enabled():
        return function(*args, **kwargs)
    override = _early_stop_enabled.get()
    frame = _Frame(run_again, args, early_stop if override is None else override, determinism_check == "default", debug)
    with frame.first_run(), first_context:
        return function(*args, **kwargs)
    raise RuntimeError(
        "torch.utils.checkpoint: the forward context provided by context_fn suppressed an exception raised during the "
        "checkpointed forward: there is no result to return."
    )


def check_backward_validity(inputs: Iterable[Any]) -> None:
    """``check_backward_validity(inputs)`` warns (UserWarning) if none of the tensors among the inputs requires grad.

    >>> import autograd_cy as ag
    >>> ag.utils.checkpoint.check_backward_validity([ag.ones(1, requires_grad=True), 2])
    """
    if not any(isinstance(x, Tensor) and x.requires_grad for x in inputs):
        warnings.warn("None of the inputs have requires_grad=True. Gradients will be None", stacklevel=3)


def detach_variable(inputs: tuple[Any, ...]) -> tuple[Any, ...]:
    """``detach_variable(inputs)``: the tensors of a tuple as leaves with the same requires_grad; other elements are kept.

    RuntimeError unless it is a tuple.

    >>> import autograd_cy as ag
    >>> ag.utils.checkpoint.detach_variable((ag.ones(1, requires_grad=True) * 2, "x"))
    (tensor([2.], requires_grad=True), 'x')
    """
    if not isinstance(inputs, tuple):
        raise RuntimeError(f"Only tuple of tensors is supported. Got Unsupported input type: {type(inputs).__name__}")
    return tuple(x.detach().requires_grad_(x.requires_grad) if isinstance(x, Tensor) else x for x in inputs)


@contextlib.contextmanager
def _random_numbers_from(state: Tensor | None) -> Iterator[None]:
    """Replay the random numbers from a state, and restore the current state afterwards; None: do nothing."""
    if state is None:
        yield
        return
    present = get_rng_state()
    set_rng_state(state)
    try:
        yield
    finally:
        set_rng_state(present)


class CheckpointFunction(Function):
    """``CheckpointFunction.apply(function, preserve_rng_state, *args)``: the reentrant variant of ``checkpoint``.

    The function runs without recording; backward records it on copies of the arguments and runs through that.

    >>> import autograd_cy as ag
    >>> x = ag.tensor(0.0, requires_grad=True)
    >>> ag.utils.checkpoint.CheckpointFunction.apply(ag.exp, True, x).grad_fn
    <CheckpointFunctionBackward>
    """

    @staticmethod
    def forward(ctx: Any, function: Callable[..., Any], preserve: bool, *args: Any) -> Any:
        ctx.function = function
        ctx.state = get_rng_state() if preserve else None
        ctx.autocast = _autocast_as_now()
        ctx.template = [None if isinstance(x, Tensor) else x for x in args]
        ctx.positions = [i for i, x in enumerate(args) if isinstance(x, Tensor)]
        ctx.save_for_backward(*[x for x in args if isinstance(x, Tensor)])
        with no_grad():
            return function(*args)

    @staticmethod
    def backward(ctx: Any, *gradients: Any) -> tuple[Any, ...]:
        if not _is_checkpoint_valid():
            raise RuntimeError(
                "When use_reentrant=True, torch.utils.checkpoint is incompatible with .grad() or passing an `inputs` "
                "parameter to .backward(). Set use_reentrant=False, or call .backward() without `inputs`."
            )
        args = list(ctx.template)
        for i, tensor in zip(ctx.positions, ctx.saved_tensors, strict=True):
            args[i] = tensor
        args = list(detach_variable(tuple(args)))
        with _random_numbers_from(ctx.state), enable_grad(), ctx.autocast():
            outputs = ctx.function(*args)
        outputs = (outputs,) if isinstance(outputs, Tensor) else outputs
        wanted = [
            (y, g) for y, g in zip(outputs, gradients, strict=True) if isinstance(y, Tensor) and y.requires_grad
        ]
        if not wanted:
            raise RuntimeError("none of output has requires_grad=True, this checkpoint() is not necessary")
        backward(tuple(y for y, _ in wanted), tuple(g for _, g in wanted))
        return (None, None, *[x.grad if isinstance(x, Tensor) else None for x in args])


@_public
def checkpoint_sequential(
    functions: Sequence[Callable[..., Any]] | Any,
    segments: int,
    input: Any,
    use_reentrant: bool | None = None,
    **kwargs: Any,
) -> Any:
    """``checkpoint_sequential(functions, segments, input, use_reentrant=False)`` calls one function after the other.

    They are split into ``segments`` parts of equal length, and each part except the last is a checkpoint. ``functions`` is a
    sequence, or has ``children()``. ``preserve_rng_state`` is passed on; ValueError for other keyword arguments.

    >>> import autograd_cy as ag
    >>> x = ag.tensor(1.0, requires_grad=True)
    >>> ag.utils.checkpoint.checkpoint_sequential([ag.exp, ag.sin, ag.exp], 2, x, use_reentrant=False).backward()
    >>> x.grad
    tensor(-3.7373)
    """
    if use_reentrant is None:
        warnings.warn(_ASK_FOR_REENTRANT.format("torch.utils.checkpoint.checkpoint_sequential"), stacklevel=2)
        use_reentrant = True
    preserve = kwargs.pop("preserve_rng_state", True)
    if kwargs:
        raise ValueError("Unexpected keyword arguments: " + ",".join(kwargs))
    steps = list(functions.children() if hasattr(functions, "children") else functions)
    length = len(steps) // segments
    end = 0
    for start in range(0, length * (segments - 1), length):
        end = start + length
        input = checkpoint(
            _chain(steps[start:end]), input, use_reentrant=use_reentrant, preserve_rng_state=preserve
        )
    return _chain(steps[end:])(input)


def _chain(steps: Iterable[Callable[..., Any]]) -> Callable[[Any], Any]:
    def run(value: Any) -> Any:
        for step in steps:
            value = step(value)
        return value

    return run
