"""gradcheck and gradgradcheck: gradients against finite differences.

_gradcheck_jacobian computes the Jacobians, _gradcheck_compare decides whether they agree, _gradcheck_seeds
tries unusual incoming gradients (zero, undefined, batched), and _gradcheck_report writes the error messages. They are
imported by the first check: most programs make none.
"""

import warnings
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from .._compat import names_later as _names_later
from .._core.graph.tensor import Tensor
from .._core.graph.tensor import array_of as _array_of
from .._core.graph.tensor import from_array as _from_array
from .._core.runtime.entry import public as _public
from . import gradients as _gradients

if TYPE_CHECKING:
    from ._gradcheck_compare import Modes as _Modes
    from ._gradcheck_compare import Tolerances as _Tolerances
    from ._gradcheck_jacobian import Probe as _Probe
    from ._gradcheck_legacy import get_analytical_jacobian, get_numerical_jacobian
    from ._gradcheck_report import GradcheckError

__all__ = ["GradcheckError", "get_analytical_jacobian", "get_numerical_jacobian", "gradcheck", "gradgradcheck"]

_ATOL, _RTOL = 1e-5, 1e-3  # compared by identity: a caller that gives none gets these objects


@_public
def gradcheck(
    func: Callable[..., Any],
    inputs: Tensor | Sequence[Any],
    *,
    eps: float = 1e-6,
    atol: float = _ATOL,
    rtol: float = _RTOL,
    raise_exception: bool = True,
    nondet_tol: float = 0.0,
    check_undefined_grad: bool = True,
    check_grad_dtypes: bool = False,
    check_batched_grad: bool = False,
    check_batched_forward_grad: bool = False,
    check_forward_ad: bool = False,
    check_backward_ad: bool = True,
    fast_mode: bool = False,
    masked: bool | None = None,
) -> bool:
    """gradcheck(func, inputs): True if the gradients of `func` agree with finite differences.

    `func` takes the `inputs` (one Tensor or a sequence; float64 or complex128, or the differences are too
    rough) and returns one Tensor or several. Each entry of each input that requires a gradient moves by
    +-`eps`; analytical and numerical Jacobian must agree within `atol + rtol * |numerical|`, else there is a
    GradcheckError that names the worst entry: its index, both values and their ratio.

    * `fast_mode` compares the Jacobians multiplied by random vectors: much faster on large inputs, but a
      small error in one entry of many can stay within tolerance.
    * `check_backward_ad`, `check_forward_ad`: the modes to check.
    * `check_undefined_grad`: a backward must also take None for an incoming gradient and treat it as zeros.
    * `check_grad_dtypes`: gradients must have their inputs' dtypes.
    * `check_batched_grad`: `is_grads_batched=True` must give what one call per gradient gives.
    * `check_batched_forward_grad`: forward mode within `vmap` must give what one call per tangent gives.
    * `nondet_tol`: how far two identical backward passes may differ.
    * `raise_exception=False` returns False for a wrong gradient. Bad arguments raise all the same.
    * With inputs of longdouble alone, `atol` is 1e-11 and `rtol` 1e-9 unless they are given.
    * `masked` changes nothing: functions of sparse tensors are checked by `sparse.as_sparse_gradcheck`.

    Complex outputs are checked as their real and imaginary parts, see https://arxiv.org/abs/1701.00392.

    >>> import autograd_cy as torch
    >>> x = torch.tensor([0.5, 2.0], dtype=torch.float64, requires_grad=True)
    >>> torch.autograd.gradcheck(lambda x: (x * x).sum(), (x,))
    True
    """
    from ._gradcheck_compare import Modes, Tolerances
    from ._gradcheck_jacobian import Probe, as_tuple
    from ._gradcheck_report import GradcheckError

    _require_one(check_forward_ad=check_forward_ad, check_backward_ad=check_backward_ad)
    _require_also(check_batched_grad=check_batched_grad, check_backward_ad=check_backward_ad)
    _require_also(check_batched_forward_grad=check_batched_forward_grad, check_forward_ad=check_forward_ad)
    inputs = as_tuple(inputs)
    _check_inputs(inputs)
    if _are_extended(inputs):
        atol, rtol = 1e-11 if atol is _ATOL else atol, 1e-9 if rtol is _RTOL else rtol
    tolerances = Tolerances(eps, atol, rtol, nondet_tol, check_grad_dtypes)
    modes = Modes(check_backward_ad, check_forward_ad, check_undefined_grad, check_batched_grad, check_batched_forward_grad)
    try:
        _check(Probe(func, inputs, fast_mode), tolerances, modes)
    except GradcheckError:
        if raise_exception:
            raise
        return False
    return True


@_public
def gradgradcheck(
    func: Callable[..., Any],
    inputs: Tensor | Sequence[Any],
    grad_outputs: Tensor | Sequence[Any] | None = None,
    *,
    eps: float = 1e-6,
    atol: float = _ATOL,
    rtol: float = _RTOL,
    gen_non_contig_grad_outputs: bool = False,
    raise_exception: bool = True,
    nondet_tol: float = 0.0,
    check_undefined_grad: bool = True,
    check_grad_dtypes: bool = False,
    check_batched_grad: bool = False,
    check_fwd_over_rev: bool = False,
    check_rev_over_rev: bool = True,
    fast_mode: bool = False,
    masked: bool = False,
) -> bool:
    """gradgradcheck(func, inputs, grad_outputs=None): gradcheck of the gradient of `func`.

    The function that is checked takes the inputs and the incoming gradients, and returns the inputs'
    gradients. `grad_outputs` are the incoming gradients, random ones by default (strided ones with
    `gen_non_contig_grad_outputs`). `check_rev_over_rev` differentiates the backward pass by another backward
    pass, `check_fwd_over_rev` by forward mode. The other arguments are gradcheck's.

    >>> import autograd_cy as torch
    >>> x = torch.tensor([0.5, 2.0], dtype=torch.float64, requires_grad=True)
    >>> torch.autograd.gradgradcheck(lambda x: x * x * x, (x,))
    True
    """
    from ._gradcheck_jacobian import as_tuple

    _require_one(check_fwd_over_rev=check_fwd_over_rev, check_rev_over_rev=check_rev_over_rev)
    _require_also(check_undefined_grad=check_undefined_grad, check_rev_over_rev=check_rev_over_rev)
    _require_also(check_batched_grad=check_batched_grad, check_rev_over_rev=check_rev_over_rev)
    inputs = as_tuple(inputs)
    if grad_outputs is None:
        grad_outputs = _random_seeds(func, inputs, gen_non_contig_grad_outputs)
    seeds = as_tuple(grad_outputs)
    return gradcheck(
        _gradient_of(func, inputs, seeds),
        inputs + seeds,
        eps=eps,
        atol=atol,
        rtol=rtol,
        raise_exception=raise_exception,
        nondet_tol=nondet_tol,
        check_undefined_grad=check_undefined_grad,
        check_grad_dtypes=check_grad_dtypes,
        check_batched_grad=check_batched_grad,
        check_forward_ad=check_fwd_over_rev,
        check_backward_ad=check_rev_over_rev,
        fast_mode=fast_mode,
        masked=masked,
    )


def _check(probe: "_Probe", tolerances: "_Tolerances", modes: "_Modes") -> None:
    """All checks at a point; GradcheckError at the first fault."""
    from ._gradcheck_compare import check_constant, compare_modes
    from ._gradcheck_seeds import (
        check_batched_gradients,
        check_batched_tangents,
        check_undefined_gradients,
        check_undefined_tangents,
        check_zero_seeds,
    )

    if not probe.outputs:
        return  # an empty tuple: there is nothing to differentiate
    if not any(isinstance(output, Tensor) for output in probe.outputs):
        returned = ", ".join(type(output).__name__ for output in probe.outputs)
        raise ValueError(f"gradcheck expects a function that returns a Tensor, or several, but got: {returned}")
    if not probe.targets:
        check_constant(probe, tolerances.eps)
        return
    compare_modes(probe, tolerances, backward=modes.backward, forward=modes.forward)
    if modes.batched:
        check_batched_gradients(probe)
    if modes.batched_forward:
        check_batched_tangents(probe)
    if modes.backward:
        check_zero_seeds(probe)
        if modes.undefined:
            check_undefined_gradients(probe)
    if modes.forward and modes.undefined:
        check_undefined_tangents(probe)


# -- valid arguments -----------------------------------------------------------------------------------------


def _require_one(**flags: bool) -> None:
    if not any(flags.values()):
        raise AssertionError(f"Expected at least one of {' or '.join(flags)} to be True")


def _require_also(**flags: bool) -> None:
    """Refuse the first flag without the second."""
    (name, flag), (needed_name, needed) = flags.items()
    if flag and not needed:
        raise AssertionError(f"Setting {name}=True requires {needed_name} to be True")


def _requires_grad(value: Any) -> bool:
    return isinstance(value, Tensor) and bool(value.requires_grad)


def _are_extended(inputs: tuple[Any, ...]) -> bool:
    """Whether all differentiated inputs are longdouble."""
    return all(_array_of(x).dtype == np.longdouble != np.float64 for x in inputs if _requires_grad(x))


def _check_inputs(inputs: tuple[Any, ...]) -> None:
    for i, x in enumerate(inputs):
        if not _requires_grad(x):
            continue
        if _array_of(x).dtype.char not in "dDg":
            warnings.warn(
                f"Input #{i} requires gradient and is not a double precision floating point or complex. "
                f"Finite differences in {x.dtype} are too rough for the default tolerances.",
                stacklevel=3,
            )
        if x.numel() and any(st == 0 and n > 1 for st, n in zip(x.stride(), x.shape, strict=True)):
            raise RuntimeError(
                f"The {i}th input has a dimension with stride 0. Entries that share memory can't be moved "
                "one at a time: call .contiguous() on it before gradcheck."
            )
    if not any(_requires_grad(x) for x in inputs):
        raise ValueError(
            "gradcheck expects at least one input tensor to require gradient, "
            "but none of them have requires_grad=True."
        )


# -- the gradient as a function ------------------------------------------------------------------------------


def _random_seeds(func: Callable[..., Any], inputs: tuple[Any, ...], strided: bool) -> tuple[Tensor, ...]:
    """A random incoming gradient for each differentiable output, not contiguous if `strided`.

    The user's random generator is not used.
    """
    from ._gradcheck_jacobian import as_tuple

    rng = np.random.default_rng(0)
    seeds = []
    for output in as_tuple(func(*inputs)):
        if not _requires_grad(output):
            continue
        shape, dtype = tuple(output.shape), _array_of(output).dtype
        step = 2 if strided and shape else 1
        if shape:
            shape = (*shape[:-1], shape[-1] * step)
        values = rng.uniform(-1, 1, shape) + (1j * rng.uniform(-1, 1, shape) if dtype.kind == "c" else 0)
        array = np.asarray(values).astype(dtype)
        seeds.append(_from_array(array[..., ::step] if step > 1 else array).requires_grad_())
    if not seeds:
        raise ValueError("gradgradcheck expects at least one output that requires gradient")
    return tuple(seeds)


def _gradient_of(
    func: Callable[..., Any], inputs: tuple[Any, ...], seeds: tuple[Any, ...]
) -> Callable[..., tuple[Tensor, ...]]:
    """The function from inputs and incoming gradients to the inputs' gradients that are not None."""
    from ._gradcheck_jacobian import as_tuple

    wanted = [_requires_grad(value) for value in inputs + seeds]
    n = len(inputs)

    def gradient(*args: Any) -> tuple[Tensor, ...]:
        # forward mode passes detached tensors
        args = tuple(a.requires_grad_() if w else a for a, w in zip(args, wanted, strict=True))
        outputs = [y for y in as_tuple(func(*args[:n])) if _requires_grad(y)]
        sources = [a for a, w in zip(args[:n], wanted, strict=False) if w]
        grads = _gradients.grad(outputs, sources, args[n:], create_graph=True, allow_unused=True)
        return tuple(g for g in grads if g is not None)  # type: ignore[redundant-expr]

    return gradient


if not TYPE_CHECKING:  # else any name would be right
    __getattr__, __dir__ = _names_later(
        __name__,
        {
            "_gradcheck_legacy": ["get_analytical_jacobian", "get_numerical_jacobian"],
            "_gradcheck_report": ["GradcheckError"],
        },
    )
