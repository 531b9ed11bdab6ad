"""Functions of masked tensors: as if what is masked out were not there. test_op_db.py compares them with PyTorch's."""

import numpy as np
import pytest

import autograd_cy as ag
from autograd_cy import masked
from autograd_cy.testing import check_gradients

MASK = [True, False, True, True, False]
REDUCED = {
    "sum": ag.sum, "prod": ag.prod, "amax": ag.amax, "amin": ag.amin, "mean": ag.mean, "var": ag.var, "std": ag.std,
    "norm": ag.linalg.vector_norm, "median": ag.median, "logsumexp": lambda x: ag.logsumexp(x, 0),
}  # fmt: skip
ALONG = {
    "cumsum": ag.cumsum, "cumprod": ag.cumprod, "softmax": ag.nn.functional.softmax,
    "log_softmax": ag.nn.functional.log_softmax, "softmin": lambda x, dim: ag.nn.functional.softmax(-x, dim),
    "normalize": lambda x, dim: x / ag.linalg.vector_norm(x),
}  # fmt: skip
OF_NOTHING = {"sum": 0, "prod": 1, "amax": -np.inf, "amin": np.inf, "mean": np.nan, "var": np.nan, "norm": 0}


@pytest.fixture
def x():
    return ag.tensor([0.5, np.inf, -1.5, 2.0, -np.inf], dtype=ag.float64)


@pytest.mark.parametrize("name", REDUCED)
def test_reductions_leave_out_what_is_masked(name, x):
    found = getattr(masked, name)(x, mask=ag.tensor(MASK))
    if name in ("var", "std"):  # infinite elements are subtracted from the mean first, as PyTorch's are
        found = getattr(masked, name)(x.clamp(-9, 9), mask=ag.tensor(MASK))
    np.testing.assert_allclose(found.numpy(), REDUCED[name](x[ag.tensor(MASK)]).numpy(), rtol=1e-12)


@pytest.mark.parametrize("name", ALONG)
def test_functions_along_a_dimension_leave_out_what_is_masked(name, x):
    args = (2, 0) if name == "normalize" else (0,)
    found = getattr(masked, name)(x, *args, mask=ag.tensor(MASK))[ag.tensor(MASK)]
    np.testing.assert_allclose(found.numpy(), ALONG[name](x[ag.tensor(MASK)], 0).numpy(), rtol=1e-12)


@pytest.mark.parametrize("name", OF_NOTHING)
def test_where_all_is_masked_there_is_the_identity(name):
    np.testing.assert_equal(getattr(masked, name)(ag.ones(3), mask=ag.tensor(False)).item(), OF_NOTHING[name])


@pytest.mark.parametrize("name", [*REDUCED, *ALONG])
def test_without_a_mask_it_is_the_plain_function(name):
    x, args = ag.tensor([0.5, -1.5, 2.0], dtype=ag.float64), {"normalize": (2, 0)}.get(name, (0,) if name in ALONG else ())
    expected = ALONG[name](x, 0) if name in ALONG else REDUCED[name](x)
    np.testing.assert_allclose(getattr(masked, name)(x, *args).numpy(), expected.numpy(), rtol=1e-12)


@pytest.mark.parametrize("name", [name for name in [*REDUCED, *ALONG] if name != "log_softmax"])
def test_derivatives_are_right(name):
    x = ag.tensor([[0.5, 1.25, -1.5, 2.0, 0.75], [1.0, 0.25, 1.5, -2.0, 3.0]], dtype=ag.float64, requires_grad=True)
    args = {"normalize": (2, 1), "norm": (2, 1)}.get(name, (1,))
    check_gradients(lambda x: getattr(masked, name)(x, *args, mask=ag.tensor(MASK)), x)


def test_logaddexp_takes_two_masks():
    a, b = ag.tensor([1.0, 2.0, 3.0]), ag.tensor([1.0, 5.0, 7.0])
    first, second = ag.tensor([True, False, True]), ag.tensor([True, True, False])
    found = masked.logaddexp(a, b, input_mask=first, other_mask=second)
    np.testing.assert_allclose(found.numpy(), [1 + np.log(2), 5, 3], rtol=1e-6)


def test_indices_are_those_among_all():
    x = ag.tensor([4.0, 9.0, 1.0, 0.0])
    mask = ag.tensor([True, False, True, False])
    assert (masked.argmax(x, mask=mask), masked.argmin(x, mask=mask, dtype=ag.int64)) == (0, 2)


def test_what_is_refused():
    x = ag.ones(2, 3)
    with pytest.raises(IndexError, match="expected broadcastable mask"):
        masked.sum(x, mask=ag.ones(1, 2, 3))
    with pytest.raises(RuntimeError, match="dim=1 appears multiple times"):
        masked.sum(x, (1, 1))
    with pytest.raises(IndexError, match=r"expected to be in range of \[-2, 1\], but got 2"):
        masked.sum(x, 2)
    with pytest.raises(ValueError, match=r"Could not infer output dtype. Input dtype must be either a floating point"):
        masked.mean(ag.ones(2, dtype=ag.int64))
    with pytest.raises(ValueError, match="no fully masked out rows if dtype is not floating point"):
        masked.median(ag.ones(2, dtype=ag.int64), mask=ag.tensor(False))
    with pytest.raises(NotImplementedError, match=r"identity of amax on torch.complex64 input"):
        masked.amax(x + 0j, mask=ag.tensor(True))
    with pytest.raises(AssertionError, match="Only one of unbiased and correction may be given"):
        masked.var(x, None, True, correction=1)
    with pytest.raises(TypeError, match=r"masked.sum\(\): argument 'input' \(position 1\) must be Tensor, not list"):
        masked.sum([1.0])
