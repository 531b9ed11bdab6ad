"""Functions of users within transforms: generated rules for vmap, rules of their own, and Functions made of transforms."""

import numpy as np
import pytest

import autograd_cy as ag
from autograd_cy.func import grad, hessian, jacfwd, jacrev, jvp, vjp, vmap

X = ag.tensor([[0.3, -1.2, 2.0], [1.1, 0.4, -0.7]], dtype=ag.float64)


def same(found, expected, tolerance=1e-6):
    assert found.shape == expected.shape
    np.testing.assert_allclose(found.detach().numpy(), expected.detach().numpy(), rtol=tolerance, atol=tolerance)


class Cube(ag.autograd.Function):
    """x ** 3 with all that a Function can have, and the generated rule."""

    generate_vmap_rule = True

    @staticmethod
    def forward(x, factor):
        return x**3 * factor, x.sgn()

    @staticmethod
    def setup_context(ctx, inputs, output):
        x, factor = inputs
        ctx.save_for_backward(x, factor)
        ctx.save_for_forward(x, factor)
        ctx.mark_non_differentiable(output[1])

    @staticmethod
    def backward(ctx, g, _):
        x, factor = ctx.saved_tensors
        return 3 * x * x * factor * g, (x**3 * g).sum()

    @staticmethod
    def jvp(ctx, t, t_factor):
        x, factor = ctx.saved_tensors
        moved = 0 if t is None else 3 * x * x * factor * t
        return moved if t_factor is None else moved + x**3 * t_factor, None


def cube(x, factor):
    return Cube.apply(x, factor)[0]


def test_a_function_with_a_generated_rule():
    factor = ag.tensor([2.0, 3.0], dtype=ag.float64)
    same(vmap(cube)(X, factor), X**3 * factor[:, None])
    same(vmap(cube, in_dims=(0, None))(X, factor[0]), X**3 * 2)
    found = vmap(grad(lambda x, k: cube(x, k).sum(), argnums=(0, 1)))(X, factor)
    same(found[0], 3 * X * X * factor[:, None])
    same(found[1], (X**3).sum(1))
    shared = grad(lambda k: vmap(cube, in_dims=(0, None))(X, k).sum())(factor[0])
    same(shared, (X**3).sum())
    same(vmap(lambda x, k: jvp(lambda v: cube(v, k), (x,), (x,))[1])(X, factor), 3 * X**3 * factor[:, None])


class Remembers(ag.autograd.Function):
    """Its ctx has tensors for attributes. They were those of a level that had been closed."""

    generate_vmap_rule = True

    @staticmethod
    def forward(x, k):
        return x**3 * k

    @staticmethod
    def setup_context(ctx, inputs, output):
        ctx.x, ctx.k = inputs

    @staticmethod
    def backward(ctx, g):
        with pytest.raises(AttributeError, match="ctx has no attribute 'other'"):
            ctx.other  # noqa: B018
        return 3 * ctx.x**2 * ctx.k * g, None


def test_attributes_of_a_ctx_within_a_generated_rule():
    same(vmap(grad(lambda x: Remembers.apply(x, 2).sum()))(X), 6 * X**2, 1e-12)
    same(vmap(vmap(grad(lambda x: Remembers.apply(x, 2))))(X), 6 * X**2, 1e-12)


class Scaled(ag.autograd.Function):
    """2 * x, with a rule of its own."""

    @staticmethod
    def forward(x):
        return x * 2

    @staticmethod
    def setup_context(ctx, inputs, output):
        pass

    @staticmethod
    def backward(ctx, g):
        return g * 2

    @staticmethod
    def vmap(info, in_dims, x):
        assert (info.batch_size, info.randomness, in_dims) == (2, "error", (0,))
        return Scaled.apply(x.t()), 1


def test_a_function_with_a_rule_of_its_own():
    same(vmap(Scaled.apply)(X), X * 2)
    same(vmap(grad(lambda x: (Scaled.apply(x) ** 2).sum()))(X), 8 * X)


def test_functions_that_vmap_refuses():
    class Old(ag.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x

    class Bare(ag.autograd.Function):
        @staticmethod
        def forward(x):
            return x

        @staticmethod
        def setup_context(ctx, inputs, output):
            pass

    class Both(Scaled):
        generate_vmap_rule = True

    class One(Scaled):
        vmap = staticmethod(lambda info, in_dims, x: x)

    class Unfit(Scaled):
        vmap = staticmethod(lambda info, in_dims, x: ((x, x), [0, 0]))

    refusals = {Old: "must override the setup_context", Bare: "does not have vmap support", Both: "an overridden vmap"}
    refusals |= {One: "Got a <class .*Tensor'> instead", Unfit: r"Expected out_dims=\[0, 0\] to be compatible"}
    for function, message in refusals.items():
        with pytest.raises(RuntimeError, match=message):
            vmap(function.apply)(X)


class FirstOfList(ag.autograd.Function):
    """It takes tensors in containers, of which autograd sees nothing."""

    forward = staticmethod(lambda xs, factor: xs[0] * factor["by"])
    setup_context = staticmethod(lambda ctx, inputs, output: None)


@pytest.mark.parametrize("generated", [False, True])
def test_batched_tensors_in_containers_of_a_function(generated):
    """They were not looked for: the Function was called with tensors that stand for all samples."""
    seen = []

    class Own(FirstOfList):
        @staticmethod
        def vmap(info, in_dims, xs, factor):
            seen.append((info.batch_size, in_dims))
            by = factor["by"]
            return xs[0] * (by.reshape(2, 1, 1) if in_dims[0][0] is None else by), 0

    class Generated(FirstOfList):
        generate_vmap_rule = True

    function = Generated if generated else Own
    found = vmap(lambda x: function.apply([x, ag.ones(2)], {"by": 3.0}))(X)
    assert (found == X * 3).all()
    found = vmap(lambda k: function.apply([X], {"by": k}))(ag.tensor([2.0, 3.0]))
    assert (found == ag.stack([X * 2, X * 3])).all()
    assert seen == ([] if generated else [(len(X), ([0, None], {"by": None})), (2, ([None], {"by": 0}))])


class Cubed(ag.autograd.Function):
    """Its methods are themselves made of transforms."""

    generate_vmap_rule = True

    @staticmethod
    def forward(x):
        return grad(lambda x: (x**4).sum() / 4)(x)

    @staticmethod
    def setup_context(ctx, inputs, output):
        ctx.save_for_backward(*inputs)
        ctx.save_for_forward(*inputs)

    @staticmethod
    def backward(ctx, g):
        (x,) = ctx.saved_tensors
        return vjp(lambda x: x**3, x)[1](g)[0]

    @staticmethod
    def jvp(ctx, t):
        (x,) = ctx.saved_tensors
        return jvp(lambda x: x**3, (x,), (t,))[1]


class CubedByRule(Cubed):
    generate_vmap_rule = False

    @staticmethod
    def vmap(info, in_dims, x):
        return vmap(grad(lambda x: (x**4).sum() / 4), in_dims)(x), 0


NESTED = {
    "vmap": lambda f, x: vmap(f)(x),
    "vmap of vmap": lambda f, x: vmap(vmap(f))(x),
    "vmap of grad": lambda f, x: vmap(grad(lambda x: f(x).sum()))(x),
    "vmap of vmap of grad": lambda f, x: vmap(vmap(grad(f)))(x),
    "vmap of jacrev": lambda f, x: vmap(jacrev(f))(x),
    "vmap of jacfwd": lambda f, x: vmap(jacfwd(f))(x),
    "vmap of hessian": lambda f, x: vmap(hessian(lambda x: f(x).sum()))(x),
    "jvp of vmap": lambda f, x: jvp(vmap(f), (x,), (x,))[1],
    "jacrev of vmap": lambda f, x: jacrev(vmap(f))(x),
    "grad of grad of vmap": lambda f, x: grad(lambda x: grad(lambda x: vmap(f)(x).sum())(x).sum())(x),
}


@pytest.mark.parametrize("function", [Cubed, CubedByRule])
@pytest.mark.parametrize("name", NESTED)
def test_functions_made_of_transforms(function, name):
    transform = NESTED[name]
    np.testing.assert_allclose(transform(function.apply, X).numpy(), transform(lambda x: x**3, X).numpy(), rtol=1e-12)
