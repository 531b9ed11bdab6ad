"""Orthogonal initial values, whichever way they are computed."""

import math

import numpy as np
import pytest

import autograd_cy as ag


@pytest.mark.parametrize("shape", [(300, 40), (40, 300), (40, 10, 3, 10), (33, 132), (132, 33)], ids=str)
@pytest.mark.parametrize("dtype", [ag.float32, ag.float64])
def test_orthogonal_matrices_come_from_the_numbers_that_are_drawn(shape, dtype):
    """However they are computed, they are the Q of these numbers with a positive diagonal of R."""
    ag.manual_seed(3)
    rows, columns = shape[0], math.prod(shape[1:])
    drawn = ag.empty(rows, columns, dtype=dtype).normal_()
    q, r = np.linalg.qr((drawn.T if rows < columns else drawn).numpy().astype(np.float64))
    q *= np.sign(r.diagonal())
    ag.manual_seed(3)
    made = ag.nn.init.orthogonal_(ag.empty(*shape, dtype=dtype), 2).numpy().reshape(rows, columns)
    np.testing.assert_allclose(made, 2 * (q.T if rows < columns else q), rtol=0, atol=1e-6 if dtype is ag.float32 else 1e-12)


def test_orthonormal_columns_of_a_nearly_singular_matrix():
    """The Cholesky factor of the products is useless there: two columns differ by 1e-9."""
    matrix = ag.randn(200, 40, dtype=ag.float64)
    matrix[:, 1] = matrix[:, 0] + 1e-9 * matrix[:, 1]
    q = ag.nn.init._orthonormal(matrix)
    assert (q.T @ q - ag.eye(40, dtype=ag.float64)).abs().max() < 1e-12
