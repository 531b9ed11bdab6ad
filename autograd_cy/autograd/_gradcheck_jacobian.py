"""Jacobians of a function of tensors, for gradcheck: by central differences, by backward, by forward mode.

A Jacobian is a matrix with a row per entry of one input and a column per entry of one output. Each function
here computes it whole, an entry at a time, or, where the probe carries random vectors (fast mode), multiplied
by the vector on the side that it walks along: one row or one column, whatever the sizes.
"""

import math
from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np

from .._core.graph.tensor import Tensor, array_of, from_array
from . import forward_ad, gradients

Array = np.ndarray[Any, Any]


class Part(NamedTuple):
    """One real direction of a number: its name in messages, its unit, and how to extract it from an array."""

    name: str
    unit: complex
    take: Callable[[Array], Array]


WHOLE = (Part("", 1.0, np.real),)
COMPLEX = (Part("real", 1.0, np.real), Part("imaginary", 1j, np.imag))


def parts_of(tensor: Tensor) -> tuple[Part, ...]:
    """parts_of(tensor): the real directions of its entries, one if it is real and two if it is complex."""
    return COMPLEX if tensor.is_complex() else WHOLE


def as_tuple(values: Any) -> tuple[Any, ...]:
    """as_tuple(values): one object, or a list or tuple of them, as a tuple."""
    return tuple(values) if isinstance(values, (tuple, list)) else (values,)


class Probe:
    """A function at the point where its derivatives are checked.

    `sources` are the positions of inputs that require a gradient, `targets` the positions of outputs that
    have one. `u` and `v` hold a random vector for each of them in fast mode, None otherwise.
    """

    def __init__(self, func: Callable[..., Any], inputs: tuple[Any, ...], fast_mode: bool = False) -> None:
        self.func = func
        self.inputs = inputs
        self.outputs = self.call(inputs)
        self.sources = [i for i, x in enumerate(inputs) if isinstance(x, Tensor) and x.requires_grad]
        self.targets = [i for i, y in enumerate(self.outputs) if isinstance(y, Tensor) and y.requires_grad]
        self.differentiable_inputs: list[Tensor] = [inputs[i] for i in self.sources]
        self.differentiable_outputs: list[Tensor] = [self.outputs[i] for i in self.targets]
        self.fast_mode = fast_mode
        rng = np.random.default_rng(0) if fast_mode else None  # the user's generator is not used
        self.u = [_unit_vector(x.numel(), rng) for x in self.differentiable_inputs]
        self.v = [_unit_vector(y.numel(), rng) for y in self.differentiable_outputs]

    def slow(self) -> "Probe":
        """probe.slow(): the same without random vectors."""
        return Probe(self.func, self.inputs)

    def call(self, inputs: Sequence[Any]) -> tuple[Any, ...]:
        """probe.call(inputs): the function's outputs, as a tuple."""
        return as_tuple(self.func(*inputs))


def _unit_vector(size: int, rng: "np.random.Generator | None") -> Array | None:
    """Random, of length one, no entry negative (tolerances scale by its sum); None without rng."""
    if rng is None:
        return None
    vector = rng.random(size)
    return vector / np.linalg.norm(vector) if size else vector


def _directions(size: int, vector: Array | None) -> Iterator[tuple[int, Any, Any]]:
    """(row, where, how far): move each entry of a flat array by one in turn, or all along `vector`."""
    if vector is not None:
        return iter([(0, slice(None), vector)])
    return ((k, k, 1.0) for k in range(size))


def _rows_for(vector: Array | None, size: int, arrays: list[Array]) -> list[Array]:
    """For each array, zeros with one copy of its shape per direction."""
    rows = size if vector is None else 1
    return [np.zeros((rows, *a.shape), a.dtype) for a in arrays]


def _matrix(rows: Array) -> Array:
    """Every copy as one row."""
    return rows.reshape(len(rows), math.prod(rows.shape[1:]))


# -- central differences -------------------------------------------------------------------------------------


def central_differences(probe: Probe, source: int, eps: float, watched: list[int]) -> list[list[Array]]:
    """central_differences(probe, source, eps, watched): one list of matrices for each part of the input.

    `watched` are the positions of the requested outputs. The entries of a complex input move along the
    real and along the imaginary axis, which gives two lists. In fast mode each matrix has one row.

    The input's own memory is changed and restored, because `func` may access the tensor other than by its
    argument (a module holds its parameters). Recording stays on, because `func` may call grad itself.
    """
    tensor, inputs = probe.differentiable_inputs[source], probe.inputs
    if not array_of(tensor).flags.writeable:
        original, tensor = tensor, from_array(array_of(tensor).copy()).requires_grad_()
        inputs = tuple(tensor if x is original else x for x in inputs)
    flat, vector = array_of(tensor).flat, probe.u[source]
    start = [array_of(probe.outputs[i]) for i in watched]
    jacobians = []
    for part in parts_of(tensor):
        above, below = (_rows_for(vector, tensor.numel(), start) for _ in "+-")
        for row, where, length in _directions(tensor.numel(), vector):
            origin, step = flat[where], eps * part.unit * length
            try:
                flat[where] = origin + step
                _evaluate(probe, inputs, watched, above, row)
                flat[where] = origin - step
                _evaluate(probe, inputs, watched, below, row)
            finally:
                flat[where] = origin
        with np.errstate(all="ignore"):
            jacobians.append([_matrix(a - b) / (2 * eps) for a, b in zip(above, below, strict=True)])
    return jacobians


def _evaluate(probe: Probe, inputs: tuple[Any, ...], watched: list[int], into: list[Array], row: int) -> None:
    """Write the function's outputs into one row; their number and kind must be the same as at the start."""
    outputs = probe.call(inputs)
    if len(outputs) != len(probe.outputs):
        raise _unsteady("number of outputs", len(probe.outputs), len(outputs))
    for i, rows in zip(watched, into, strict=True):
        value = array_of(outputs[i])
        if value.shape != rows.shape[1:]:
            raise _unsteady("shape", rows.shape[1:], value.shape)
        if value.dtype != rows.dtype:
            raise _unsteady("dtype", rows.dtype, value.dtype)
        rows[row] = value


def _unsteady(what: str, before: Any, now: Any) -> AssertionError:
    return AssertionError(
        f"Expected `func` to return outputs with the same {what} when inputs are perturbed, "
        f"but got: {before} and {now}."
    )


# -- reverse mode --------------------------------------------------------------------------------------------


def backward_jacobians(probe: Probe, target: int, part: Part) -> tuple[list[Array], set[str]]:
    """backward_jacobians(probe, target, part): a matrix for each input, and the gradients' faults.

    One backward pass for each column: its seed is 1 for the real part of an output, 1j for the imaginary
    part. The second result may hold "shape" and "dtype", where a gradient's differs from its input's.
    In fast mode each matrix has one column.
    """
    output, inputs = probe.differentiable_outputs[target], probe.differentiable_inputs
    seed, vector = np.zeros(tuple(output.shape), array_of(output).dtype), probe.v[target]
    flat, seed_tensor = seed.reshape(-1), from_array(seed)
    columns = _rows_for(vector, seed.size, [array_of(x) for x in inputs])
    faults: set[str] = set()
    for column, where, length in _directions(seed.size, vector):
        flat[where] = length * part.unit
        grads = gradients.grad(output, inputs, seed_tensor, retain_graph=True, allow_unused=True)
        for gradient, columns_of_input in zip(grads, columns, strict=True):
            if gradient is not None:
                _put(array_of(gradient), columns_of_input, column, faults)
        flat[where] = 0.0  # not before: a gradient may be the seed itself
    return [_matrix(c).T for c in columns], faults


def _put(gradient: Array, columns: Array, column: int, faults: set[str]) -> None:
    """Copy the gradient into its column, or add the mismatch with its input to `faults`."""
    if gradient.dtype != columns.dtype:
        faults.add("dtype")
    if gradient.shape != columns.shape[1:]:
        faults.add("shape")
    else:
        columns[column] = gradient if columns.dtype.kind == "c" else gradient.real


def expected_backward(probe: Probe, numerical: list[list[Array]], target: int, part: Part) -> Array:
    """expected_backward(probe, numerical, target, part): the expected result of backward_jacobians for one input.

    The gradient of a real L with respect to z = x + iy is dL/dx + i dL/dy (PyTorch's convention); L is the
    real or the imaginary part of the output.
    """
    along = [part.take(jacobians[target]) for jacobians in numerical]
    whole = along[0] if len(along) == 1 else along[0] + 1j * along[1]
    vector = probe.v[target]
    return whole if vector is None else whole @ vector[:, None]


# -- forward mode --------------------------------------------------------------------------------------------


def forward_jacobians(probe: Probe, source: int, part: Part) -> tuple[list[Array], bool]:
    """forward_jacobians(probe, source, part): a matrix for each output, and whether the tangents' dtypes fit.

    One evaluation for each row: the tangent is 1 for the real part of an input, 1j for the imaginary part;
    the other inputs' are zero. In fast mode each matrix has one row.
    """
    outputs, vector = probe.differentiable_outputs, probe.u[source]
    tangents = [np.zeros(tuple(x.shape), array_of(x).dtype) for x in probe.differentiable_inputs]
    flat = tangents[source].reshape(-1)
    jacobians = _rows_for(vector, flat.size, [array_of(y) for y in outputs])
    fits = True
    for row, where, length in _directions(flat.size, vector):
        flat[where] = length * part.unit
        for tangent, rows in zip(push_forward(probe, tangents), jacobians, strict=True):
            fits = fits and tangent.dtype.kind == rows.dtype.kind
            rows[row] = tangent if rows.dtype.kind == "c" else tangent.real
        flat[where] = 0.0
    return [_matrix(rows) for rows in jacobians], fits


def push_forward(probe: Probe, tangents: Sequence[Array | None]) -> list[Array]:
    """push_forward(probe, tangents): copies of the outputs' tangents, for the inputs' (None: without one)."""
    inputs = list(probe.inputs)
    with forward_ad.dual_level():
        for at, tangent in zip(probe.sources, tangents, strict=True):
            primal = inputs[at].detach()
            inputs[at] = primal if tangent is None else forward_ad.make_dual(primal, from_array(tangent))
        outputs = probe.call(inputs)
        moved = [forward_ad.unpack_dual(outputs[i]).tangent for i in probe.targets]
        return [
            np.zeros(tuple(y.shape), array_of(y).dtype) if t is None else array_of(t).copy()
            for t, y in zip(moved, probe.differentiable_outputs, strict=True)
        ]
