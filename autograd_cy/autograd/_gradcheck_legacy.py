"""Jacobians as separate functions, which gradcheck no longer uses; also deprecated in PyTorch."""

import functools
import warnings
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from .._core.graph.tensor import Tensor, array_of, from_array
from ._gradcheck_jacobian import WHOLE, Probe, as_tuple, backward_jacobians, central_differences


def _deprecated(function: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(function)
    def warned(*args: Any, **kwargs: Any) -> Any:
        warnings.warn(
            f"`{function.__name__}` was part of PyTorch's private API and not meant to be exposed. It is deprecated there, "
            "and here for programs that name it.",
            FutureWarning,
            stacklevel=2,
        )
        return function(*args, **kwargs)

    return warned


def _check(caller: str, grad_out: float, output: Any) -> None:
    if grad_out != 1.0:
        raise ValueError(f"Expected grad_out to be 1.0. {caller} no longer supports values of grad_out != 1.0.")
    if isinstance(output, Tensor) and output.is_complex():
        raise ValueError(
            f"Expected output to be non-complex. {caller} no longer supports functions that return complex outputs."
        )


def _moved(values: Any) -> list[Tensor]:
    return [x for x in as_tuple(values) if isinstance(x, Tensor) and x.requires_grad]


@_deprecated
def get_numerical_jacobian(
    fn: Callable[..., Any], inputs: Sequence[Any], target: Any = None, eps: float = 1e-3, grad_out: float = 1.0
) -> tuple[Tensor, ...]:
    """get_numerical_jacobian(fn, inputs): the Jacobians of fn(inputs), of its first output, by central differences.

    One for each of the inputs that requires grad (or of the tensors in `target`, which fn may access in another way): a row
    per entry of the input, a column per entry of the output. ValueError for a complex output.

    >>> import warnings
    >>> import autograd_cy as ag
    >>> from autograd_cy.autograd.gradcheck import get_numerical_jacobian
    >>> x = ag.tensor([1.0, 2.0], dtype=ag.float64, requires_grad=True)
    >>> with warnings.catch_warnings():
    ...     warnings.simplefilter("ignore")
    ...     get_numerical_jacobian(lambda inputs: inputs[0] ** 2, (x,))
    (tensor([[2.0000, 0.0000],
            [0.0000, 4.0000]], dtype=torch.float64),)
    """
    _check("get_numerical_jacobian", grad_out, None)
    probe = Probe(lambda *args: fn(args), as_tuple(inputs))
    _check("get_numerical_jacobian", grad_out, probe.outputs[0])
    probe.differentiable_inputs = _moved(inputs if target is None else target)
    probe.u = [None] * len(probe.differentiable_inputs)
    jacobians = []
    for source in range(len(probe.differentiable_inputs)):
        along = [matrices[0] for matrices in central_differences(probe, source, eps, [0])]
        jacobians.append(from_array(along[0] if len(along) == 1 else along[0] + 1j * along[1]))
    return tuple(jacobians)


@_deprecated
def get_analytical_jacobian(
    inputs: Any, output: Tensor, nondet_tol: float = 0.0, grad_out: float = 1.0
) -> tuple[tuple[Tensor, ...], bool, bool, bool]:
    """get_analytical_jacobian(inputs, output): (Jacobians, reentrant, sizes fit, types fit), by backward, run twice.

    A Jacobian for each of the inputs that requires grad: a row per entry of it, a column per entry of the output.
    `reentrant`: both runs agree within `nondet_tol`. ValueError for a complex output.

    >>> import warnings
    >>> import autograd_cy as ag
    >>> from autograd_cy.autograd.gradcheck import get_analytical_jacobian
    >>> x = ag.tensor([1.0, 2.0], dtype=ag.float64, requires_grad=True)
    >>> with warnings.catch_warnings():
    ...     warnings.simplefilter("ignore")
    ...     get_analytical_jacobian((x,), x**2)
    ((tensor([[2., 0.],
            [0., 4.]], dtype=torch.float64),), True, True, True)
    """
    _check("get_analytical_jacobian", grad_out, output)
    probe = Probe(lambda: output, ())
    probe.differentiable_inputs = _moved(inputs)
    first, faults = backward_jacobians(probe, 0, WHOLE[0])
    second, _ = backward_jacobians(probe, 0, WHOLE[0])
    reentrant = all(np.abs(a - b).max(initial=0.0) <= nondet_tol for a, b in zip(first, second, strict=True))
    jacobians = tuple(
        from_array(np.ascontiguousarray(a, array_of(x).dtype))
        for a, x in zip(first, probe.differentiable_inputs, strict=True)
    )
    return jacobians, reentrant, "shape" not in faults, "dtype" not in faults
