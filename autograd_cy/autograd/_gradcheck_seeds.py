"""Unusual incoming gradients, for gradcheck: zero, undefined and batched ones."""

import warnings
from collections.abc import Sequence
from typing import Any

import numpy as np

from .._core.engine.functions import UndefinedGrad
from .._core.graph.tensor import Tensor, array_of, from_array
from . import forward_ad, gradients
from ._gradcheck_jacobian import Array, Probe, push_forward
from ._gradcheck_report import GradcheckError, agree


def _zero_gradient(probe: Probe, outputs: list[Tensor]) -> bool:
    """Whether the gradients of all inputs are None or zero, for incoming gradients of zero."""
    zeros = [from_array(np.zeros(tuple(y.shape), array_of(y).dtype)) for y in outputs]
    grads = gradients.grad(outputs, probe.differentiable_inputs, zeros, retain_graph=True, allow_unused=True)
    return not any(np.any(array_of(g)) for g in grads if g is not None)  # type: ignore[redundant-expr]


def check_zero_seeds(probe: Probe) -> None:
    """check_zero_seeds(probe): GradcheckError if zero incoming gradients give a nonzero gradient."""
    if not _zero_gradient(probe, probe.differentiable_outputs):
        raise GradcheckError(
            "backward not multiplied by grad_output: a gradient is not zero, though all incoming ones are"
        )


def check_undefined_gradients(probe: Probe) -> None:
    """check_undefined_gradients(probe): GradcheckError if a backward doesn't treat None as zeros.

    All incoming gradients are undefined at once, then each of them alone beside zeros.
    """
    outputs = probe.differentiable_outputs
    cases = [range(len(outputs))]
    if len(outputs) > 1:
        cases += [range(i, i + 1) for i in range(len(outputs))]
    for undefined in cases:
        roots = [UndefinedGrad()(y) if i in undefined else y for i, y in enumerate(outputs)]
        try:
            zero = _zero_gradient(probe, roots)
        except Exception as error:  # a backward may raise anything when it computes with None
            _warn_of_the_check()
            raise GradcheckError(
                "Expected backward function to handle undefined output grads, but it raised "
                f"{type(error).__name__}: {error}. Undefined were those of outputs {list(undefined)}; with "
                "check_undefined_grad=False this isn't checked."
            ) from error
        if not zero:
            _warn_of_the_check()
            raise GradcheckError(
                "Expected all input grads to be undefined or zero when all output grads are undefined or "
                f"zero. Undefined were those of outputs {list(undefined)}, the others zero."
            )


def _warn_of_the_check() -> None:
    warnings.warn(
        "Backwards compatibility: New undefined gradient support checking feature is enabled by default, but it may break "
        "existing callers of this function. If this is true for you, you can call this function with "
        '"check_undefined_grad=False" to disable the feature',
        UserWarning,
        stacklevel=5,  # where gradcheck was called
    )


def check_undefined_tangents(probe: Probe) -> None:
    """check_undefined_tangents(probe): GradcheckError if an input without a tangent isn't one with zeros."""
    rng = np.random.default_rng(0)
    tangents = [_random_like(x, rng) for x in probe.differentiable_inputs]
    for source in range(len(tangents)):
        expected = push_forward(probe, _replaced(tangents, source, np.zeros_like(tangents[source])))
        got = push_forward(probe, _replaced(tangents, source, None))
        for i, (a, b) in enumerate(zip(expected, got, strict=True)):
            if not agree(b, a, 1e-8, 1e-5):
                raise GradcheckError(
                    f"Mismatch in tangent values for output with index: {i} when input: {source} has an "
                    f"undefined tangent value. Got: {b} but expected: {a}"
                )


def _replaced(values: Sequence[Any], index: int, value: Any) -> list[Any]:
    return [value if i == index else old for i, old in enumerate(values)]


def check_batched_gradients(probe: Probe) -> None:
    """check_batched_gradients(probe): GradcheckError if is_grads_batched=True isn't one call per gradient."""
    rng = np.random.default_rng(0)
    for i, output in enumerate(probe.differentiable_outputs):
        seeds = np.stack([_random_like(output, rng) for _ in range(2)])
        expected = [_gradients(probe, output, np.asarray(seed)) for seed in seeds]
        try:
            batched = _gradients(probe, output, seeds, is_grads_batched=True)
        except RuntimeError as error:
            raise GradcheckError(f"While computing batched gradients, got: {error}") from error
        for j, got in enumerate(batched):
            single = np.stack([gradients[j] for gradients in expected])
            if not agree(got, single, 1e-8, 1e-5):
                raise GradcheckError(
                    f"For output {i} and input {j}: gradcheck or gradgradcheck failed while testing batched "
                    f"gradient computation.\nGot:\n{got}\nExpected:\n{single}"
                )


def check_batched_tangents(probe: Probe) -> None:
    """check_batched_tangents(probe): GradcheckError if forward mode within vmap isn't one call per tangent."""
    from ..func import vmap

    rng = np.random.default_rng(0)
    for k, x in enumerate(probe.differentiable_inputs):
        directions = [_random_like(x, rng) for _ in range(2)]
        expected = [push_forward(probe, _replaced([None] * len(probe.sources), k, direction)) for direction in directions]

        def along(direction: Tensor, at: int = probe.sources[k]) -> tuple[Tensor, ...]:
            with forward_ad.dual_level():
                inputs = [x.detach() if isinstance(x, Tensor) else x for x in probe.inputs]
                inputs[at] = forward_ad.make_dual(inputs[at], direction)
                outputs = probe.call(inputs)
                moved = [forward_ad.unpack_dual(outputs[i]) for i in probe.targets]
                return tuple(y * 0 if t is None else t for y, t in moved)

        try:
            batched = vmap(along)(from_array(np.stack(directions)))
        except RuntimeError as error:
            raise GradcheckError(f"While computing batched gradients, got: {error}") from error
        for i, got in enumerate(batched):
            single = np.stack([tangents[i] for tangents in expected])
            if not agree(array_of(got), single, 1e-8, 1e-5):
                raise GradcheckError(
                    f"For output {i} and input {k}: gradcheck or gradgradcheck failed while testing batched forward gradient "
                    f"computation.\nGot:\n{array_of(got)}\nExpected:\n{single}"
                )


def _gradients(probe: Probe, output: Tensor, seed: Array, **options: Any) -> list[Array]:
    """The gradients of all inputs for one output; a zero for None."""
    inputs = probe.differentiable_inputs
    grads = gradients.grad(output, inputs, from_array(seed), retain_graph=True, allow_unused=True, **options)
    return [np.zeros(()) if g is None else array_of(g) for g in grads]  # type: ignore[redundant-expr]


def _random_like(tensor: Tensor, rng: "np.random.Generator") -> Array:
    shape, dtype = tuple(tensor.shape), array_of(tensor).dtype
    values = rng.standard_normal(shape)
    if dtype.kind == "c":
        values = values + 1j * rng.standard_normal(shape)
    return np.asarray(values).astype(dtype)
