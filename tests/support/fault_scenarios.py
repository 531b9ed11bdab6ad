"""What test_faults.py runs while allocations fail: each scenario makes its leaves and the step that is to be run on them."""

from collections.abc import Callable

import numpy as np

import autograd_cy as ag
from autograd_cy._core.inspection.recorder import Recorder
from autograd_cy.autograd import forward_ad
from autograd_cy.nn import functional
from autograd_cy.profiler import record_function
from autograd_cy.utils.checkpoint import checkpoint

SCENARIOS: dict[str, Callable] = {}


def scenario(make: Callable) -> Callable:
    SCENARIOS[make.__name__] = make
    return make


def leaf(*shape: int, dtype=np.float32, seed: int = 0) -> ag.Tensor:
    values = np.random.default_rng(seed).random(shape) + 0.5
    return ag.from_numpy(values.astype(dtype)).requires_grad_()


@scenario
def elementwise():
    a, b = leaf(3, 4), leaf(4, seed=1)

    def step():
        ((a * b).tanh() + a * 2.0).sum().backward()

    return [a, b], step


@scenario
def accumulation():
    """Into a `.grad` that exists, and in the buffer of a node."""
    a = leaf(3, 4)
    a.grad = ag.ones(3, 4)

    def step():
        x = a * 1.0
        (x * x + x.exp() + a.t().t() + a).sum().backward()

    return [a], step


@scenario
def accumulation_in_the_leafs_layout():
    a = ag.from_numpy(np.ones((4, 3), np.float32).T).requires_grad_()

    def step():
        (a * 2.0).sum().backward()

    return [a], step


@scenario
def accumulation_by_a_graph():
    a, b = leaf(3, 4), leaf(3, 4, seed=1)
    a.grad = ag.ones(3, 4)

    def step():
        (a * b).sum().backward(create_graph=True)
        a.grad, b.grad = a.grad.detach(), b.grad.detach()

    return [a, b], step


@scenario
def retained_graph():
    a, b = leaf(3, 4), leaf(4, seed=1)
    y = ((a * b).exp() + a.sin()).sum()

    def step():
        y.backward(retain_graph=True)

    return [a, b], step


@scenario
def grad():
    a, b = leaf(3, 4), leaf(4, seed=1)
    y = ((a * b).exp() + a.sin()).sum()

    def step():
        return ag.autograd.grad(y, [a, b], retain_graph=True)

    return [a, b], step


@scenario
def backward_of_backward():
    a, b = leaf(3, 4), leaf(4, seed=1)

    def step():
        (g,) = ag.autograd.grad(((a * b).exp() + a.sin()).sum(), a, create_graph=True)
        (g * g).sum().backward()

    return [a, b], step


@scenario
def losses():
    a = leaf(4, 5)
    target = ag.tensor([0, 1, 2, 3])

    def step():
        (functional.cross_entropy(a, target) + functional.softmax(a, dim=1).square().sum()).backward()

    return [a], step


@scenario
def cross_entropy_over_the_scores():
    """The gradient is written over them, and added to one that waits, and to a `.grad`."""
    a, b = leaf(200, 150), leaf(200, 150, seed=1)
    b.grad = ag.ones(200, 150)
    target = ag.tensor([k % 150 for k in range(200)], dtype=ag.uint8)

    def step():
        x = a * 1.0
        loss = functional.cross_entropy(x, target) + x.sum() + functional.cross_entropy(b, target)
        (loss + functional.cross_entropy(a * b, target)).backward()

    return [a, b], step


@scenario
def layer_norm():
    a, w, b = leaf(4, 5), leaf(5, seed=1), leaf(5, seed=2)

    def step():
        functional.layer_norm(a, (5,), w, b).square().sum().backward()

    return [a, w, b], step


@scenario
def variances():
    a = leaf(4, 5)

    def step():
        x = a * 2.0
        (x.var(0).sum() + x.std() + x.norm() + x.norm(1, 1).sum()).backward()

    return [a], step


@scenario
def large_variances():
    """Their gradients are written over what was saved, and added to what has arrived."""
    a = leaf(150, 200)

    def step():
        x = a * 2.0
        (x.var(0).sum() + x.std(1).sum()).backward()

    return [a], step


@scenario
def linear():
    a, w, b = leaf(4, 5), leaf(3, 5, seed=1), leaf(3, seed=2)

    def step():
        functional.relu(functional.linear(a, w, b)).sum().backward()

    return [a, w, b], step


@scenario
def batched_matmul():
    a, w = leaf(2, 4, 5), leaf(5, 3, seed=1)

    def step():
        (a @ w).sum().backward()

    return [a, w], step


@scenario
def large_results():
    """From the pool."""
    a, b = leaf(150, 200), leaf(200, seed=1)

    def step():
        (a * b).tanh().sum().backward()

    return [a, b], step


@scenario
def writes():
    a = leaf(4, 5)

    def step():
        x = a * 1.0
        x.add_(a).mul_(a)
        x.sum().backward()

    return [a], step


@scenario
def writes_through_views():
    a = leaf(4, 5)

    def step():
        x = a * 1.0
        v = x[1:3].t()
        v.mul_(2.0)
        x[0] = v[0, 0]
        (x + v[0, 0]).sum().backward()

    return [a], step


@scenario
def indexing():
    a = leaf(5, 4)
    rows = ag.tensor([0, 2, 2])

    def step():
        (a[rows].sum() + a.gather(0, rows.unsqueeze(1)).sum() + a[1:, ::2].sum()).backward()

    return [a], step


@scenario
def hooks():
    a = leaf(4, 5)

    def step():
        x = a.exp()
        x.register_hook(lambda g: g * 2)
        x.retain_grad()
        x.grad_fn.register_hook(lambda inputs, outputs: (inputs[0] * 2,))
        x.grad_fn.register_prehook(lambda outputs: (outputs[0] * 2,))
        handle = a.register_post_accumulate_grad_hook(lambda tensor: None)
        try:
            x.sum().backward()
        finally:
            handle.remove()

    return [a], step


class Both(ag.autograd.Function):
    @staticmethod
    def forward(ctx, x, y):
        ctx.save_for_backward(x, y)
        return x * y, x + y

    @staticmethod
    def backward(ctx, g, h):
        x, y = ctx.saved_tensors
        return g * y + h, g * x + h


@scenario
def function():
    a, b = leaf(4, 5), leaf(4, 5, seed=1)

    def step():
        u, v = Both.apply(a, b)
        (u * v).sum().backward()

    return [a, b], step


class Inner(ag.autograd.Function):
    """exp(x).sum(), whose backward calls the engine."""

    @staticmethod
    def forward(ctx, x):
        with ag.enable_grad():
            ctx.x = x.detach().requires_grad_()
            ctx.y = ctx.x.exp().sum()
        return ctx.y.detach()

    @staticmethod
    def backward(ctx, g):
        return ag.autograd.grad(ctx.y, ctx.x)[0] * g


@scenario
def backward_inside_backward():
    a = leaf(4, 5)

    def step():
        Inner.apply(a).backward()

    return [a], step


@scenario
def forward_mode():
    a, t = leaf(4, 5), ag.ones(4, 5)
    for _ in range(300):  # Python keeps small numbers at hand: that of the level is to be an object of its own
        with forward_ad.dual_level():
            pass

    def step():
        with forward_ad.dual_level():
            dual = forward_ad.make_dual(a, t)
            return [forward_ad.unpack_dual((dual * dual).tanh()).tangent]

    return [a], step


@scenario
def anomaly_mode():
    a = leaf(5, 4)
    mode = ag.autograd.detect_anomaly()

    def step():
        with mode:
            a.exp().sum().backward()

    return [a], step


@scenario
def saved_tensor_hooks():
    a = leaf(5, 4)

    def step():
        with ag.autograd.graph.saved_tensors_hooks(lambda x: (x,), lambda packed: packed[0]):
            y = (a * a).exp().sum()
        y.backward()

    return [a], step


@scenario
def checkpointing():
    a = leaf(5, 4)

    def step():
        checkpoint(lambda x: (x * x).exp().sin(), a, use_reentrant=False, preserve_rng_state=False).sum().backward()

    return [a], step


def recorded(make: Callable, **options) -> Callable:
    """The scenario, with each step recorded."""

    def made():
        leaves, step = make()

        def recorded_step():
            recorder = Recorder(capacity=1000, **options)
            recorder.start()
            try:
                return step()
            finally:
                recorder.stop()

        return leaves, recorded_step

    return made


def region():
    a, b = leaf(3, 4), leaf(4, seed=1)

    def step():
        with record_function("region", "its arguments"):
            (a * b).tanh().sum().backward()

    return [a, b], step


ALL_OPTIONS = {"shapes": True, "stack": True, "memory": True}
for name in ("elementwise", "accumulation", "function", "hooks", "backward_inside_backward"):
    SCENARIOS[f"recorded_{name}"] = recorded(SCENARIOS[name], **ALL_OPTIONS)
SCENARIOS["recorded_region"] = recorded(region, **ALL_OPTIONS)
