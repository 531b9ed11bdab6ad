"""Operands of different dtypes: the result's dtype is PyTorch's, each gradient has its own input's."""

import itertools

import numpy as np
import pytest
from op_calls import Call, run_backward, to_numpy
from op_case import ALL, COMPLEX, FLOATS, HALF, Maker, S, map_arrays
from opinfo import OPS

import autograd_cy as ag

ROWS = {row.name: row for row in OPS}
MIXED = [ROWS[name] for name in ("add", "mul", "div", "maximum", "eq", "lt")]
DIFFERENTIABLE = [ROWS[name] for name in ("add", "sub", "mul", "div", "pow")]


def pairs_of(dtypes):
    """All pairs but those whose result is a complex number of two float16, which NumPy has not."""
    for a, b in itertools.product(dtypes, repeat=2):
        if not ({a, b} & set(HALF) and {a, b} & set(COMPLEX)):
            yield a, b


def samples_of_pair(row, a, b):
    """Two tensors with dimensions, one or both without."""
    x, y = Maker(a, row.domain), Maker(b, row.domain)
    yield S(x(2), y(2))
    yield S(x(2), y())
    yield S(x(), y(2))
    yield S(x(), y())


def whole(sample):
    """The sample with values that every dtype holds exactly, so that comparisons don't depend on rounding."""
    return S(*map_arrays(lambda a: np.resize(np.array([2, 1, 3]), a.shape).astype(a.dtype), sample.args))


def check_dtype(row, sample):
    sample = whole(sample)
    (want,) = row.expected(sample)
    (found,) = Call(row, sample)(*Call(row, sample).leaves(requires_grad=False))
    found = to_numpy(found)
    assert found.dtype == want.dtype, [getattr(x, "dtype", x) for x in sample.args]
    near = 1e-2 if found.dtype == np.float16 else 1e-5
    np.testing.assert_allclose(found, want, rtol=near, atol=near)


@pytest.mark.parametrize("row", MIXED, ids=lambda row: row.name)
def test_two_tensors(row):
    for a, b in pairs_of(row.dtypes + row.forward):
        for sample in samples_of_pair(row, a, b):
            check_dtype(row, sample)


@pytest.mark.parametrize("row", [row for row in MIXED if row.operator], ids=lambda row: row.name)
def test_a_tensor_and_a_number(row):
    dtypes = row.dtypes + row.forward
    numbers = [True, 2, 1.5] + ([1 + 2j] if "complex64" in dtypes else [])
    for dtype, number, shape in itertools.product(dtypes, numbers, [(2,), ()]):
        if isinstance(number, complex) and dtype in HALF:
            continue  # a complex number of two float16, which NumPy has not
        x = Maker(dtype, row.domain)(*shape)
        check_dtype(row, S(x, number))
        check_dtype(row, S(number, x))


@pytest.mark.parametrize("name", ["cat", "stack", "where"])
def test_several_tensors(name):
    row = ROWS[name]
    for a, b in pairs_of(ALL):
        x, y = Maker(a)(2), Maker(b)(2)
        check_dtype(row, S(np.array([True, False]), x, y) if name == "where" else S([x, y]))


@pytest.mark.parametrize("row", DIFFERENTIABLE, ids=lambda row: row.name)
def test_each_gradient_has_its_inputs_dtype(row):
    for a, b in itertools.product(FLOATS + COMPLEX, repeat=2):
        for sample in samples_of_pair(row, a, b):
            leaves, _, _, gradients = run_backward(Call(row, sample))
            assert [g.dtype for g in gradients] == [leaf.dtype for leaf in leaves]


@pytest.mark.parametrize("pair", [("float64", "complex128"), ("complex128", "float64")], ids=str)
@pytest.mark.parametrize("row", DIFFERENTIABLE, ids=lambda row: row.name)
def test_gradcheck_of_real_and_complex(row, pair):
    """A real input of a complex op takes the real part of the gradient."""
    for sample in samples_of_pair(row, *pair):
        call = Call(row, sample)
        assert ag.autograd.gradcheck(call.function, call.leaves())
        assert ag.autograd.gradgradcheck(call.function, call.leaves())


@pytest.mark.parametrize("row", DIFFERENTIABLE, ids=lambda row: row.name)
def test_gradcheck_of_a_real_tensor_and_a_complex_number(row):
    x = Maker("float64", row.domain)(2)
    for sample in (S(x, 1 + 2j), S(1 + 2j, x)):
        call = Call(row, sample)
        assert ag.autograd.gradcheck(call.function, call.leaves())


def test_default_dtype_decides_for_integers_and_numbers():
    integers = ag.tensor([1, 2])
    ag.set_default_dtype(ag.float64)
    try:
        results = [integers / 2, integers * 1.5, integers.sqrt(), ag.tensor(1.5)]
        assert [y.dtype for y in results] == [ag.float64] * 4
        assert (ag.tensor([1.5], dtype=ag.float32) * 2.5).dtype == ag.float32
    finally:
        ag.set_default_dtype(ag.float32)
    assert (integers / 2).dtype == ag.float32
