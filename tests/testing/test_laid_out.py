"""lay_out() gives the same values in the layout that its name says."""

import numpy as np
import pytest

from autograd_cy.testing._layouts import LAYOUTS, lay_out

SHAPES = [(), (0,), (1,), (3,), (2, 0), (2, 3), (3, 1, 2)]
DTYPES = ["bool", "uint8", "int64", "float16", "float32", "float64", "complex64", "complex128"]


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("layout", LAYOUTS)
def test_values_and_dtype_stay(layout, shape, dtype):
    array = np.arange(np.prod(shape)).reshape(shape).astype(dtype)
    found = lay_out(array, layout)
    assert type(found) is np.ndarray and found.dtype == array.dtype and found.shape == shape
    assert found.tolist() == array.tolist()
    assert not np.shares_memory(found, array)
    assert found.flags.writeable == (layout != "read-only")


def test_strides_are_those_of_the_layout():
    array = np.arange(6.0).reshape(2, 3)
    strides = {layout: lay_out(array, layout).strides for layout in LAYOUTS}
    assert strides == {
        "contiguous": (24, 8), "transposed": (8, 16), "sliced": (112, 16), "negative": (-24, -8), "read-only": (24, 8),
    }  # fmt: skip


def test_a_part_of_other_memory_has_another_offset_and_poison_in_its_gaps():
    for shape in SHAPES:
        part = lay_out(np.ones(shape), "sliced")
        room = part.base
        while room.base is not None:
            room = room.base
        if part.size:
            assert part.ctypes.data > room.ctypes.data
        assert np.isnan(room).sum() == room.size - part.size
        assert part.ndim == 0 or part.size < 2 or not part.flags.c_contiguous


@pytest.mark.parametrize("layout", LAYOUTS)
def test_the_layout_of_what_is_given_does_not_matter(layout):
    array = np.arange(24.0).reshape(2, 3, 4)[::-1, :, ::2].T
    assert lay_out(array, layout).strides == lay_out(array.copy("C"), layout).strides
    assert lay_out(array, layout).tolist() == array.tolist()


def test_what_is_refused():
    with pytest.raises(ValueError, match=r"one of 'contiguous', .*'read-only', got 'diagonal'"):
        lay_out(np.ones(2), "diagonal")
    with pytest.raises(TypeError, match=r"array of numbers or bools, got dtype <U1"):
        lay_out(np.array(["a"]), "contiguous")
