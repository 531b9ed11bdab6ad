"""What calls itself without an end stops with RecursionError, on usual and on small stacks; NOTE [Recursion]."""

import subprocess
import sys

import pytest
from common import IS_TORCH, leaf

import autograd_cy as torch

fwd = torch.autograd.forward_ad

SCRIPT = """
import sys, threading
import autograd_cy as torch
from autograd_cy import func
from autograd_cy.utils.checkpoint import checkpoint

sys.setrecursionlimit({limit})
one, x = torch.tensor(1.0), torch.ones(2, requires_grad=True)


class Forward(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return Forward.apply(x)


class Backward(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return x * 2

    @staticmethod
    def backward(ctx, g):
        with torch.enable_grad():
            Backward.apply(torch.ones(2, requires_grad=True)).sum().backward()
        return g


class Slope(torch.autograd.Function):
    @staticmethod
    def forward(x):
        return x * 2

    @staticmethod
    def setup_context(ctx, inputs, output):
        ctx.save_for_backward(*inputs)

    @staticmethod
    def backward(ctx, g):
        return func.grad(Slope.apply)(*ctx.saved_tensors)


class Override(torch.Tensor):
    @classmethod
    def __torch_function__(cls, function, types, args=(), kwargs=None):
        return function(*args, **(kwargs or {{}}))


def again(y):
    return lambda *_: y.backward(torch.ones(2), retain_graph=True)


def hooked(register):
    y = x * x
    register(y)
    again(y)()


def unpacked():
    with torch.autograd.graph.saved_tensors_hooks(lambda t: t, lambda t: (again(y)(), t)[1]):
        y = x * x
    again(y)()


def itself(call):
    def f(x):
        return call(f, x)
    return f


def dual(f, t):
    with torch.autograd.forward_ad.dual_level():
        return f(torch.autograd.forward_ad.make_dual(t, t))


ways = dict(
    jvp=lambda: itself(lambda f, x: func.jvp(f, (x,), (x,))[0])(one),
    make_dual=lambda: itself(dual)(one),
    vjp=lambda: itself(lambda f, x: func.vjp(f, x)[0])(one),
    grad=lambda: itself(lambda f, x: func.grad(f)(x))(one),
    linearize=lambda: itself(lambda f, x: func.linearize(f, x)[0])(one),
    jacrev=lambda: itself(lambda f, x: func.jacrev(f)(x))(one),
    jacfwd=lambda: itself(lambda f, x: func.jacfwd(f)(x))(one),
    hessian=lambda: itself(lambda f, x: func.hessian(f)(x))(one),
    jacobian=lambda: itself(lambda f, x: torch.autograd.functional.jacobian(f, x))(one),
    functional_jvp=lambda: itself(lambda f, x: torch.autograd.functional.jvp(f, x, x)[0])(one),
    fixed_point=lambda: itself(lambda f, x: func.fixed_point(f, x))(one),
    checkpoint=lambda: itself(lambda f, x: checkpoint(f, x, use_reentrant=False))(x),
    reentrant_checkpoint=lambda: itself(lambda f, x: checkpoint(f, x, use_reentrant=True))(x),
    forward=lambda: Forward.apply(x),
    backward=lambda: Backward.apply(x).sum().backward(),
    slope=lambda: func.grad(Slope.apply)(one),
    torch_function=lambda: torch.ones(2).as_subclass(Override) + 1,
    tensor_hook=lambda: hooked(lambda y: y.register_hook(again(y))),
    node_hook=lambda: hooked(lambda y: y.grad_fn.register_hook(again(y))),
    prehook=lambda: hooked(lambda y: y.grad_fn.register_prehook(again(y))),
    accumulated=lambda: hooked(lambda y: x.register_post_accumulate_grad_hook(again(y))),
    multi_grad=lambda: hooked(lambda y: torch.autograd.graph.register_multi_grad_hook((y,), again(y))),
    callback=lambda: hooked(lambda y: y.register_hook(
        lambda g: torch.autograd.Variable._execution_engine.queue_callback(again(y)))),
    unpack=unpacked,
)


def run():
    try:
        ways["{way}"]()
    except RecursionError:
        pass
    x.grad = None
    y = torch.ones(2, requires_grad=True)                 # the thread's modes are as they were
    (y * y).sum().backward()
    assert y.grad.tolist() == [2, 2] and torch.is_grad_enabled()
    assert func.jvp(lambda x: x * x, (one,), (one,))[1].item() == 2 == func.grad(lambda x: x * x)(one).item()
    print("stopped")


if {stack}:
    threading.stack_size({stack})
    thread = threading.Thread(target=run)
    thread.start()
    thread.join()
else:
    run()
"""

TABLE = SCRIPT.split("ways = dict(\n")[1].split("\n)\n")[0].splitlines()
WAYS = [line.split("=")[0].strip() for line in TABLE if line[4] != " "]


def stops(way, stack, limit):
    script = SCRIPT.format(way=way, stack=stack, limit=limit)
    found = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=120, check=False)
    assert (found.returncode, found.stdout) == (0, "stopped\n"), found.stderr[-2000:]


@pytest.mark.skipif(IS_TORCH, reason="some of these do not end there")
@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("stack", [0, 1 << 18], ids=["usual stack", "256 kB"])
def test_what_calls_itself_stops(way, stack):
    stops(way, stack, 1000)


@pytest.mark.skipif(IS_TORCH, reason="overflows the stack there")
@pytest.mark.parametrize("way", ["vjp", "forward", "torch_function", "checkpoint"])
def test_the_stack_is_the_limit_where_python_has_none(way):
    stops(way, 1 << 20, 10**6)


def test_the_error_says_what_recurs():
    x = leaf(2.0)
    y = x * x

    def endless(g):
        y.backward(retain_graph=True)

    y.register_hook(endless)
    limit = sys.getrecursionlimit()
    with pytest.raises(RecursionError, match=f"backward within backward, {4 * limit} levels deep") as caught:
        y.backward(retain_graph=True)
    assert len(caught.value.__notes__) == 100


def test_the_error_says_how_many_tangents_there_are():
    def recurring(x):
        return torch.func.jvp(recurring, (x,), (x,))[0]

    with pytest.raises(RecursionError, match="more than 65536 tangents at 17 levels"):
        recurring(torch.tensor(1.0))
    assert fwd._current_level == -1


def test_levels_that_do_not_meet_are_few_tangents():
    """Thirty levels within each other, each with one tensor of its own."""

    def power(x, n):
        """x**n, by jvp() at each level: d/dt (t * x**(n-1))."""
        if n == 0:
            return torch.ones(())
        return torch.func.jvp(lambda t: t * power(x, n - 1) * x, (torch.ones(()),), (torch.ones(()),))[1]

    assert power(torch.tensor(1.5), 30).item() == pytest.approx(1.5**30)
