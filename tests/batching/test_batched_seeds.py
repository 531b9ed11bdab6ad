"""Backwards with a batch of seeds: each node of the graph, watched or not, against one backward for each seed."""

import numpy as np
import pytest

import autograd_cy as ag

N = 3


class Doubled(ag.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x * x, x + 1

    @staticmethod
    def backward(ctx, g, h):
        (x,) = ctx.saved_tensors
        return g * 2 * x + h


class Unbatched(ag.autograd.Function):
    """Its gradient doesn't depend on the seed."""

    @staticmethod
    def forward(ctx, x):
        return x.clone()

    @staticmethod
    def backward(ctx, g):
        return ag.full((2, 4), 3.0, dtype=ag.float64)


def written(x):
    y = x.clone()
    y[:, 1:].mul_(x[:, :3])
    return y


GRAPHS = {
    "elementwise": lambda x: (x.sin() * x).exp() - x,
    "broadcast": lambda x: x * x.mean() + x.sum(0) * x[:, :1],
    "broadcast number": lambda x: (x.sum() / x) ** 2,
    "reductions": lambda x: x.mean(1).sum() + x.mean((0, 1)) + x.sum(1, keepdim=True) * x,
    "other type": lambda x: x.float().mul(2).double() * x,
    "several outputs": lambda x: sum(part * k for k, part in enumerate(x.unbind(1))),
    "one of several": lambda x: x.split(2, 1)[1] * 2,
    "product": lambda x: x @ x.t() @ x,
    "topk": lambda x: x.topk(2, 1)[0] * x[:, :2],
    "function": lambda x: Doubled.apply(x)[0] * Doubled.apply(x)[1],
    "unbatched": lambda x: Unbatched.apply(x * 2) * x,
    "write": written,
    "same twice": lambda x: x + x,
    "large": lambda x: (x.unsqueeze(1).expand(2, 5000, 4).sin() * x.mean()).reshape(2, -1),
}


def watch_nothing(x, y, seen):
    pass


def watch_nodes(x, y, seen):
    """Node hooks, which see Tensors of a sample's shape."""
    for node in (x.grad_fn, y.grad_fn):
        node.register_prehook(lambda gradients: seen.append([g is None or g.shape for g in gradients]))
        node.register_hook(lambda results, gradients: seen.append([g is None or g.shape for g in results]))


def double_gradients(x, y, seen):
    x.register_hook(lambda g: seen.append(g.shape) or g * 2)
    y.register_hook(lambda g: g * 3)


def retain_gradients(x, y, seen):
    x.retain_grad()


@pytest.mark.parametrize("anomalies", [False, True])
@pytest.mark.parametrize("watch", [watch_nothing, watch_nodes, double_gradients, retain_gradients])
@pytest.mark.parametrize("name", GRAPHS)
def test_batch_of_seeds_against_one_by_one(name, watch, anomalies):
    random = np.random.default_rng(0)
    leaf = ag.tensor(0.5 + random.random((2, 4)), requires_grad=True)
    with ag.autograd.set_detect_anomaly(anomalies):
        x = leaf * 1.5
        y = GRAPHS[name](x)
        of_batch: list = []
        watch(x, y, of_batch)
        seeds = ag.tensor(random.standard_normal((N, *y.shape)))
        given = seeds.numpy().copy()
        found = ag.autograd.grad(y, (leaf, x), seeds, retain_graph=True, is_grads_batched=True)
        seen = list(of_batch)
        runs = [ag.autograd.grad(y, (leaf, x), seed, retain_graph=True) for seed in seeds]
    assert of_batch == seen * (N + 1)           # hooks see a sample's shapes, once for each node
    assert np.array_equal(seeds.numpy(), given)
    for g, column in zip(found, zip(*runs, strict=True), strict=True):
        assert g.shape == (N, 2, 4)
        assert not np.shares_memory(g.numpy(), given)
        np.testing.assert_allclose(g.numpy(), np.stack([one.numpy() for one in column]), rtol=1e-6)


def test_batches_of_no_and_of_one_seed():
    x = ag.tensor([[1.0, 2.0], [3.0, 4.0]], requires_grad=True)
    y = (x * x.mean()).exp().sum(0)
    for n in (0, 1):
        (g,) = ag.autograd.grad(y, x, ag.ones(n, 2), retain_graph=True, is_grads_batched=True)
        assert g.shape == (n, 2, 2)


def test_batch_of_seeds_within_vmap():
    """Another level is open, and hidden: rows of a Jacobian for each sample."""
    x = ag.tensor(np.random.default_rng(0).standard_normal((5, 3)))

    def function(v):
        return (v.sin() * v.mean()).exp()

    found = ag.vmap(ag.func.jacrev(function))(x)
    expected = ag.stack([ag.func.jacrev(function)(v) for v in x])
    np.testing.assert_allclose(found.numpy(), expected.numpy(), rtol=1e-12)


def test_a_function_whose_gradient_is_of_another_level():
    """What its backward closes over is batched at the outer level, the seed at the inner one."""
    scales = ag.tensor([1.0, 10.0])

    class Scaled(ag.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x.clone()

        @staticmethod
        def backward(ctx, g):
            return g * Scaled.scale

    def of_scale(scale):
        Scaled.scale = scale
        x = ag.ones(2, requires_grad=True)
        y = Scaled.apply(x) * x
        return ag.vmap(lambda seed: ag.autograd.grad(y, x, seed, retain_graph=True)[0])(ag.eye(2))

    found = ag.vmap(of_scale)(scales)
    assert found.tolist() == [[[2.0, 0.0], [0.0, 2.0]], [[11.0, 0.0], [0.0, 11.0]]]
