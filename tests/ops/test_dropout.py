"""Dropout: what is dropped, how often, that it can be repeated, and that backward drops the same."""

import numpy as np
import pytest

import autograd_cy as ag
from autograd_cy._core.parallel.threads import set_threshold
from autograd_cy.nn import functional as F

ROUNDS = 40_000


@pytest.mark.parametrize("p", [0.1, 0.5, 0.75, 0.999])
@pytest.mark.parametrize("dtype", [ag.float16, ag.float32, ag.float64])
def test_how_many_are_dropped(p, dtype):
    y = F.dropout(ag.ones(ROUNDS, dtype=dtype), p).numpy()
    dropped = np.mean(y == 0)
    assert abs(dropped - p) < 5 * np.sqrt(p * (1 - p) / ROUNDS)
    assert np.allclose(y[y != 0], 1 / (1 - p), rtol=1e-3)


def test_neighbours_and_calls_are_independent():
    """The correlation of each pair of columns, of each element with the next, and with itself in another call."""
    kept = np.array([F.dropout(ag.ones(256), 0.5).numpy() for _ in range(400)]) / 2
    columns = np.corrcoef(kept.T)[np.triu_indices(256, 1)]
    assert abs(columns).max() < 0.3 and abs(columns.mean()) < 0.01
    for a, b in ((kept[:, 1:], kept[:, :-1]), (kept[1:], kept[:-1])):
        assert abs(np.corrcoef(a.ravel(), b.ravel())[0, 1]) < 0.02


def test_the_seed_repeats_it_and_the_state_goes_on():
    ag.manual_seed(3)
    first, second = F.dropout(ag.ones(100)), F.dropout(ag.ones(100))
    ag.manual_seed(3)
    assert (F.dropout(ag.ones(100)) == first).all() and (first != second).any()
    state = ag.get_rng_state()
    again = F.dropout(ag.ones(100))
    ag.set_rng_state(state)
    assert (F.dropout(ag.ones(100)) == again).all() and (again == second).all()


@pytest.mark.parametrize("layout", [lambda x: x, lambda x: x.t(), lambda x: x[:, ::2]], ids=["dense", "t", "spaced"])
def test_backward_drops_the_same(layout):
    x = ag.rand(6, 8).add(1).requires_grad_()
    z = layout(x)
    y = F.dropout(z, 0.4)
    (grad,) = ag.autograd.grad(y.sum(), z)
    assert ((y == 0) == (grad == 0)).all() and ag.allclose(y, z * grad)
    assert y.stride() == (z * 1).stride()


def test_second_order_forward_mode_and_batches_of_gradients():
    x = ag.rand(5, dtype=ag.float64).requires_grad_()
    y = F.dropout(x, 0.5)
    (grad,) = ag.autograd.grad((y**2).sum(), x, create_graph=True)
    (second,) = ag.autograd.grad(grad.sum(), x)
    factor = y.detach() / x.detach()
    assert ag.allclose(second, 2 * factor**2)
    (rows,) = ag.autograd.grad(y, x, ag.eye(5, dtype=ag.float64), is_grads_batched=True)
    assert ag.allclose(rows, factor.diag())
    ag.manual_seed(1)
    value, tangent = ag.func.jvp(lambda t: F.dropout(t, 0.5), (ag.ones(8),), (ag.full((8,), 3.0),))
    assert ag.allclose(tangent, 3 * value)


def test_vmap_draws_as_randomness_says():
    x = ag.ones(4, 64)
    different = ag.vmap(lambda t: F.dropout(t, 0.5), randomness="different")(x)
    same = ag.vmap(lambda t: F.dropout(t, 0.5), randomness="same")(x)
    assert (different[0] != different[1]).any() and (same == same[0]).all()
    with pytest.raises(RuntimeError, match="randomness error mode"):
        ag.vmap(lambda t: F.dropout(t, 0.5))(x)


def test_without_training_it_is_the_input_itself():
    x = ag.ones(3)
    assert F.dropout(x, training=False) is x and F.dropout(x, 0.0) is x and ag.dropout(x, 0.5, False) is x
    assert (F.dropout(x, 1.0) == 0).all()


def test_in_place():
    x = ag.ones(1000)
    assert F.dropout(x, 0.5, True, True) is x and set(x.unique().tolist()) == {0.0, 2.0}
    assert ag.dropout_(x, 0.5, False) is x
    assert F.dropout(x, 0.5, False, inplace=True) is x
    with pytest.raises(RuntimeError, match="leaf Variable"):
        F.dropout(ag.ones(3, requires_grad=True), 0.5, True, True)


@pytest.mark.parametrize(
    "function", [F.dropout, F.dropout1d, F.dropout2d, F.dropout3d, F.alpha_dropout, F.feature_alpha_dropout]
)
@pytest.mark.parametrize("p", [-0.1, 1.5, float("nan")])
def test_what_is_no_probability_is_refused(function, p):
    with pytest.raises((ValueError, RuntimeError), match="between 0 and 1"):
        function(ag.ones(2, 2, 2), p, True)


def test_alpha_dropout_keeps_mean_and_variance():
    y = F.alpha_dropout(ag.randn(ROUNDS, dtype=ag.float64), 0.3, True)
    assert abs(y.mean()) < 0.05 and abs(y.var() - 1) < 0.1


@pytest.mark.parametrize("dtype", [ag.float32, ag.float64])
def test_any_number_of_threads_gives_the_same(dtype):
    before = ag.get_num_threads()
    found = []
    for threads, shared in ((1, None), (4, 64)):
        old = set_threshold("shared_work", shared)
        ag.set_num_threads(threads)
        ag.manual_seed(5)
        found.append(F.dropout(ag.ones(10_000, dtype=dtype), 0.5).numpy())
        ag.set_num_threads(before)
        set_threshold("shared_work", old)
    assert (found[0] == found[1]).all()
