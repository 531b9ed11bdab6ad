"""The same values in another memory layout give the same results and the same gradients."""

import numpy as np
import pytest
from op_calls import OURS, Call, each_sample, gradient_dtypes, run_backward, to_numpy
from opinfo import OPS

import autograd_cy as ag

pytestmark = pytest.mark.filterwarnings("ignore:The given NumPy array is not writ")


def transposed(array):
    return array.T.copy().T


def sliced(array):
    """Every second element along every dimension of a larger array."""
    room = np.zeros([2 * n for n in array.shape], array.dtype)
    view = room[(slice(None, None, 2),) * array.ndim + (...,)]
    view[...] = array
    return view


def channels_last(array):
    """(N, C, ...) whose channels are neighbours in memory; others as they are."""
    if array.ndim not in (4, 5):
        return array.copy()
    return np.moveaxis(np.ascontiguousarray(np.moveaxis(array, 1, -1)), -1, 1)


def mixed(array):
    """One array like this, another like that; the values decide."""
    choice = int(np.copy(array).view(np.uint8).sum()) if array.ndim else 0
    return (np.copy, transposed, sliced)[choice % 3](array)


def expanded(array):
    """Stride 0 along the first dimension, so all values along it are the first ones."""
    return np.broadcast_to(array[:1], array.shape) if array.ndim else array


def backwards(array):
    """Negative strides in every dimension."""
    reverse = (slice(None, None, -1),) * array.ndim + (...,)
    return array[reverse].copy()[reverse]


def offset(array):
    """Contiguous, in the middle of a larger array."""
    room = np.zeros(array.size + 2, array.dtype)     # an even number, for view_as_complex
    view = room[2:].reshape(array.shape)
    view[...] = array
    return view


def readonly(array):
    array = array.copy()
    array.flags.writeable = False
    return array


def unaligned(array):
    view = np.zeros(array.nbytes + 1, np.uint8)[1:].view(array.dtype).reshape(array.shape)
    view[...] = array
    return view


# PyTorch refuses negative strides, and can crash on unaligned data.
STRIDED = [transposed, sliced, channels_last, mixed, expanded] + ([backwards] if OURS else [])
CONTIGUOUS = [offset, readonly] + ([unaligned] if OURS else [])


def dtypes_with_layouts(row):
    return gradient_dtypes(row) or (("int64",) if "int64" in row.forward else row.forward[-1:])


def results(row, sample, layout) -> list[np.ndarray]:
    """Outputs, and gradients if there are any, of inputs and seeds in this layout."""
    call = Call(row, sample, wrap=layout)
    if not row.differentiable:
        return [to_numpy(y) for y in call()]
    _, outputs, _, gradients = run_backward(call, layout)
    return [to_numpy(y) for y in [*outputs, *gradients]]


@each_sample(OPS, dtypes_with_layouts)
def test_layout_changes_nothing(row, sample):
    for layout in CONTIGUOUS + (STRIDED if row.strided else []):
        if layout is expanded and row.regular:
            continue
        expected = results(row, sample, lambda a, layout=layout: np.array(layout(a), order="C"))
        for y, want in zip(results(row, sample, layout), expected, strict=True):
            np.testing.assert_allclose(y, want, rtol=1e-13, atol=1e-13, err_msg=f"{layout.__name__} inputs")


@pytest.mark.skipif(not OURS, reason="PyTorch goes by the strides, which NumPy gives to an empty array at will")
def test_an_empty_array_of_pairs_is_complex():
    parts = ag.from_numpy(np.empty((0, 2))).requires_grad_()
    z = ag.view_as_complex(parts)
    assert (z.shape, z.dtype) == ((0,), ag.complex128)
    ag.view_as_real(z).sum().backward()
    assert parts.grad.shape == (0, 2)
