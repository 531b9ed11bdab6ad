"""Sizes at which kernels use blocks, vectors and a rest: many elements are what a few are."""

import numpy as np
import pytest
from op_calls import Call, gradient_dtypes, run_backward, samples_of, to_numpy
from op_case import Maker, S, Sample, map_arrays
from opinfo import ELEMENTWISE, OPS, REDUCTIONS

NEAR = {"float32": 1e-5, "float64": 1e-13, "complex64": 1e-5, "complex128": 1e-13}


def each_dtype(rows, dtypes=lambda row: row.dtypes):
    cases = [pytest.param(row, dtype, id=f"{row.name}-{dtype}") for row in rows for dtype in dtypes(row)]
    return pytest.mark.parametrize("row, dtype", cases)


def shapes_of(sample) -> list[tuple]:
    shapes = []
    map_arrays(lambda a: shapes.append(a.shape), sample.args)
    return shapes


@each_dtype([row for row in ELEMENTWISE if row.differentiable])
def test_elementwise_at_many_elements(row, dtype):
    """Kernels work in blocks and vectors with a rest: element i of 5003 is what it is of 6."""
    few = next(s for s in samples_of(row, dtype) if set(shapes_of(s)) == {(2, 3)})
    many = Sample(map_arrays(lambda a: np.resize(a, 5003), few.args), few.kwargs)
    _, (y,), (seed,), gradients = run_backward(Call(row, few))
    seeds = [np.resize(to_numpy(seed), 5003)]
    _, (z,), _, many_gradients = run_backward(Call(row, many), seeds=seeds)
    for found, want in zip([z, *many_gradients], [y, *gradients], strict=True):
        want = np.resize(to_numpy(want), 5003)
        np.testing.assert_allclose(to_numpy(found), want, rtol=NEAR[dtype], atol=NEAR[dtype])


ROW, COLUMN, NUMBER = ((300, 7), (7,)), ((300, 7), (300, 1)), ((300, 7), ())
BOTH, MIDDLE, ONE = ((1, 200), (30, 1)), ((5, 1, 50), (9, 1)), ((600,), (1,))
BINARY = [row for row in ELEMENTWISE if row.name in ("add", "sub", "mul", "div", "pow", "maximum", "minimum")]


@pytest.mark.parametrize("shapes", [ROW, COLUMN, NUMBER, BOTH, MIDDLE, ONE], ids=str)
@each_dtype(BINARY, gradient_dtypes)
def test_broadcast_gradient_is_the_sum(row, dtype, shapes):
    """A gradient that is reduced while it is computed is the reduced full one."""
    make = Maker(dtype, row.domain)
    small = [make(*shape) for shape in shapes]
    full = [np.array(a) for a in np.broadcast_arrays(*small)]
    *_, reduced = run_backward(Call(row, Sample(tuple(small))))
    *_, gradients = run_backward(Call(row, Sample(tuple(full))))
    for found, gradient in zip(reduced, gradients, strict=True):
        want = to_numpy(gradient)
        want = want.sum(axis=tuple(range(want.ndim - found.ndim)))
        ones = tuple(i for i, n in enumerate(found.shape) if n == 1)
        want = want.sum(axis=ones, keepdims=True)
        np.testing.assert_allclose(to_numpy(found), want, rtol=1e-11, atol=1e-11)


def near_one(dtype, *shape) -> np.ndarray:
    """Different values whose products stay small."""
    values = np.random.default_rng(3).uniform(0.9, 1.1, (*shape, 2))
    return (values @ [1, 0.1j] if dtype.startswith("complex") else values[..., 0]).astype(dtype)


@pytest.mark.parametrize("shape, dim", [((3, 1003), 1), ((1003, 3), 0), ((3, 50, 20), (1, 2))], ids=str)
@each_dtype(REDUCTIONS, lambda row: row.dtypes or row.forward[-1:])
def test_reductions_of_many_elements(row, dtype, shape, dim):
    """Along long rows, long columns and several dimensions: the values of the reference."""
    if isinstance(dim, tuple) and not takes_dims(row):
        dim = dim[-1]
    sample = S(near_one(dtype, *shape), dim=dim)
    for y, want in zip(Call(row, sample)(*Call(row, sample).leaves()), row.expected(sample), strict=True):
        near = 30 * NEAR.get(dtype, 0)
        np.testing.assert_allclose(to_numpy(y), want, rtol=near, atol=near)


def takes_dims(row) -> bool:
    return any(isinstance(s.kwargs.get("dim"), tuple) for s in samples_of(row, "float64"))


@each_dtype([row for row in REDUCTIONS if row.differentiable], gradient_dtypes)
def test_gradient_of_many_rows_is_each_rows_own(row, dtype):
    x = near_one(dtype, 60, 37)
    _, (y, *_), (seed, *_), (gradient,) = run_backward(Call(row, S(x, dim=1)))
    for i in (0, 29, 59):
        _, (own, *_), _, (own_gradient,) = run_backward(Call(row, S(x[i], dim=0)), seeds=[to_numpy(seed)[i]])
        np.testing.assert_allclose(to_numpy(y)[i], to_numpy(own), rtol=1e-12)
        np.testing.assert_allclose(to_numpy(gradient)[i], to_numpy(own_gradient), rtol=1e-12, atol=1e-14)


# The shapes, and the product as a sum over subscripts, whose gradients are such sums too.
PRODUCTS = {
    "mm": [(33, 65), (65, 17), "ij", "jk", "ik"],
    "mv": [(33, 65), (65,), "ij", "j", "i"],
    "dot": [(1000,), (1000,), "i", "i", ""],
    "bmm": [(3, 20, 33), (3, 33, 9), "bij", "bjk", "bik"],
    "matmul": [(2, 20, 33), (33, 9), "bij", "jk", "bik"],
    "nn.functional.linear": [(40, 33), (17, 33), "ij", "kj", "ik"],
}


@each_dtype([row for row in OPS if row.name in PRODUCTS])
def test_products_of_many_elements(row, dtype):
    left, right, a, b, out = PRODUCTS[row.name]
    make = Maker(dtype)
    x, w = make(*left), make(*right)
    _, (y,), (seed,), gradients = run_backward(Call(row, S(x, w)))
    g = to_numpy(seed)
    expected = [
        np.einsum(f"{a},{b}->{out}", x, w),
        np.einsum(f"{out},{b}->{a}", g, w.conj()),
        np.einsum(f"{a},{out}->{b}", x.conj(), g),
    ]
    for found, want in zip([y, *gradients], expected, strict=True):
        near = 100 * NEAR[dtype]
        np.testing.assert_allclose(to_numpy(found), want, rtol=near, atol=near)
