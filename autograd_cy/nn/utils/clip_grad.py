"""Clipping of gradients (facade)."""

import types
import warnings
from collections.abc import Iterable
from typing import Any

from ..._core.graph.tensor import Tensor
from ..._core.ops.matrices.decompositions import vector_norm
from ..._core.ops.shapes.joining import stack
from ..._core.runtime.entry import public as _public
from ..._creation.data import tensor
from ...autograd.grad_mode import no_grad

__all__ = ["clip_grad_norm", "clip_grad_norm_", "clip_grad_value_", "clip_grads_with_norm_", "get_total_norm"]


@_public
def get_total_norm(
    tensors: Any, norm_type: float = 2.0, error_if_nonfinite: bool = False, foreach: bool | None = None
) -> Tensor:
    """``get_total_norm(tensors, norm_type=2)``: the norm of all tensors as one vector.

    error_if_nonfinite: RuntimeError if it is infinite or NaN. foreach is accepted, and makes no difference.

    >>> import autograd_cy as ag
    >>> ag.nn.utils.get_total_norm([ag.tensor([3.0]), ag.tensor([0.0, 4.0])])
    tensor(5.)
    """
    norm_type = float(norm_type)
    tensors = [tensors] if isinstance(tensors, Tensor) else list(tensors)
    if not tensors:
        return tensor(0.0)
    with no_grad():
        norm = vector_norm(stack([vector_norm(one, norm_type) for one in tensors]), norm_type)
    if error_if_nonfinite and not bool(norm.isfinite()):
        raise RuntimeError(
            f"The total norm of order {norm_type} for gradients from `parameters` is non-finite, so it cannot be clipped. To "
            "disable this error and scale the gradients by the non-finite norm anyway, set `error_if_nonfinite=False`"
        )
    return norm


@_public
def clip_grads_with_norm_(parameters: Any, max_norm: float, total_norm: Tensor, foreach: bool | None = None) -> None:
    """``clip_grads_with_norm_(parameters, max_norm, total_norm)`` scales the gradients by max_norm / total_norm.

    They never become larger. foreach is accepted, and makes no difference.

    >>> import autograd_cy as ag
    >>> w = ag.ones(2, requires_grad=True)
    >>> w.grad = ag.tensor([3.0, 4.0])
    >>> ag.nn.utils.clip_grads_with_norm_(w, 1.0, ag.tensor(5.0))
    >>> w.grad
    tensor([0.6000, 0.8000])
    """
    max_norm = float(max_norm)
    with no_grad():
        factor = (max_norm / (total_norm + 1e-6)).clamp(max=1.0)
        for gradient in _gradients(parameters):
            gradient.mul_(factor)


@_public
def clip_grad_norm_(
    parameters: Any, max_norm: float, norm_type: float = 2.0, error_if_nonfinite: bool = False, foreach: bool | None = None
) -> Tensor:
    """``clip_grad_norm_(parameters, max_norm, norm_type=2)`` scales the gradients such that their norm is max_norm at most.

    Returns the norm of all gradients as one vector. error_if_nonfinite: RuntimeError if it is infinite or NaN.
    foreach is accepted, and makes no difference.

    >>> import autograd_cy as ag
    >>> w = ag.ones(2, requires_grad=True)
    >>> w.grad = ag.tensor([3.0, 4.0])
    >>> ag.nn.utils.clip_grad_norm_([w], 1.0), w.grad
    (tensor(5.), tensor([0.6000, 0.8000]))
    """
    is_generator = isinstance(parameters, types.GeneratorType)
    parameters = [parameters] if isinstance(parameters, Tensor) else list(parameters)
    if is_generator and not parameters:
        warnings.warn("`parameters` is an empty generator, no gradient clipping will occur.", stacklevel=2)
    total_norm = get_total_norm(_gradients(parameters), norm_type, error_if_nonfinite, foreach)
    clip_grads_with_norm_(parameters, max_norm, total_norm, foreach)
    return total_norm


def clip_grad_norm(
    parameters: Any, max_norm: float, norm_type: float = 2.0, error_if_nonfinite: bool = False, foreach: bool | None = None
) -> Tensor:
    """``clip_grad_norm(...)``: the deprecated name of ``clip_grad_norm_``."""
    warnings.warn(
        "`torch.nn.utils.clip_grad_norm` is now deprecated in favor of `torch.nn.utils.clip_grad_norm_`.",
        FutureWarning,
        stacklevel=2,
    )
    return clip_grad_norm_(parameters, max_norm, norm_type, error_if_nonfinite, foreach)


@_public
def clip_grad_value_(parameters: Any, clip_value: float, foreach: bool | None = None) -> None:
    """``clip_grad_value_(parameters, clip_value)`` clamps each gradient element to [-clip_value, clip_value].

    foreach is accepted, and makes no difference.

    >>> import autograd_cy as ag
    >>> w = ag.ones(2, requires_grad=True)
    >>> w.grad = ag.tensor([-3.0, 0.5])
    >>> ag.nn.utils.clip_grad_value_(w, 1)
    >>> w.grad
    tensor([-1.0000,  0.5000])
    """
    clip_value = float(clip_value)
    with no_grad():
        for gradient in _gradients(parameters):
            gradient.clamp_(min=-clip_value, max=clip_value)


def _gradients(parameters: Any) -> list[Tensor]:
    given: Iterable[Any] = [parameters] if isinstance(parameters, Tensor) else parameters
    return [parameter.grad for parameter in given if parameter.grad is not None]


_get_total_norm, _clip_grads_with_norm_ = get_total_norm, clip_grads_with_norm_  # PyTorch's names in this file
