"""Values and dtypes of every op against its NumPy reference, in each listed dtype and at extremes."""

import numpy as np
import pytest
from op_calls import Call, comparable, each_sample, samples_of, to_numpy
from op_case import ALL, Maker
from opinfo import OPS

TOLERANCE = {"float16": 4e-3, "bfloat16": 1.6e-2, "float32": 3e-6, "complex64": 3e-6, "float64": 1e-14, "complex128": 1e-14}


def check(row, sample):
    """The outputs are the reference's in number, shape, dtype and value; the inputs keep every bit."""
    call = Call(row, sample)
    before = [a.tobytes() for a in call.inputs]
    with np.errstate(all="ignore"):
        found = [to_numpy(y) for y in call(*call.leaves(requires_grad=False))]
    assert [a.tobytes() for a in call.inputs] == before
    for y, want in zip(found, row.expected(sample), strict=True):
        assert (y.shape, y.dtype) == (want.shape, want.dtype)
        if y.tobytes() != want.tobytes():       # which is faster to see than that they are near
            near = TOLERANCE.get(str(y.dtype), 0)
            np.testing.assert_allclose(*map(comparable, (y, want)), rtol=near, atol=near)


@each_sample(OPS, lambda row: row.dtypes + row.forward)
def test_values(row, sample):
    check(row, sample)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("row", [row for row in OPS if row.extremes], ids=lambda row: row.name)
def test_extremes(row, dtype):
    if dtype in row.dtypes + row.forward:
        for sample in row.extremes(Maker(dtype)):
            check(row, sample)


@pytest.mark.parametrize("row", OPS, ids=lambda row: row.name)
def test_unlisted_dtypes_are_refused(row):
    for dtype in set(ALL) - set(row.dtypes + row.forward):
        call = Call(row, samples_of(row, dtype)[0])
        with pytest.raises((RuntimeError, NotImplementedError, TypeError, ValueError)):
            call(*call.leaves())
