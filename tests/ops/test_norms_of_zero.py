"""Second derivatives of f(norm(x)) where the norm is 0; NOTE [Norms of 0]."""

import pytest
from common import differs

import autograd_cy as torch
from autograd_cy import func

vector_norm = torch.linalg.vector_norm


def f64(*values):
    return torch.tensor(values, dtype=torch.float64)


@pytest.mark.parametrize("dims", [1, 2, 3])
@pytest.mark.parametrize("p", [1, 2, 3, 2.5])
def test_tangents_and_gradients_of_pooled_norms_of_zeros_are_zeros(dims, p):
    """PyTorch's tangent is NaN."""
    pool = getattr(torch.nn.functional, f"lp_pool{dims}d")
    x = torch.zeros(1, 2, *[4] * dims, dtype=torch.float64)
    x[0, 1, ..., -1] = 3.0
    y, t = func.jvp(lambda x: pool(x, p, 2), (x,), (torch.ones_like(x),))
    _, pull = func.vjp(lambda x: pool(x, p, 2), x)
    (g,) = pull(torch.ones_like(y))
    assert not t[0, 0].any() and not g[0, 0].any() and bool(t.isfinite().all())
    assert g[0, 1].any() and torch.allclose((g * torch.ones_like(x)).sum(), t.sum())


# f, its second derivative at 0
FUNCTIONS = {
    "square": (lambda n: n**2, 2.0),
    "log1p": (lambda n: (n**2).log1p(), 2.0),
    "exp": (lambda n: (n**2).exp(), 2.0),
    "cosh": (lambda n: n.cosh(), 1.0),
    "huber": (lambda n: torch.nn.functional.huber_loss(n, torch.zeros_like(n)), 1.0),
    "twice": (lambda n: n**2 + (n * 3) ** 2, 20.0),
    "fourth power": (lambda n: n**4, 0.0),
    "the norm": (lambda n: n * 2, 0.0),  # no derivative at 0: that of the zero function
    "infinite": (lambda n: n**1.5, 0.0),
}


def by_double_backward(f):
    def second(x):
        x = x.detach().requires_grad_()
        (g,) = torch.autograd.grad(f(x), x, create_graph=True)
        return torch.stack([torch.autograd.grad(g[i], x, retain_graph=True)[0] for i in range(len(x))])

    return second


WAYS = {
    "hessian": func.hessian,
    "reverse twice": lambda f: func.jacrev(func.jacrev(f)),
    "double backward": by_double_backward,
    "jvp of grad": lambda f: lambda x: torch.stack([func.jvp(func.grad(f), (x,), (e,))[1] for e in torch.eye(3).double()]),
    "within vmap": lambda f: lambda x: func.vmap(func.hessian(f))(torch.stack([x + 1, x]))[1],
}


@differs("the second derivative of f(`norm(x)`)", "0 or NaN")
@pytest.mark.parametrize("name", FUNCTIONS)
@pytest.mark.parametrize("way", WAYS)
def test_second_derivative(way, name):
    f, expected = FUNCTIONS[name]
    found = WAYS[way](lambda x: f(vector_norm(x)))(f64(0.0, 0.0, 0.0))
    assert found.tolist() == (torch.eye(3) * expected).tolist()


@differs("the second derivative of f(`norm(x)`)", "0 or NaN")
@pytest.mark.parametrize("way", WAYS)
def test_only_some_rows_are_zero(way):
    def f(x):
        return (vector_norm(torch.stack([x, x + 1, -x]), dim=1) ** 2).sum()

    found = WAYS[way](f)(f64(0.0, 0.0, 0.0))
    torch.testing.assert_close(found, torch.eye(3).double() * 6)


@differs("the second derivative of f(`norm(x)`)", "0 or NaN")
@pytest.mark.parametrize("way", WAYS)
def test_what_is_made_of_norms(way):
    zero = f64(0.0, 0.0, 0.0)
    distance = torch.nn.functional.pairwise_distance
    for f in (lambda x: torch.linalg.matrix_norm(x[None]) ** 2, lambda x: distance(x, zero, eps=0.0) ** 2,
              lambda x: torch.norm(torch.complex(x, 0 * x)) ** 2, lambda x: (torch.hypot(x, 0 * x) ** 2).sum(),
              lambda x: (torch.hypot(zero[:1], x) ** 2).sum()):
        assert WAYS[way](f)(zero).tolist() == (torch.eye(3) * 2).tolist()


@differs("the second derivative of f(`norm(x)`)", "0 or NaN")
@pytest.mark.parametrize("mode", ["use_mm_for_euclid_dist", "donot_use_mm_for_euclid_dist"])
@pytest.mark.parametrize("way", WAYS)
def test_distances_of_equal_rows(way, mode):
    def f(x):
        others = torch.stack([x.detach(), x.detach() + 1])
        return (torch.cdist(x[None], others, compute_mode=mode) ** 2 * f64(1.0, 3.0)).sum()

    torch.testing.assert_close(WAYS[way](f)(f64(0.5, -1.0, 2.0)), torch.eye(3).double() * 8)


@differs("the second derivative of f(`norm(x)`)", "0 or NaN")
@pytest.mark.parametrize("way", WAYS)
def test_distances_between_the_rows_of_one_matrix(way):
    """Those of a row from itself are 0 wherever it is."""
    def f(x):
        rows = torch.stack([x, -x])
        return (torch.cdist(rows, rows) ** 2).sum()

    torch.testing.assert_close(WAYS[way](f)(f64(0.5, -1.0, 2.0)), torch.eye(3).double() * 16)


@differs("the second derivative of f(`norm(x)`)", "0 or NaN")
@pytest.mark.parametrize("f", [torch.std, lambda x: torch.std_mean(x)[0]], ids=["std", "std_mean"])
@pytest.mark.parametrize("way", WAYS)
def test_deviations_of_equal_elements(way, f):
    """The square is the variance."""
    found = WAYS[way](lambda x: f(x) ** 2)(f64(1.0, 1.0, 1.0))
    torch.testing.assert_close(found, torch.eye(3).double() - 1 / 3)


@differs("the second derivative of f(`norm(x)`)", "0 or NaN")
@pytest.mark.parametrize(("power", "expected"), [(2, [0, 0, 2, 0]), (3, [0, 0, 0]), (4, [0, 0, 0, 0])])
def test_derivatives_up_to_the_third(power, expected):
    f, found = lambda t: vector_norm(t[None]) ** power, []
    for _ in expected:
        found.append(f(f64(0.0)[0]).item())
        f = func.grad(f)
    assert found == pytest.approx(expected)


def test_the_first_derivative_stays_zero():
    x = f64(0.0, 0.0).requires_grad_()
    for f in (lambda n: n, lambda n: n**2, lambda n: n**1.5):
        assert torch.autograd.grad(f(vector_norm(x)), x, create_graph=True)[0].tolist() == [0, 0]


def test_gradients_within_a_dual_level_are_not_recorded_for_others_to_see():
    fwd = torch.autograd.forward_ad
    x = f64(0.0, 0.0).requires_grad_()
    with fwd.dual_level():
        dual = fwd.make_dual(x, f64(1.0, 2.0))
        (g,) = torch.autograd.grad(vector_norm(dual) ** 2, dual)
        tangent = fwd.unpack_dual(g).tangent
        assert not g.requires_grad and not tangent.requires_grad
    assert tangent.tolist() == ([2, 4] if torch.__name__ == "autograd_cy" else [0, 0])
