"""The arguments and results of torch.autograd.functional's functions, and their checks (facade)."""

from collections.abc import Callable
from typing import Any

from .._core.graph.tensor import Tensor
from .._creation.filled import ones_like

Tensors = tuple[Tensor, ...]


def one_or_several(name: str, caller: str, value: Any) -> tuple[bool, Tensors]:
    """Whether one tensor was given, and the tensors as a tuple."""
    single = not isinstance(value, tuple)
    values = (value,) if single else value
    for i, x in enumerate(values):
        if isinstance(x, Tensor):
            continue
        what = f"given {name}" if single else f"value at index {i}"
        raise TypeError(
            f"The {name} given to {caller} must be either a Tensor or a tuple of Tensors but the {what} has type {type(x)}."
        )
    return single, values


def prepared(name: str, caller: str, inputs: Any, create_graph: bool) -> tuple[bool, Tensors]:
    """Fresh tensors for the inputs: views in their graph if the result must be differentiable, else new leaves."""
    single, xs = one_or_several(name, caller, inputs)
    xs = tuple(x.clone() if x.is_inference() else x for x in xs)
    inside = [create_graph and x.requires_grad for x in xs]
    return single, tuple(x.view_as(x) if kept else x.detach().requires_grad_() for x, kept in zip(xs, inside, strict=True))


def outputs(caller: str, func: Callable[..., Any], xs: Tensors, strict: bool) -> tuple[bool, Tensors]:
    """Whether the function returns one tensor, and its outputs as a tuple."""
    single, ys = one_or_several("outputs of the user-provided function", caller, func(*xs))
    for i, y in enumerate(ys):
        if strict and not y.requires_grad:
            raise RuntimeError(
                f"Output {i} of the user-provided function does not require gradients. The outputs must be computed in a "
                "differentiable manner from the input when running in strict mode."
            )
    return single, ys


def one_output(caller: str, func: Callable[..., Any], xs: Tensors, strict: bool) -> Tensors:
    """The output of a function that must return one element."""
    single, ys = outputs(caller, func, xs, strict)
    _check_one_element(caller, ys[0] if single else ys)
    return ys


def _check_one_element(caller: str, y: Any) -> None:
    if not isinstance(y, Tensor):  # a tuple
        raise RuntimeError(f"The function given to {caller} should return a single Tensor")
    if y.numel() != 1:
        raise RuntimeError(f"The Tensor returned by the function given to {caller} should contain a single element")


def seeds(v: Any, ys: Tensors) -> Tensors:
    """The vector of vjp(), checked."""
    if v is None:
        if len(ys) != 1 or ys[0].numel() != 1:
            raise RuntimeError(
                "The vector v can only be None if the user-provided function returns a single Tensor with a single element."
            )
        return (ones_like(ys[0]),)
    return _fitting("vjp", v, ys)


def directions(caller: str, v: Any, xs: Tensors) -> Tensors:
    """The vector of a product from the right, or with a symmetric matrix, checked."""
    if v is None:
        if len(xs) != 1 or xs[0].numel() != 1:
            raise RuntimeError(
                "The vector v can only be None if the input to the user-provided function is a single Tensor with a single "
                "element."
            )
        return (ones_like(xs[0]),)
    return _fitting(caller, v, xs)


def _fitting(caller: str, v: Any, others: Tensors) -> Tensors:
    """The vector as a tuple; RuntimeError unless it has the sizes of the others."""
    _, vs = one_or_several("v", caller, v)
    check_vector(vs, others, len(others) > 1)
    return vs


def check_vector(v: Tensors, others: Tensors, several: bool) -> None:
    """check_vector(v, others, several): RuntimeError unless `v` has the sizes of the others. several: those are a tuple."""
    if len(v) != len(others):
        if several:
            raise RuntimeError(f"v is a tuple of invalid length: should be {len(others)} but got {len(v)}.")
        raise RuntimeError("The given v should contain a single Tensor.")
    for i, (found, expected) in enumerate(zip(v, others, strict=True)):
        if found.shape != expected.shape:
            where = f"Entry {i} in " if several else ""
            raise RuntimeError(f"{where}v has invalid size: should be {expected.shape} but got {found.shape}.")


def result(single: bool, tensors: Tensors, create_graph: bool) -> Any:
    """Results as they are returned: detached unless create_graph, a tensor if one was given."""
    found = tensors if create_graph else tuple(x.detach() for x in tensors)
    return found[0] if single else found
