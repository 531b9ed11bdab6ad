"""The derivatives that torch.autograd.functional's products consist of, and their checks in strict mode (facade)."""

from typing import Any

from .._creation.filled import zeros_like
from ._functional_arguments import Tensors
from .gradients import grad

_INDEPENDENT = {
    "back": "The output of the user-provided function is independent of input {i}. This is not allowed in strict mode.",
    "back_trick": (
        "The gradient with respect to the input is independent of entry {i} in the grad_outputs when using the double "
        "backward trick to compute forward mode gradients. This is not allowed in strict mode."
    ),
    "double_back": (
        "The jacobian of the user-provided function is independent of input {i}. This is not allowed in strict mode."
    ),
    "double_back_trick": (
        "The hessian of the user-provided function is independent of entry {i} in the grad_jacobian. This is not allowed in "
        "strict mode as it prevents from using the double backward trick to replace forward mode AD."
    ),
}
_CONSTANT = {
    "gradient": (
        "The gradient with respect to input {i} is independent of the inputs of the user-provided function. This is not "
        "allowed in strict mode."
    ),
    "jacobian": (
        "While computing the hessian, found that the jacobian of the user-provided function with respect to input {i} is "
        "independent of the input. This is not allowed in strict mode. You should ensure that your function is twice "
        "differentiable and that the jacobian depends on the inputs (this would be violated by a linear function for example)."
    ),
    "hessian": (
        "The hessian of the user-provided function with respect to input {i} is independent of the input. This is not allowed "
        "in strict mode. You should ensure that your function is thrice differentiable and that the hessian depends on the "
        "inputs."
    ),
}


def gradients(ys: Tensors, xs: Tensors, seeds: Tensors | None, create_graph: bool, strict: bool, stage: str) -> Tensors:
    """The gradients of the outputs, zeros for inputs that they don't depend on; `stage` names them in errors."""
    found = _maybe_gradients(ys, xs, seeds, create_graph)
    for i, g in enumerate(found):
        if strict and g is None:
            raise RuntimeError(_INDEPENDENT[stage].format(i=i))
        if strict and create_graph and not g.requires_grad:
            what = "hessian" if "double" in stage else "jacobian"
            raise RuntimeError(
                f"The {what} of the user-provided function is independent of input {i}. This is not allowed in strict mode "
                "when create_graph=True."
            )
    return _filled(found, xs)


def _maybe_gradients(ys: Tensors, xs: Tensors, seeds: Tensors | None, create_graph: bool) -> tuple[Any, ...]:
    """The gradients of the outputs that have any; None for inputs that they don't depend on."""
    chosen = [(y, None if seeds is None else seeds[i]) for i, y in enumerate(ys) if y.requires_grad]
    if not chosen:
        return (None,) * len(xs)
    roots, given = zip(*chosen, strict=True)
    return grad(roots, xs, None if seeds is None else given, create_graph=create_graph, allow_unused=True)


def dependent(found: tuple[Any, ...], strict: bool, what: str) -> tuple[Any, ...]:
    """First derivatives to be differentiated again; in strict mode each must depend on its input."""
    for i, g in enumerate(found):
        if strict and g is None:
            raise RuntimeError(_INDEPENDENT["back"].format(i=i))
        if strict and not g.requires_grad:
            raise RuntimeError(_CONSTANT[what].format(i=i))
    return found


def _filled(found: tuple[Any, ...], alike: Tensors) -> Tensors:
    return tuple(zeros_like(x) if g is None else g for g, x in zip(found, alike, strict=True))


def slopes(ys: Tensors, xs: Tensors, strict: bool) -> Tensors:
    """The gradients of one output, to be differentiated again."""
    return _filled(dependent(_maybe_gradients(ys, xs, None, True), strict, "jacobian"), xs)


def tangents(ys: Tensors, xs: Tensors, directions: Tensors, create_graph: bool, strict: bool, stage: str = "back") -> Tensors:
    """The outputs' tangents: the adjoint of the adjoint. Source: Townsend, "A new trick for calculating Jacobian vector
    products" (2017)."""
    seeds = tuple(zeros_like(y).requires_grad_() for y in ys)
    first = dependent(_maybe_gradients(ys, xs, seeds, True), strict, "gradient" if stage == "back" else "hessian")
    chosen = [(g, v) for g, v in zip(first, directions, strict=True) if g is not None]
    roots, given = zip(*chosen, strict=True) if chosen else ((), ())
    return gradients(roots, seeds, given, create_graph, strict, stage + "_trick")
