"""Comparison of two Jacobians, with a message about the largest difference."""

from typing import Any, NamedTuple

import numpy as np

Array = np.ndarray[Any, Any]
WHOLE_UP_TO = 200  # entries of a matrix that a message shows in full; of larger ones it shows the corners


class GradcheckError(RuntimeError):
    """Raised by `gradcheck` and `gradgradcheck` when a gradient is wrong.

    >>> import autograd_cy as ag
    >>> x = ag.tensor(3.0, dtype=ag.float64, requires_grad=True)
    >>> try:
    ...     ag.autograd.gradcheck(lambda x: x * x.detach(), x)
    ... except ag.autograd.GradcheckError as error:
    ...     print(str(error).partition(",")[0])
    Jacobian mismatch for output 0 with respect to input 0
    """


GradcheckError.__module__ = "autograd_cy.autograd.gradcheck"  # where users import it from


class Site(NamedTuple):
    """Identifies a Jacobian.

    `output` and `input` count the differentiable ones, as PyTorch's messages do; `output_at` and `input_at`
    are positions among all outputs and inputs of the function.
    """

    output: int
    input: int
    output_at: int
    input_at: int
    output_shape: tuple[int, ...]
    input_shape: tuple[int, ...]
    part: str = ""
    forward: bool = False


def excess(analytical: Array, numerical: Array, atol: float, rtol: float) -> Array:
    """excess(analytical, numerical, atol, rtol): each entry's error in units of its tolerance.

    Up to 1 it is within `atol + rtol * |numerical|`. Equal infinities agree; a nan agrees with nothing.
    """
    with np.errstate(all="ignore"):
        error = np.abs(analytical - numerical)
        ratio = error / np.maximum(atol + rtol * np.abs(numerical), np.finfo(float).tiny)
        return np.where(analytical == numerical, 0.0, np.where(np.isfinite(error), ratio, np.inf))


def agree(analytical: Array, numerical: Array, atol: float, rtol: float) -> bool:
    """agree(analytical, numerical, atol, rtol): whether every entry is within tolerance."""
    return bool((excess(analytical, numerical, atol, rtol) <= 1.0).all())


def slow_mismatch(site: Site, analytical: Array, numerical: Array, atol: float, rtol: float) -> str:
    """slow_mismatch(site, analytical, numerical, atol, rtol): the message about two whole Jacobians."""
    return f"{_headline(site)}\n{_comparison(site, analytical, numerical, atol, rtol)}"


def fast_mismatch(
    site: Site, projected: tuple[Array, Array], analytical: Array, numerical: Array, atol: float, rtol: float
) -> str:
    """fast_mismatch(site, projected, ...): the message about two projections, then the whole Jacobians."""
    largest = np.abs(analytical - numerical).max(initial=0.0)
    message = (
        f"{_headline(site)}\nnumerical:{_text(projected[1])}\nanalytical:{_text(projected[0])}\n\n"
        "These are the Jacobians multiplied by random vectors, as computed in fast mode. Entry by entry:\n\n"
        f"{_comparison(site, analytical, numerical, atol, rtol)}\n"
        f"The max per-element difference (slow mode) is: {largest:.8g}.\n"
    )
    if agree(analytical, numerical, atol, rtol):
        message += "Every entry is within tolerance: the check passes with fast_mode=False.\n"
    return message


def _headline(site: Site) -> str:
    complex_side = "inputs" if site.forward else "outputs"
    prefix = f"While considering the {site.part} part of complex {complex_side} only, " if site.part else ""
    mode = "computed with forward mode " if site.forward else ""
    return f"{prefix}Jacobian {mode}mismatch for output {site.output} with respect to input {site.input},"


def _comparison(site: Site, analytical: Array, numerical: Array, atol: float, rtol: float) -> str:
    errors = excess(analytical, numerical, atol, rtol)
    row, column = np.unravel_index(int(errors.argmax()), errors.shape)
    a, n = analytical[row, column].item(), numerical[row, column].item()
    return (
        f"worst entry: inputs[{site.input_at}][{_entry(row, site.input_shape)}]"
        f" to outputs[{site.output_at}][{_entry(column, site.output_shape)}]:"
        f" analytical {a:.8g}, numerical {n:.8g}, ratio {_ratio(a, n)}"
        f" ({np.count_nonzero(errors > 1.0)} of {errors.size} entries are out of tolerance).\n"
        "A row below is an entry of the input, a column an entry of the output.\n"
        f"numerical:{_text(numerical)}\nanalytical:{_text(analytical)}\n"
    )


def _entry(index: Any, shape: tuple[int, ...]) -> tuple[int, ...]:
    return tuple(int(i) for i in np.unravel_index(index, shape))


def _ratio(analytical: Any, numerical: Any) -> str:
    return f"{analytical / numerical:.6g}" if numerical != 0 else "inf"


def _text(matrix: Array) -> str:
    text = np.array2string(matrix, 120, precision=6, suppress_small=True, threshold=WHOLE_UP_TO)
    return text if matrix.size <= 1 else "\n" + text
