"""Steps with differentiable=True: the numbers of other steps, and gradients through them."""

import numpy as np
import pytest
from optim_rows import DIFFERENTIABLE as EVERY

import autograd_cy as ag
from autograd_cy.testing import check_gradients

START, AIM = [0.7, -1.2, 0.4], [0.3, 0.5, -0.9]


def inner_loss(w, aim):
    return ((w - aim) ** 2 * (1 + w**2)).sum()


def recorded_slope(lib, w, aim):
    return lib.autograd.grad(inner_loss(w.clone(), aim), w, create_graph=True)[0]  # a clone: the step writes w


def slope(lib, w, aim):
    """The same by its formula, where nothing is recorded, too."""
    w = w.clone()
    return 2 * (w - aim) * (1 + w**2) + (w - aim) ** 2 * 2 * w


def adapted(lib, name, options, start, aim, steps=2, slope=slope, **more):
    """The parameter after steps whose gradients are functions of it and of the aim."""
    w = start.clone()
    optimizer = getattr(lib.optim, name)([w], **{"lr": 0.1} | options | more, differentiable=True)
    for _ in range(steps):
        w.grad = slope(lib, w, aim)
        optimizer.step()
    return w


def inputs(lib):
    return [lib.tensor(x, dtype=lib.float64, requires_grad=True) for x in (START, AIM)]


@pytest.mark.parametrize(("name", "options"), EVERY)
def test_gradients_through_two_steps_are_finite_differences(name, options):
    check_gradients(lambda start, aim: adapted(ag, name, options, start, aim), *inputs(ag))


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(("name", "options"), [(n, o) for n, o in EVERY if not o.get("momentum") or n != "SGD"])
def test_gradients_through_steps_are_those_of_pytorch(name, options):
    """Not with the first average of SGD, which PyTorch detaches from its gradient: finite differences are the judge above.

    PyTorch writes what the steps before have saved where there is a maximum, a sign or a mean to be squared: one step there.
    """
    torch = pytest.importorskip("torch")
    steps = 1 if name in ("Adamax", "Rprop") or options.get("amsgrad") or options.get("centered") else 3
    results = []
    for lib in (ag, torch):
        start, aim = inputs(lib)
        w = adapted(lib, name, options, start, aim, steps, recorded_slope)
        results.append([w, *lib.autograd.grad(inner_loss(w, 1.0), (start, aim))])
    limit = 1e-4 if name in ("Adam", "AdamW", "NAdam", "ASGD") else 1e-10  # of which PyTorch has numbers in float32
    for ours, theirs in zip(*results, strict=True):
        np.testing.assert_allclose(ours.detach().numpy(), theirs.detach().numpy(), rtol=limit, atol=limit)


@pytest.mark.parametrize("dtype", ["float32", "float64", "complex128"])
@pytest.mark.parametrize(("name", "options"), EVERY)
def test_recorded_steps_are_the_others(name, options, dtype):
    """The same parameters and state as without, state dicts included."""
    rng = np.random.default_rng(0)
    draw = lambda: rng.standard_normal(5) + (1j * rng.standard_normal(5) if "complex" in dtype else 0)  # noqa: E731
    start, gradients = draw().astype(dtype), [draw().astype(dtype) for _ in range(4)]
    made = []
    for differentiable in (True, False):
        w = ag.from_numpy(start.copy()).requires_grad_(not differentiable)
        optimizer = getattr(ag.optim, name)([w], **{"lr": 0.1} | options, differentiable=differentiable)
        for g in gradients:
            w.grad = ag.from_numpy(g.copy())
            optimizer.step()
        made.append((w, optimizer.state_dict()["state"].get(0, {})))
    (ours, kept), (plain, expected) = made
    limit = 1e-5 if dtype == "float32" else 1e-12
    np.testing.assert_allclose(ours.numpy(), plain.detach().numpy(), rtol=limit, atol=limit)
    assert set(kept) == set(expected)
    for key, value in expected.items():
        assert kept[key].dtype == value.dtype and kept[key].shape == value.shape
        np.testing.assert_allclose(kept[key].detach().numpy(), value.numpy(), rtol=limit, atol=limit)


@pytest.mark.parametrize("name", ["SGD", "Adam", "RMSprop", "Adagrad", "Adadelta", "RAdam", "NAdam", "Adamax"])
def test_gradients_by_the_learning_rate(name):
    start, aim = (x.detach() for x in inputs(ag))
    rate = ag.tensor(0.1, dtype=ag.float64, requires_grad=True)
    check_gradients(lambda lr: adapted(ag, name, {}, start.clone().requires_grad_(), aim, lr=lr), rate)


def test_gradients_by_betas_and_weight_decay():
    start, aim = (x.detach() for x in inputs(ag))

    def trained(first, second, decay):
        w = start.clone().requires_grad_()
        return adapted(ag, "Adam", {}, w, aim, betas=(first, second), weight_decay=decay)

    check_gradients(trained, *(ag.tensor(x, dtype=ag.float64, requires_grad=True) for x in (0.8, 0.9, 0.3)))


def test_a_leaf_is_refused_and_nothing_is_kept():
    w = ag.ones(2, requires_grad=True)
    w.grad = ag.ones(2)
    optimizer = ag.optim.Adam([w], differentiable=True)
    with pytest.raises(RuntimeError, match="a leaf Variable that requires grad is being used in an in-place operation"):
        optimizer.step()
    assert w.tolist() == [1, 1] and not optimizer.state[w]


def test_a_gradient_that_does_not_fit_is_refused_before_anything_is_written():
    a, b = ag.ones(2), ag.ones(2)
    a.grad, b.grad = ag.ones(2), ag.ones(2)
    b.data = ag.ones(3)
    optimizer = ag.optim.SGD([a, b], differentiable=True)
    with pytest.raises(RuntimeError, match=r"SGD.step\(\): expected a gradient"):
        optimizer.step()
    assert a.tolist() == [1, 1]


def test_old_state_stays_what_it_was():
    """A recorded step replaces what is kept: another step's graph has saved it."""
    w = ag.ones(2)
    optimizer = ag.optim.Adam([w], differentiable=True)
    w.grad = ag.ones(2)
    optimizer.step()
    before = optimizer.state[w]["exp_avg"]
    numbers = before.tolist()
    optimizer.step()
    assert before.tolist() == numbers and optimizer.state[w]["exp_avg"] is not before


@pytest.mark.parametrize("decoupled", [False, True])
def test_gradients_by_a_number_of_the_state(decoupled):
    # NAdam's product of momenta was read as a number, through which nothing flows
    def step(w, g, product, mean, square):
        w = w.clone()
        w.grad = g
        optimizer = ag.optim.NAdam([w], lr=0.9, weight_decay=0.1, decoupled_weight_decay=decoupled, differentiable=True)
        state = {"step": ag.tensor(10.0, dtype=ag.float64), "mu_product": product, "exp_avg": mean, "exp_avg_sq": square}
        optimizer.state[w].update({name: x.clone() for name, x in state.items()})
        optimizer.step()
        assert optimizer.state[w]["step"] == 11
        return w, optimizer.state[w]["mu_product"], optimizer.state[w]["exp_avg"]

    values = (START, AIM, 0.8, [0.2, 0.1, -0.3], [0.5, 0.6, 0.7])
    xs = [ag.tensor(x, dtype=ag.float64, requires_grad=True) for x in values]
    assert ag.autograd.gradcheck(step, xs, check_forward_ad=True) and ag.autograd.gradgradcheck(step, xs)
