"""Functions that read values under transforms: what isn't batched keeps its value, with batched tangents or gradients."""

import numpy as np
import pytest

import autograd_cy as ag
from autograd_cy.autograd import forward_ad, functional, gradcheck
from autograd_cy.func import grad, hessian, jacfwd, jacrev, jvp, vjp, vmap

X = ag.tensor([1.5, 2.5, 0.5], dtype=ag.float64)
A = ag.tensor([[1.0, 2.0, 3.0], [4.0, 5.0, 6.5], [7.0, 8.0, 10.0]], dtype=ag.float64)


def same(found, expected):
    np.testing.assert_allclose(found.detach().numpy(), expected.detach().numpy(), rtol=1e-10, atol=1e-12)


def square(x):
    return x * x * x.sum()


def branching(x):
    return square(x) if (x > 0).all() else x


def root(x):
    y = x * 0 + 1.0
    while float((y * y - x).detach().abs().max()) > 1e-12:
        y = y - (y * y - x) / (2 * y)
    return y


def written(x):
    total = ag.zeros(3, 3, dtype=ag.float64)
    for i in range(3):
        total[i] = x * x[i]
    total.t()[0].add_(x)
    return total @ x


VALUES = {
    "a branch": (branching, square),
    "item": (lambda x: x * x[0].detach().item(), lambda x: x * 1.5),
    "float": (lambda x: x * float(x[0].detach()), lambda x: x * 1.5),
    "a mask": (lambda x: x[x > 1] ** 2, lambda x: x[:2] ** 2),
    "indices of elements": (lambda x: x[x.nonzero().squeeze(-1)] ** 2, lambda x: x**2),
    "an iteration with a tolerance": (root, lambda x: x.sqrt()),
    "writes into a tensor without a tangent": (written, lambda x: ag.outer(x, x) @ x + x * x[0]),
}


@pytest.mark.parametrize("name", VALUES)
def test_values_are_read_under_forward_jacobians(name):
    reads, plain = VALUES[name]
    expected, second = jacrev(plain)(X), jacrev(jacrev(plain))(X)
    same(jacfwd(reads)(X), expected)
    same(functional.jacobian(reads, X, vectorize=True, strategy="forward-mode"), expected)
    if name in ("item", "float"):  # the second derivative is of the detached value, too
        return
    for twice in (jacfwd(jacfwd(reads)), jacfwd(jacrev(reads)), jacrev(jacfwd(reads))):
        same(twice(X), second)
    same(hessian(lambda x: reads(x).sum())(X), second.sum(0))
    leaf = X.clone().requires_grad_()
    assert gradcheck(reads, (leaf,), check_forward_ad=True, check_batched_forward_grad=True, check_batched_grad=True)


def test_hessians_through_distributions():
    """Their arguments are checked, which reads them."""

    def density(v):
        return ag.distributions.Normal(v[0], v[1]).log_prob(v[2])

    def formula(v):
        return -(((v[2] - v[0]) / v[1]) ** 2) / 2 - v[1].log()

    same(hessian(density)(X), jacrev(jacrev(formula))(X))
    found = functional.hessian(density, X, vectorize=True, outer_jacobian_strategy="forward-mode")
    same(found, jacrev(jacrev(formula))(X))


def loop(function):
    return ag.stack([function(row) for row in A])


def test_what_is_the_same_for_all_samples_is_not_batched():
    """Its gradient and tangent are: each sample has its own."""
    products = {
        "tangents": lambda t: jvp(branching, (X,), (t,))[1],
        "tangents of a gradient": lambda t: jvp(grad(lambda x: branching(x).sum()), (X,), (t,))[1],
        "gradients of a tangent": lambda t: grad(lambda x: jvp(lambda z: branching(z).sum(), (x,), (t,))[1])(X),
        "gradients": lambda c: grad(lambda x: (branching(x) * c).sum())(X),
        "gradients of gradients": lambda c: grad(lambda y: grad(lambda x: (branching(x) * c * y).sum())(y).sum())(X),
        "a Jacobian": lambda c: jacfwd(lambda x: branching(x) * c)(X),
        "tangents and values": lambda c: jvp(lambda x: branching(x) * c, (X,), (c,))[1],
    }
    for function in products.values():
        same(vmap(function)(A), loop(function))
    both = vmap(grad(lambda a, w: ((a * w) ** 3).sum() if (w > 0).all() else None, argnums=(0, 1)), in_dims=(0, None))
    same(both(A, X)[1], loop(lambda a: grad(lambda w: ((a * w) ** 3).sum())(X)))


def test_gradients_within_vmap_reach_leaves_outside():
    """The gradient of each sample is summed once vmap has ended."""
    w = X.clone().requires_grad_()
    vmap(lambda a: grad(lambda v: ((a * v) ** 3).sum())(w))(A).sum().backward()
    v = X.clone().requires_grad_()
    (3 * (A**3) * v**2).sum().backward()
    same(w.grad, v.grad)


@pytest.mark.parametrize(
    ("name", "write"),
    [
        ("index_put_", lambda q, c: q.__setitem__(c > 0, 0.5)),
        ("inplace arithmetic", lambda q, c: q.__setitem__(0, c[0])),
        ("inplace arithmetic", lambda q, c: q.__iadd__(c)),
        ("scatter_", lambda q, c: q.scatter_(0, c.long() * 0, c)),
    ],
)
def test_samples_are_not_written_into_what_is_the_same_for_all(name, write):
    def function(c, q):
        q = q * 1
        write(q, c)
        return (q * c).sum()

    with pytest.raises(RuntimeError, match=rf"vmap: {name}\(self, \*extra_args\) is not possible"):
        vmap(grad(function, argnums=(0, 1)), in_dims=(0, None))(A, X)


TANGENTS = {
    "of the argument": lambda w, x: w * w * x,
    "of what is computed with a tangent": lambda w, x: (w * x).sum() * w,
    "of a tangent's level within": lambda w, x: jvp(lambda z: z * x * w, (w,), (w,))[1],
}


@pytest.mark.parametrize("name", TANGENTS)
def test_a_tangent_of_samples_is_refused_where_its_gradient_would_be_a_sum(name):
    """An argument that isn't batched was used in place of its samples: the gradient of the tangent was summed over them."""

    def slope(transform, start):
        def of_sample(t, primal=X):
            with forward_ad.dual_level():
                x = forward_ad.make_dual(primal, t)
                return transform(lambda w: forward_ad.unpack_dual(TANGENTS[name](w, x)).tangent)(start(x))

        return of_sample

    for transform in (lambda f: grad(lambda w: f(w).sum()), jacrev, lambda f: lambda w: vjp(f, w)[1](X)[0]):
        for start in (lambda x: x, lambda x: X):
            loop(slope(transform, start))
            with pytest.raises(RuntimeError, match=r"unpack_dual\(\): the tangent has samples, and depends on an argument"):
                vmap(slope(transform, start))(A)
        mapped = slope(transform, lambda x: x)
        same(vmap(mapped)(A, X.expand(3, 3)), loop(mapped))


def test_tangents_of_samples_are_taken_within_transforms_that_do_not_differentiate_by_them():
    leaf = X.clone().requires_grad_()

    def of_sample(t):
        with forward_ad.dual_level():
            x = forward_ad.make_dual(leaf * 1, t)
            return grad(lambda w: (forward_ad.unpack_dual(x * x).tangent * w).sum())(X)

    same(vmap(of_sample)(A), loop(of_sample))


class Doubled(ag.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.mark_dirty(x)
        return x.mul_(2)

    @staticmethod
    def jvp(ctx, t):
        return t.mul_(2)


class Column(ag.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return x.view(3, 1)

    @staticmethod
    def jvp(ctx, t):
        return t.view(3, 1)


class Same(ag.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return x

    @staticmethod
    def jvp(ctx, t):
        return t.view_as(t)


@pytest.mark.parametrize("function", [Doubled, Column, Same])
def test_functions_whose_outputs_share_the_inputs_memory(function):
    """Their tangents have to be written, or be views, which a batched tangent did not show."""
    factor, shape = 2 if function is Doubled else 1, (3, 1) if function is Column else (3,)
    same(jacfwd(lambda x: function.apply(x * 1).reshape(3) * x)(X), (2 * factor * X).diag())
    with pytest.raises(RuntimeError, match="custom Function"):
        jacfwd(lambda x: type("Wrong", (function,), {"jvp": lambda ctx, t: (t * 1).reshape(shape)}).apply(x * 1))(X)


def test_new_strided_tensors_hold_all_samples():
    """new_empty_strided() was one tensor for all samples, which refused each sample's values."""
    def copied(x):
        return x.new_empty_strided((2, 3), (1, 2)).copy_(x)

    x = ag.rand(4, 2, 3)
    y = ag.vmap(copied)(x)
    assert y.equal(x) and y.stride() == (6, 1, 2)
    assert ag.vmap(ag.vmap(copied))(x[None]).stride() == (24, 6, 1, 2)
    assert ag.vmap(lambda x: x.new_empty_strided((2, 0), (1, 1)))(x).shape == (4, 2, 0)
