"""backward and grad: checks and preparation before the engine runs (facade)."""

import warnings
from collections.abc import Mapping
from typing import Any

from .._core.batching.batched import (
    at_level_or_expanded as _at_level_or_expanded,
)
from .._core.batching.batched import (
    batched as _batched,
)
from .._core.batching.batched import (
    close_level as _close_level,
)
from .._core.batching.batched import (
    open_level as _open_level,
)
from .._core.batching.batched import (
    open_levels as _open_levels,
)
from .._core.engine.engine import make_seeds as _make_seeds
from .._core.engine.engine import run_task as _run_task
from .._core.graph.edges import GradientEdge
from .._core.graph.tensor import Tensor
from .._core.ops.overrides import arm as _arm
from .._core.ops.overrides import handle_torch_function
from .._core.ops.overrides import overrides_gradients as _overrides_gradients
from .._core.runtime.entry import show_one_frame as _show_one_frame
from .._core.runtime.once import warn_once as _warn_once
from .._creation.filled import zeros_like

__all__ = ["backward", "grad"]


def _as_tuple(tensors: Any) -> tuple[Any, ...]:
    """One Tensor or GradientEdge, or several of them, as a tuple."""
    return (tensors,) if isinstance(tensors, (Tensor, GradientEdge)) else tuple(tensors)


def _items(arguments: Any) -> tuple[Any, ...]:
    """The objects that could override a call, as a tuple."""
    return tuple(arguments) if isinstance(arguments, (list, tuple)) else (arguments,)


def _values_of(inputs: Any, caller: str) -> tuple[Any, ...]:
    """The inputs as a tuple: a dict's values in its order."""
    if type(inputs) in (tuple, list) or not isinstance(inputs, Mapping):  # isinstance() of an abstract class is slow
        return _as_tuple(inputs)
    if type(inputs) is not dict:
        raise TypeError(
            f"`inputs` argument to `{caller}()` must be a dict, not {type(inputs).__name__}. Other Mapping types are not "
            "supported."
        )
    return tuple(inputs.values())


def _zeros_for(x: Any, create_graph: bool) -> Tensor:
    """The result of grad() with materialize_grads for an unused input."""
    if isinstance(x, GradientEdge):
        raise RuntimeError("materialize_grads cannot be used when the given input is a GradientEdge")
    return zeros_like(x.detach(), requires_grad=create_graph)


def _materialized(inputs: tuple[Any, ...], results: tuple[Any, ...], create_graph: bool) -> tuple[Tensor, ...]:
    """The gradients, with zeros for missing ones. Separate from grad(), where a closure would cost each call a cell."""
    return tuple(_zeros_for(x, create_graph) if g is None else g for x, g in zip(inputs, results, strict=True))


def _warn_of_cycle() -> None:
    """Warn once that the gradient's graph keeps the leaf alive."""
    _warn_once(
        "Using backward() with create_graph=True will create a reference cycle between the parameter and its gradient. "
        "gc.collect() frees it; autograd.grad() does not create it, and setting .grad to None breaks it.",
    )


def _from_old_name(grad_tensors: Any, grad_variables: Any) -> Any:
    """The value of the old argument `grad_variables`."""
    warnings.warn("`grad_variables` is deprecated. Use `grad_tensors` instead.", FutureWarning, stacklevel=3)
    if grad_tensors is not None:
        raise RuntimeError(
            "`grad_tensors` and `grad_variables` (deprecated) arguments both passed to `backward()`. Please only use "
            "`grad_tensors`."
        )
    return grad_variables


def _roots_of(tensors: Any) -> tuple[Any, ...]:
    """The roots of backward(), as a tuple."""
    if _open_levels():
        raise RuntimeError(
            "backward() called inside a functorch transform. This is not supported, please use functorch.grad or "
            "functorch.vjp instead or call backward() outside of functorch transforms."
        )
    return _as_tuple(tensors)


def _handed_over(tensors: Any, grad_tensors: Any, options: dict[str, Any], atomic: bool) -> Any:
    """backward() of an object that overrides it; `atomic`, which PyTorch lacks, is passed only if it was given."""
    more = {"atomic": True} if atomic else {}
    return handle_torch_function(backward, _items(tensors), tensors, grad_tensors=grad_tensors, **options, **more)


# backward() and grad() have their handlers within 256 instructions. For a later one, CPython 3.11 creates an int for the
# position of the error; without memory for the int, that raises at the same position, in an endless loop.


def backward(
    tensors: Any,
    grad_tensors: Any = None,
    retain_graph: bool | None = None,
    create_graph: bool = False,
    grad_variables: Any = None,
    inputs: Any = None,
    *,
    atomic: bool = False,
) -> None:
    """``backward(tensors)`` adds to the `.grad` of each leaf the gradient of the tensors' sum.

    grad_tensors: the gradient with respect to each tensor, of its shape; None is 1, for real scalars only.
    retain_graph: keep what the graph saved, for another backward; by default as create_graph.
    create_graph: record the gradients' own computation, for higher derivatives.
    inputs: accumulate into these tensors only, which need not be leaves. A root or input can be a GradientEdge.
    atomic: change the leaves' `.grad` only after all gradients are computed, so that an error, even in a tensor's hook,
    leaves them unchanged; post-accumulate hooks run at the very end. It does not cover a nested backward() in a hook or
    Function, such as a checkpoint with use_reentrant=True, or the retained `.grad` of intermediate tensors. PyTorch has no
    such option.
    RuntimeError for a tensor that requires no grad, a seed of the wrong shape, or another number of seeds than tensors.

    >>> import autograd_cy as ag
    >>> x = ag.tensor([1.0, 2.0], requires_grad=True)
    >>> ag.autograd.backward([x.sum(), (x * x).sum()])
    >>> x.grad
    tensor([3., 5.])
    """
    try:
        if type(tensors) is not Tensor and _overrides_gradients((tensors,)):
            options = {"retain_graph": retain_graph, "create_graph": create_graph, "inputs": inputs}
            return _handed_over(tensors, grad_tensors, options, atomic)
        if grad_variables is not None:
            grad_tensors = _from_old_name(grad_tensors, grad_variables)
        roots = _roots_of(tensors)
        wanted = () if inputs is None else _values_of(inputs, "backward")
        if inputs is not None and not wanted:
            raise RuntimeError("`inputs` argument to `backward()` cannot be empty.")
        seeds = _make_seeds(roots, grad_tensors, False)
        if create_graph:
            _warn_of_cycle()
        keep = create_graph if retain_graph is None else retain_graph
        _run_task(roots, seeds, keep, create_graph, wanted, True, True, atomic)
    except BaseException as error:
        _show_one_frame(error)
        raise


def grad(
    outputs: Any,
    inputs: Any,
    grad_outputs: Any = None,
    retain_graph: bool | None = None,
    create_graph: bool = False,
    only_inputs: bool = True,
    allow_unused: bool | None = None,
    is_grads_batched: bool = False,
    materialize_grads: bool = False,
) -> tuple[Tensor, ...]:
    """``grad(outputs, inputs)`` returns the gradients of the outputs' sum for each input, and leaves `.grad` alone.

    grad_outputs: the gradient with respect to each output, of its shape; None is 1, for real scalars only. With
    is_grads_batched they are batches along their first dimension, and so are the results.
    retain_graph, create_graph: as in backward().
    inputs: Tensors, or a dict of them, then the result is a dict with its keys; an input can be a GradientEdge.
    allow_unused: None for an input that the outputs don't depend on, instead of a RuntimeError; materialize_grads: zeros.

    >>> import autograd_cy as ag
    >>> x = ag.tensor(3.0, requires_grad=True)
    >>> (g,) = ag.autograd.grad(x * x, x, create_graph=True)
    >>> g, ag.autograd.grad(g, x)
    (tensor(6., grad_fn=<AddBackward0>), (tensor(2.),))
    """
    try:
        return _gradients(
            outputs, inputs, grad_outputs, retain_graph, create_graph, only_inputs, allow_unused, is_grads_batched,
            materialize_grads,
        )  # fmt: skip
    except BaseException as error:
        _show_one_frame(error)
        raise


def _gradients(
    outputs: Any, inputs: Any, grad_outputs: Any, retain_graph: bool | None, create_graph: bool, only_inputs: bool,
    allow_unused: bool | None, is_grads_batched: bool, materialize_grads: bool,
) -> Any:  # fmt: skip
    """grad() with positional arguments."""
    if (type(outputs) is not Tensor or type(inputs) is not Tensor) and _overrides_gradients((outputs, inputs)):
        options = {"grad_outputs": grad_outputs, "retain_graph": retain_graph, "create_graph": create_graph}
        options |= {"only_inputs": only_inputs, "allow_unused": allow_unused, "is_grads_batched": is_grads_batched}
        options["materialize_grads"] = materialize_grads
        outputs, inputs = _items(outputs), _items(inputs)
        return handle_torch_function(grad, (*outputs, *inputs), outputs, inputs, **options)
    if not only_inputs:
        warnings.warn(
            "only_inputs argument is deprecated and is ignored now (defaults to True). To accumulate gradient for other "
            "parts of the graph, please use torch.autograd.backward.",
            FutureWarning,
            stacklevel=3,
        )
    if materialize_grads:
        if allow_unused is False:
            raise ValueError(
                "Expected allow_unused to be True or not passed when materialize_grads=True, but got: allow_unused=False."
            )
        allow_unused = True
    roots, wanted = _as_tuple(outputs), _values_of(inputs, "grad")
    if not wanted:
        raise RuntimeError("`inputs` argument to `grad()` cannot be empty.")
    seeds = _make_seeds(roots, grad_outputs, is_grads_batched)
    keep = create_graph if retain_graph is None else retain_graph
    run = _run_batched if is_grads_batched else _run_task
    results: Any = run(roots, seeds, keep, create_graph, wanted, bool(allow_unused), False)
    if materialize_grads:
        results = _materialized(wanted, results, create_graph)
    if isinstance(inputs, dict):
        results = dict(zip(inputs, results, strict=True))
    return results


def _run_batched(
    roots: Any, seeds: Any, keep: bool, create_graph: bool, wanted: Any, allow_unused: bool, accumulate: bool
) -> Any:
    """run_task() with seeds, and results, that are batched along their first dimension: NOTE [Batching]."""
    if any(seed is not None and seed.ndim == 0 for seed in seeds):
        raise RuntimeError("is_grads_batched=True takes a grad_output for each output, with a batch dimension, not None")
    sizes = {seed.shape[0] for seed in seeds if seed is not None}
    if len(sizes) != 1:
        raise RuntimeError(f"is_grads_batched=True takes grad_outputs of one batch size, not of {sorted(sizes)}")
    _arm()
    level = _open_level(sizes.pop(), "error")
    try:
        batch = tuple(None if seed is None else _batched(seed, level) for seed in seeds)
        results = _run_task(roots, batch, keep, create_graph, wanted, allow_unused, accumulate)
        return tuple(None if g is None else _at_level_or_expanded(g, level) for g in results)
    finally:
        _close_level(level)
