"""Decompositions by random projections: exact where the rank is as low as was said."""

import numpy as np
import pytest

import autograd_cy as ag
from autograd_cy.testing import check_gradients


@pytest.fixture
def factors():
    rng = np.random.default_rng(3)
    return [ag.from_numpy(rng.normal(size=(2, n, 2))) for n in (5, 4)]


@pytest.mark.parametrize("wide", [False, True])
@pytest.mark.parametrize("is_complex", [False, True])
def test_matrices_of_low_rank_are_found_again(factors, wide, is_complex):
    A = factors[wide] @ factors[1 - wide].mH
    A = A * (1 + 2j) if is_complex else A
    U, S, V = ag.svd_lowrank(A, q=2)
    np.testing.assert_allclose((U * S.unsqueeze(-2) @ V.mH).numpy(), A.numpy(), atol=1e-10)
    np.testing.assert_allclose(S.numpy(), ag.linalg.svdvals(A)[..., :2].numpy())


def test_a_mean_may_be_subtracted(factors):
    A = factors[0] @ factors[1].mH
    M = A.mean(-2, True)
    for found in (ag.svd_lowrank(A, 2, M=M), ag.pca_lowrank(A, 2)):
        np.testing.assert_allclose(found[1].numpy(), ag.linalg.svdvals(A - M)[..., :2].numpy(), atol=1e-10)
    assert ag.pca_lowrank(A)[1].shape == (2, 4)
    np.testing.assert_allclose(ag.pca_lowrank(A, 2, center=False)[1].numpy(), ag.linalg.svdvals(A)[..., :2].numpy())


def test_derivatives_are_right(factors):
    def singular_values(a, b):
        ag.manual_seed(0)
        return ag.svd_lowrank(a @ b.mH, q=2)[1]

    check_gradients(singular_values, *(t.requires_grad_() for t in factors))


def test_what_is_refused():
    with pytest.raises(ValueError, match=r"q\(=4\) must be non-negative integer and not greater than min\(m, n\)=3"):
        ag.pca_lowrank(ag.ones(3, 5), 4)
    with pytest.raises(ValueError, match=r"niter\(=-1\) must be non-negative integer"):
        ag.pca_lowrank(ag.ones(3, 5), niter=-1)
    with pytest.raises(ValueError, match="A must have at least 2 dimensions"):
        ag.svd_lowrank(ag.ones(3))
