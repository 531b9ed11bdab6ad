"""out= of another type than the result: what PyTorch computes in that type, converts to it and refuses."""

import pytest

import autograd_cy as ag

X = ag.tensor([[1.5, -2.0, 3.0], [0.5, 4.0, -1.0]])
NARROWER = "dtype float, but got double"
SQUARE = ag.tensor([[3.0, 1.0], [1.0, 4.0]])


@pytest.mark.parametrize(
    ("call", "dtype", "wanted"),
    [
        (lambda out: ag.sum(X, 1, out=out), ag.int64, [2, 3]),  # the elements are converted first
        (lambda out: ag.prod(X, 1, out=out), ag.int64, [-6, 0]),
        (lambda out: ag.cumsum(X, 1, out=out), ag.int32, [[1, -1, 2], [0, 4, 3]]),
        (lambda out: ag.cumprod(X, 1, out=out), ag.int64, [[1, -2, -6], [0, 0, 0]]),
        (lambda out: ag.sum(ag.tensor([3, 4]), 0, out=out), ag.bool, True),
        (lambda out: ag.diff(X, out=out), ag.float64, [[-3.5, 5.0], [3.5, -5.0]]),
        (lambda out: ag.lerp(X, X + 2, 0.5, out=out), ag.float64, (X + 1).tolist()),
        (lambda out: ag.lerp(X, X + 2, ag.tensor(0.5), out=out), ag.float64, (X + 1).tolist()),
        (lambda out: ag.bernoulli(ag.tensor([1.0, 0.0]), out=out), ag.int64, [1, 0]),
    ],
)
def test_what_is_computed_in_its_type_or_converted(call, dtype, wanted):
    out = ag.empty(0, dtype=dtype)
    assert call(out) is out and out.dtype is dtype and out.tolist() == wanted


def test_sums_have_the_digits_of_the_wider_type():
    tenths = ag.full((1000,), 0.1)
    for total in (ag.sum, ag.nansum):
        assert total(tenths, 0, out=ag.empty((), dtype=ag.float64)).item() == tenths.double().sum().item()
    assert ag.mean(tenths, 0, out=ag.empty((), dtype=ag.float64)).item() == tenths.double().mean().item()
    assert ag.cumsum(tenths, 0, out=ag.empty(0, dtype=ag.float64))[-1].item() == tenths.double().cumsum(0)[-1].item()


@pytest.mark.parametrize(
    ("call", "dtype", "error", "text"),
    [
        (lambda out: ag.index_add(X, 0, ag.tensor([0]), X[:1], out=out), ag.float64, RuntimeError, NARROWER),
        (lambda out: ag.scatter(X, 1, ag.tensor([[0]]), X, out=out), ag.float64, RuntimeError, NARROWER),
        (lambda out: ag.scatter_add(X, 1, ag.tensor([[0]]), X, out=out), ag.float64, RuntimeError, NARROWER),
        (lambda out: ag.take_along_dim(X, ag.tensor([[0]]), 1, out=out), ag.float64, RuntimeError, NARROWER),
        (lambda out: ag.renorm(X, 2, 0, 1.0, out=out), ag.float64, RuntimeError, NARROWER),
        (lambda out: ag.linalg.cholesky(SQUARE, out=out), ag.float64, RuntimeError, NARROWER),
        (lambda out: ag.linalg.cross(X, X, out=out), ag.float64, RuntimeError, NARROWER),
        (lambda out: ag.linalg.matrix_power(SQUARE, 2, out=out), ag.float64, RuntimeError, NARROWER),
        (lambda out: ag.linalg.multi_dot([SQUARE, SQUARE], out=out), ag.float64, RuntimeError, NARROWER),
        (lambda out: ag.lerp(X, X, X, out=out), ag.float64, RuntimeError, "Found dtype Double but expected Float"),
        (lambda out: ag.cat([X, X], out=out), ag.int64, TypeError, "cast to the desired output type Long"),
        (lambda out: ag.stack([X, X], out=out), ag.bool, TypeError, "cast to the desired output type Bool"),
        (lambda out: ag.cumsum(X, 1, out=out), ag.bool, NotImplementedError, "cumsum_out_cpu"),
        (lambda out: ag.nansum(X, 1, out=out), ag.int64, NotImplementedError, "nansum_cpu"),
        (lambda out: ag.mean(ag.tensor([1, 2]), 0, out=out), ag.float32, RuntimeError, "could not infer output dtype"),
        (lambda out: ag.bernoulli(ag.tensor([1.0]), out=out), ag.complex64, NotImplementedError, "bernoulli_tensor_cpu_self_"),
    ],
)  # fmt: skip
def test_what_is_refused(call, dtype, error, text):
    out = ag.empty(0, dtype=dtype)
    with pytest.raises(error, match=text):
        call(out)
    assert out.shape == (0,)


def test_eigenvalues_go_to_complex128():
    values, vectors = ag.linalg.eig(SQUARE, out=(ag.empty(0, dtype=ag.complex128), ag.empty(0, dtype=ag.complex64)))
    assert values.dtype is ag.complex128 and vectors.dtype is ag.complex64
