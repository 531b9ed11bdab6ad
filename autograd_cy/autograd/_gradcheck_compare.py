"""Comparison of analytical and numerical Jacobians, for every pair of an input and an output."""

from typing import NamedTuple

import numpy as np

from .._core.graph.tensor import Tensor, array_of
from ._gradcheck_jacobian import (
    Array,
    Part,
    Probe,
    backward_jacobians,
    central_differences,
    expected_backward,
    forward_jacobians,
    parts_of,
)
from ._gradcheck_report import GradcheckError, Site, agree, fast_mismatch, slow_mismatch

Numerical = list[list[Array]]  # [part of the input][target]


class Modes(NamedTuple):
    """The modes of differentiation that gradcheck checks."""

    backward: bool
    forward: bool
    undefined: bool
    batched: bool
    batched_forward: bool = False


class Tolerances(NamedTuple):
    """gradcheck's arguments of the same names."""

    eps: float
    atol: float
    rtol: float
    nondet_tol: float
    check_grad_dtypes: bool


class Pair(NamedTuple):
    """One comparison: an output and an input, counted among the differentiable ones, the part, the mode."""

    target: int
    source: int
    part: Part
    forward: bool


def check_constant(probe: Probe, eps: float) -> None:
    """check_constant(probe, eps): GradcheckError if an output does depend on an input."""
    tensors = [i for i, y in enumerate(probe.outputs) if isinstance(y, Tensor)]
    floating = [i for i in tensors if array_of(probe.outputs[i]).dtype.kind in "fc"]
    for source, at in enumerate(probe.sources):
        parts = central_differences(probe, source, eps, floating)
        if any(np.any(jacobian != 0) for jacobians in parts for jacobian in jacobians):
            raise GradcheckError(
                "Numerical gradient for function expected to be zero, as none of its outputs requires "
                f"gradient, but they change with inputs[{at}]."
            )


def compare_modes(probe: Probe, tolerances: Tolerances, *, backward: bool, forward: bool) -> None:
    """compare_modes(probe, tolerances, backward=, forward=): GradcheckError at the first wrong Jacobian."""
    sources = range(len(probe.sources))
    numerical = [central_differences(probe, j, tolerances.eps, probe.targets) for j in sources]
    if backward:
        for i, output in enumerate(probe.differentiable_outputs):
            for part in reversed(parts_of(output)):  # PyTorch reports the imaginary part first
                analytical = _reproducible_backward(probe, i, part, tolerances)
                for j in sources:
                    jacobian = _along(probe, j, analytical[j])
                    _compare(probe, Pair(i, j, part, False), jacobian, numerical[j], tolerances)
    if forward:
        for j, tensor in enumerate(probe.differentiable_inputs):
            for part in reversed(parts_of(tensor)):
                jacobians, dtypes_fit = forward_jacobians(probe, j, part)
                if tolerances.check_grad_dtypes and not dtypes_fit:
                    raise GradcheckError(f"Forward AD gradient has dtype mismatch, for input {j}.")
                for i, jacobian in enumerate(jacobians):
                    _compare(probe, Pair(i, j, part, True), jacobian, numerical[j], tolerances)


def _reproducible_backward(probe: Probe, target: int, part: Part, tolerances: Tolerances) -> list[Array]:
    """backward_jacobians, computed twice: both must be the same, and the gradients fit their inputs."""
    first, faults = backward_jacobians(probe, target, part)
    second, _ = backward_jacobians(probe, target, part)
    if "shape" in faults:
        raise GradcheckError(f"Analytical gradient has incorrect size, for output {target}.")
    if "dtype" in faults and tolerances.check_grad_dtypes:
        raise GradcheckError(f"Gradient has dtype mismatch, for output {target}.")
    for j, (a, b) in enumerate(zip(first, second, strict=True)):
        with np.errstate(all="ignore"):
            apart = np.abs(a - b).max(initial=0.0)
        if apart > tolerances.nondet_tol:
            raise GradcheckError(
                "Backward is not reentrant, i.e., two backward passes with the same incoming gradient differ "
                f"by {apart:.6g} in the gradient of input {j} for output {target}. "
                f"The tolerance for nondeterminism was {tolerances.nondet_tol}."
            )
    return first


def _compare(
    probe: Probe, pair: Pair, analytical: Array, jacobians: Numerical, tolerances: Tolerances
) -> None:
    numerical = _expected(probe, pair, jacobians)
    atol, rtol = tolerances.atol, tolerances.rtol
    if agree(analytical, numerical, atol * _scale(probe, pair), rtol):
        return
    site = _site(probe, pair)
    if not probe.fast_mode:
        raise GradcheckError(slow_mismatch(site, analytical, numerical, atol, rtol))
    whole = _entry_by_entry(probe.slow(), pair, tolerances.eps)
    raise GradcheckError(fast_mismatch(site, (analytical, numerical), *whole, atol, rtol))


def _expected(probe: Probe, pair: Pair, jacobians: Numerical) -> Array:
    """What the analytical Jacobian of this pair should be, from the differences for its input."""
    if not pair.forward:
        return expected_backward(probe, jacobians, pair.target, pair.part)
    parts = parts_of(probe.differentiable_inputs[pair.source])
    return jacobians[parts.index(pair.part)][pair.target]


def _along(probe: Probe, source: int, analytical: Array) -> Array:
    """The backward Jacobian of an input, multiplied by the input's vector in fast mode."""
    vector = probe.u[source]
    return analytical if vector is None else vector[None, :] @ analytical


def _scale(probe: Probe, pair: Pair) -> float:
    """The factor by which fast mode's vectors enlarge an error common to all entries: their sums."""
    u, v = probe.u[pair.source], probe.v[pair.target]
    along_input = 1.0 if u is None else float(u.sum())
    along_output = 1.0 if v is None or pair.forward else float(v.sum())
    return along_input * along_output


def _entry_by_entry(probe: Probe, pair: Pair, eps: float) -> tuple[Array, Array]:
    """The analytical and the numerical Jacobian of one pair."""
    numerical = _expected(probe, pair, central_differences(probe, pair.source, eps, probe.targets))
    if pair.forward:
        return forward_jacobians(probe, pair.source, pair.part)[0][pair.target], numerical
    return backward_jacobians(probe, pair.target, pair.part)[0][pair.source], numerical


def _site(probe: Probe, pair: Pair) -> Site:
    source, target = probe.sources[pair.source], probe.targets[pair.target]
    return Site(
        output=pair.target,
        input=pair.source,
        output_at=target,
        input_at=source,
        output_shape=tuple(probe.outputs[target].shape),
        input_shape=tuple(probe.inputs[source].shape),
        part=pair.part.name,
        forward=pair.forward,
    )
