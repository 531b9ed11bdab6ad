"""Random programs with branches, for a backward in one thread and in several: what can be seen of both is compared bit by bit.

Besides operations a program has views and writes through them, Functions (of two outputs, one unused; that run a backward
inside; that draw random numbers), checkpoints with dropout, hooks of all kinds, retained gradients, leaves used many times.
"""

import contextlib
import random
import sys
import time

import numpy as np

import autograd_cy as ag
from autograd_cy._core.engine.parallel_walk import set_pace
from autograd_cy.utils.checkpoint import checkpoint

SHAPE = (3, 4)


class Failure(Exception):
    pass


class Two(ag.autograd.Function):
    """Two outputs of one input; gradients may be None."""

    @staticmethod
    def forward(ctx, x):
        ctx.set_materialize_grads(False)
        ctx.save_for_backward(x)
        return x * 2, x + 1

    @staticmethod
    def backward(ctx, a, b):
        (x,) = ctx.saved_tensors
        return None if a is None and b is None else (0 if a is None else a * 2) + (0 if b is None else b * x)


class Nested(ag.autograd.Function):
    """A backward inside the backward."""

    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x.tanh()

    @staticmethod
    def backward(ctx, g):
        (x,) = ctx.saved_tensors
        with ag.enable_grad():
            inner = x.detach().requires_grad_()
            y = inner.tanh() + inner * 0 + inner.sin() * 0
            return ag.autograd.grad(y, inner, g)[0]


class Noise(ag.autograd.Function):
    """Its gradient depends on the order of the nodes."""

    @staticmethod
    def forward(ctx, x):
        return x.clone()

    @staticmethod
    def backward(ctx, g):
        return g * ag.rand(SHAPE, dtype=g.dtype)


class Fragile(ag.autograd.Function):
    """Raises in backward, if it is its turn to."""

    number = -1

    @staticmethod
    def forward(ctx, x, number):
        ctx.number = number
        return x.clone()

    @staticmethod
    def backward(ctx, g):
        if ctx.number == Fragile.number:
            raise Failure(ctx.number)
        return g * 1, None


def written(x, y):
    z = x * 1
    z[1].mul_(y[0])
    z[:, 1:3] += y[:, :2]
    return z


def dropped(x, y):
    return ag.nn.functional.dropout(x * y, 0.5).sin() + ag.nn.functional.dropout(y, 0.5)


STEPS = {
    "add": lambda x, y: x + y,
    "sub": lambda x, y: x - y,
    "mul": lambda x, y: x * y,
    "tanh": lambda x, y: x.tanh(),
    "sin": lambda x, y: x.sin() * 0.5,
    "product": lambda x, y: (x @ y.t()) @ y * 0.1,
    "turned": lambda x, y: (x.t() * y.t()).t(),
    "row": lambda x, y: x * y[1] - y[0],
    "parts": lambda x, y: ag.cat([x[:1], y[1:2], -x[2:]]) + x[:, 1:2],
    "rows": lambda x, y: sum(x[k] * k for k in range(3)) + y,
    "twice": lambda x, y: (x + x) * 0.5,
    "softmax": lambda x, y: x.softmax(1) + y.mean(),
    "two": lambda x, y: Two.apply(x)[0] - Two.apply(y)[1],
    "nested": lambda x, y: Nested.apply(x),
    "noise": lambda x, y: Noise.apply(x),
    "write": written,
    "checkpoint": lambda x, y: checkpoint(dropped, x, y, use_reentrant=False),
    "reentrant": lambda x, y: checkpoint(dropped, x, y, use_reentrant=True),
}
WHOLE = {"checkpoint", "reentrant"}  # refused where inputs are named


class ParallelProgram:
    """The program of a seed: `run(n)` is what can be seen of it with n threads; `steps`: how many Functions may fail."""

    def __init__(self, seed, steps=14):
        self.rng = random.Random(seed)
        self.seed, self.steps = seed, steps

    def build(self, names):
        """Leaves, values and root, and what hooks noted: the gradients that each saw."""
        rng = random.Random(self.seed)
        numbers = np.random.default_rng(self.seed)
        leaves = [ag.tensor(numbers.standard_normal(SHAPE), requires_grad=True) for _ in range(3)]
        values, noted = list(leaves), []
        for step in range(self.steps):
            x, y = rng.choice(values), rng.choice(values[-5:])
            value = STEPS[rng.choice(names)](x, y) * 0.5
            if rng.random() < 0.3:
                value = Fragile.apply(value, step)
            values.append(value)
            self.attach_hooks(rng, value, noted)
        for leaf in leaves:
            if rng.random() < 0.3:
                leaf.register_post_accumulate_grad_hook(self.note_in(noted, lambda t: (t.grad,)))
        used = [v for v in values[-7:] if v.requires_grad]
        return leaves, values, sum(v.sum() * (k + 1) for k, v in enumerate(used)), noted

    def attach_hooks(self, rng, value, noted):
        kind = rng.random()
        if kind < 0.15:
            value.register_hook(self.note_in(noted, lambda g: (g,), lambda g: g * 1.5))
        elif kind < 0.25 and value.grad_fn is not None:
            value.grad_fn.register_hook(self.note_in(noted, lambda a, b: a + b))
        elif kind < 0.35 and value.grad_fn is not None:
            value.grad_fn.register_prehook(self.note_in(noted, lambda a: a))
        elif kind < 0.5:
            value.retain_grad()

    @staticmethod
    def note_in(noted, seen, result=None):
        notes = []
        noted.append(notes)

        def hook(*gradients):
            notes.append([bits(t) for t in seen(*gradients)])
            return None if result is None else result(*gradients)

        return hook

    def run(self, threads, failing=-1):
        """Bits of all gradients, what hooks saw, the error, and the next random number."""
        ag.manual_seed(self.seed)
        kind = self.seed % 4  # backward, retained and repeated, grad of some values, create_graph
        names = sorted(STEPS) if kind < 2 else sorted(STEPS.keys() - WHOLE)
        leaves, values, root, noted = self.build(names)
        error, found = None, []
        Fragile.number = failing
        with several(threads, self.seed) if threads > 1 else contextlib.nullcontext():
            try:
                if kind == 0:
                    root.backward()
                elif kind == 1:
                    root.backward(retain_graph=True)
                    root.backward()
                else:
                    wanted = [v for v in [*leaves, *values[4:6]] if v.requires_grad]
                    found = ag.autograd.grad(root, wanted, create_graph=kind == 3, allow_unused=True)
                    if kind == 3:
                        size = sum((g * g).sum() for g in found if g is not None)
                        if size.requires_grad:  # gradients of a linear program are constants
                            size.backward()
            except Failure as raised:
                error = raised
        Fragile.number = -1
        gradients = [bits(v.grad) for v in values if v.is_leaf or v.retains_grad]
        if error is not None:       # what came after it may have run
            return [repr(error), error.__notes__[0].split(",")[0]]
        return [gradients, [bits(g) for g in found], noted, bits(ag.rand(2))]


def bits(tensor):
    """What tells a tensor from another one: shape, layout and memory."""
    if tensor is None:
        return None
    array = tensor.detach().numpy()
    return array.shape, array.strides, str(array.dtype), array.tobytes()


@contextlib.contextmanager
def several(threads, seed=0, slow=0.2):
    """Let threads run any backward from its first node on, some nodes later than others."""
    rng = random.Random(seed)
    before = sys.getswitchinterval()

    def pace():
        if rng.random() < slow:
            time.sleep(rng.random() * 2e-4)

    sys.setswitchinterval(1e-6)
    set_pace(pace)
    try:
        with ag.autograd.graph.parallel_backward(threads):
            yield
    finally:
        set_pace(None)
        sys.setswitchinterval(before)
