"""fixed_point(): derivatives of a solution by its equation, against those of the steps that lead to it."""

import numpy as np
import pytest

import autograd_cy as ag
from autograd_cy.func import fixed_point, grad, hessian, jacfwd, jacrev, jvp, vmap

double = ag.float64
A = ag.tensor(np.random.default_rng(0).standard_normal((3, 3)) * 0.4)
B = {"c": ag.tensor([0.1, -0.2, 0.3], dtype=double)}
START = ag.zeros(3, dtype=double)
SCALES = ag.tensor([1.0, 0.5, 0.2], dtype=double)

solvers = pytest.mark.parametrize("solver", ["iteration", "newton", "own"])


def equation(x, a, b):
    return (a @ x).tanh() * 0.5 + b["c"]


def steps(step, x):
    """A solver of one's own: so many steps."""
    for _ in range(100):
        x = step(x)
    return x


def solution(solver):
    return lambda a, b: fixed_point(equation, START, a, b, solver=steps if solver == "own" else solver)


def unrolled(a, b):
    return steps(lambda x: equation(x, a, b), START)


DERIVATIVES = {
    "value": lambda f: f(A, B),
    "jacrev": lambda f: jacrev(f)(A, B),
    "jacfwd": lambda f: jacfwd(f)(A, B),
    "by what is nested": lambda f: jacrev(f, 1)(A, B)["c"],
    "hessian": lambda f: hessian(lambda a: (f(a, B) ** 3).sum())(A),
    "jacrev of jacrev": lambda f: jacrev(jacrev(lambda c: f(A, {"c": c})))(B["c"]),
    "jacfwd of jacfwd": lambda f: jacfwd(jacfwd(lambda c: f(A, {"c": c})))(B["c"]),
    "jacrev of jacfwd": lambda f: jacrev(jacfwd(lambda c: f(A, {"c": c})))(B["c"]),
    "third": lambda f: grad(grad(grad(lambda s: f(A * s, B).sum())))(ag.ones((), dtype=double)),
    "vmap": lambda f: vmap(lambda s: f(A * s, B))(SCALES),
    "vmap of grad": lambda f: vmap(grad(lambda s: f(A * s, B).sum()))(SCALES),
    "vmap of jvp": lambda f: vmap(lambda s, t: jvp(lambda s: f(A * s, B), (s,), (t,))[1])(SCALES, SCALES),
    "grad of vmap": lambda f: grad(lambda s: vmap(lambda s: f(A * s, B))(s).sum())(SCALES),
}


@solvers
@pytest.mark.parametrize("name", DERIVATIVES)
def test_derivatives_are_those_of_the_steps(solver, name):
    derivative = DERIVATIVES[name]
    np.testing.assert_allclose(derivative(solution(solver)).numpy(), derivative(unrolled).numpy(), rtol=1e-9, atol=1e-12)


@solvers
def test_gradcheck(solver):
    inputs = (A.clone().requires_grad_(), B["c"].clone().requires_grad_())

    def f(a, c):
        return solution(solver)(a, {"c": c})

    assert ag.autograd.gradcheck(
        f, inputs, check_forward_ad=True, check_batched_grad=True, check_batched_forward_grad=True
    )
    assert ag.autograd.gradgradcheck(f, inputs)


def test_newton_solves_what_iteration_does_not():
    a = ag.tensor(3.0, dtype=double, requires_grad=True)
    x = fixed_point(lambda x, a: x + x * x - a, ag.ones((), dtype=double), a, solver="newton")
    x.backward()
    assert x.item() == pytest.approx(3**0.5, rel=1e-14) and a.grad.item() == pytest.approx(0.5 / 3**0.5, rel=1e-12)
    with pytest.raises(RuntimeError, match="not converged after 1000 steps"):
        fixed_point(lambda x, a: x * 2 + a, ag.ones((), dtype=double), a)


def test_numbers_and_integers_among_the_arguments():
    order = ag.tensor([2, 0, 1])
    a = ag.tensor([1.0, 2.0, 3.0], requires_grad=True)
    x = fixed_point(lambda x, a, order, half: half * x[order] + a, ag.zeros(3), a, order, 0.5, tol=1e-7)
    x.sum().backward()
    np.testing.assert_allclose(a.grad.numpy(), 2.0, rtol=1e-6)


def test_the_start_has_no_gradient():
    start = ag.ones(3, dtype=double, requires_grad=True)
    a = ag.ones(3, dtype=double, requires_grad=True)
    fixed_point(lambda x, a: x / 2 + a, start, a).sum().backward()
    assert start.grad is None and start.tolist() == [1.0] * 3
    same = fixed_point(lambda x: x, start)
    assert same is not start and same.data_ptr() != start.data_ptr()


W = ag.ones(3, dtype=double, requires_grad=True)
REFUSED = {
    "a tensor around": (lambda: fixed_point(lambda x: x * 0.5 + W, START), RuntimeError, "not among its arguments"),
    "another shape": (lambda: fixed_point(lambda x: x[:2], START), RuntimeError, r"of shape \[3\] .* got \[2\]"),
    "another type": (lambda: fixed_point(lambda x: x.float(), START), RuntimeError, "got .* of torch.float32"),
    "no tensor": (lambda: fixed_point(lambda x: 3, START), RuntimeError, "got int"),
    "no start": (lambda: fixed_point(lambda x: x, 3.0), TypeError, "x0 must be a Tensor"),
    "integers": (lambda: fixed_point(lambda x: x, ag.ones(3).long()), TypeError, "x0 must be a Tensor"),
    "solver": (lambda: fixed_point(lambda x: x, START, solver="q"), ValueError, "solver must be"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_what_is_refused(case):
    call, error, message = REFUSED[case]
    with pytest.raises(error, match=message):
        call()
