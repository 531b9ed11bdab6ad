"""Functions that save what forward computed: their second derivative is refused, not wrong."""

import warnings

import pytest
from common import define, differs, leaf

import autograd_cy as torch

pytestmark = differs("a Function that saves an intermediate", "backward takes it for a constant")

FROM_INPUTS = {
    "an operation": lambda x: x.exp(),
    "several": lambda x: (x * 2).sum() + torch.ones_like(x),
    "a detached input": lambda x: x.detach().exp(),
    "a detached result": lambda x: x.exp().detach(),
    "data": lambda x: x.data.exp(),
    "a view of a result": lambda x: x.exp().view(3, 1)[:, 0],
    "a view of the input": lambda x: x.view(3, 1)[:, 0],
    "a copy": lambda x: x.clone(),
    "written in place": lambda x: torch.zeros(3, dtype=torch.float64).add_(x),
    "copied into": lambda x: torch.zeros(3, dtype=torch.float64).copy_(x),
    "written by index": lambda x: written(lambda target: target.__setitem__(0, x[1])),
    "written through a view": lambda x: written(lambda target: target[:1].add_(x[1])),
    "one of several results": lambda x: x.sort()[0],
    "another Function": lambda x: define(lambda ctx, a: a.exp(), lambda ctx, g: g).apply(x),
    "another type and back": lambda x: x.float().double(),
}

CONSTANTS = {
    "made": torch.ones_like,
    "a range": lambda x: torch.arange(3.0, dtype=torch.float64),
    "random": torch.rand_like,
    "a mask": lambda x: x > 0.6,
    "a mask as numbers": lambda x: (x > 0.6).double(),
    "chosen by a mask": lambda x: torch.where(x > 0.6, 1.0, 0.0).double(),
    "positions": lambda x: x.sort()[1].double(),
    "signs": lambda x: x.sign(),
    "steps": lambda x: x.round() + x.floor() + x // 1.0,
    "a draw": lambda x: torch.bernoulli(torch.full_like(x, 0.5)),
    "drawn in place": lambda x: torch.empty_like(x).uniform_(),
    "a size": lambda x: torch.full((3,), float(x.numel()), dtype=torch.float64),
}


def written(write):
    target = torch.zeros(3, dtype=torch.float64)
    write(target)
    return target


def squares_with(factor):
    """x * x * factor(x), and its gradient with the factor as forward saved it."""

    def forward(ctx, x):
        middle = factor(x)
        ctx.save_for_backward(x, middle)
        return x * x * middle

    def backward(ctx, g):
        x, middle = ctx.saved_tensors
        return 2 * g * x * middle

    return define(forward, backward)


def points():
    return leaf([0.5, 1.0, 2.0])


def second(function, *args):
    """The second derivative with respect to the first argument."""
    (g,) = torch.autograd.grad(function.apply(*args).sum(), args[0], create_graph=True)
    return torch.autograd.grad(g.sum(), args[0])[0]


def test_the_error_names_the_tensor_and_the_line():
    def forward(ctx, x):
        middle = x.exp()
        ctx.save_for_backward(x, middle)
        return middle * x

    def backward(ctx, g):
        x, middle = ctx.saved_tensors
        return g * (middle * x + middle)

    line = forward.__code__.co_firstlineno + 2
    with pytest.raises(RuntimeError, match=r"'middle' \(saved_tensors\[1\]\), a torch.float64 tensor of shape \[3\]") as e:
        second(define(forward, backward), points())
    assert f"{__file__}:{line}, in " in str(e.value)


@pytest.mark.parametrize("kind", FROM_INPUTS)
def test_what_is_computed_from_an_input_is_refused(kind):
    function = squares_with(FROM_INPUTS[kind])
    for _ in range(2):
        with pytest.raises(RuntimeError, match="the second derivative is unknown"):
            second(function, points())


@pytest.mark.parametrize("kind", CONSTANTS)
def test_constants_are_none(kind):
    kept = []
    function = squares_with(lambda x: kept.append(CONSTANTS[kind](x)) or kept[-1])
    for _ in range(2):
        assert second(function, points()).tolist() == (2 * kept[-1]).tolist()


def test_first_derivatives_are_as_before():
    x = points()
    function = squares_with(torch.exp)
    for create_graph in (False, True):
        (g,) = torch.autograd.grad(function.apply(x).sum(), x, create_graph=create_graph)
        assert g.tolist() == (2 * x * x.exp()).tolist()
    y = function.apply(x)
    assert not y.grad_fn.saved_tensors[1].requires_grad
    y.sum().backward()
    assert not x.grad.requires_grad


def test_gradients_that_do_not_depend_on_it_are_right():
    x, seed = points(), leaf([1.0, 1.0, 1.0])
    (g,) = torch.autograd.grad(squares_with(torch.exp).apply(x), x, seed, create_graph=True)
    (linear,) = torch.autograd.grad(g.sum(), seed)
    assert linear.tolist() == (2 * x * x.exp()).tolist()

    def forward(ctx, x, w):
        ctx.save_for_backward(x, w, w.exp())
        return x * x * w.exp()

    def backward(ctx, g):
        x, _w, factor = ctx.saved_tensors
        return 2 * g * x * factor, g * x * x * factor

    function, w = define(forward, backward), points()
    assert second(function, x, w).tolist() == (2 * w.exp()).tolist()
    with pytest.raises(RuntimeError, match="the second derivative is unknown"):
        second(define(lambda ctx, w, x: forward(ctx, x, w), lambda ctx, g: backward(ctx, g)[::-1]), w, x)


def test_a_constant_by_the_users_word():
    def backward(ctx, g):
        x, middle = ctx.saved_tensors
        return 2 * g * x * middle.detach()

    function = squares_with(torch.exp)
    function.backward = staticmethod(backward)
    x = points()
    assert second(function, x).tolist() == (2 * x.exp()).tolist()


@pytest.mark.parametrize("wrap", [lambda t: t, lambda t: [t], lambda t: (None, t)], ids=["tensor", "list", "tuple"])
def test_attributes_of_ctx(wrap):
    def forward(ctx, x):
        ctx.x, ctx.middle = x, wrap(x.exp())
        return x * x * x.exp()

    def backward(ctx, g):
        middle = ctx.middle if isinstance(ctx.middle, torch.Tensor) else ctx.middle[-1]
        return 2 * g * ctx.x * middle

    x = points()
    y = define(forward, backward).apply(x)
    kept = y.grad_fn.middle
    (g,) = torch.autograd.grad(y.sum(), x, create_graph=True)
    assert y.grad_fn.middle is kept
    with pytest.raises(RuntimeError, match=r"ctx\.middle.*, in .*forward"):
        torch.autograd.grad(g.sum(), x)


def test_a_separate_context():
    def setup_context(ctx, inputs, output):
        middle = output / inputs[0]
        ctx.save_for_backward(inputs[0], middle)

    def backward(ctx, g):
        x, middle = ctx.saved_tensors
        return g * (middle * x + middle)

    function = define(lambda x: x.exp() * x, backward, setup_context=setup_context)
    with pytest.raises(RuntimeError, match=r"'middle'.*setup_context"):
        second(function, points())


def test_an_intermediate_that_is_returned_is_right():
    def forward(x):
        middle = x.exp()
        return middle * x, middle

    def backward(ctx, g, g_middle):
        x, middle = ctx.saved_tensors
        return g * (middle * x + middle) + g_middle * middle

    function = define(
        forward, backward, setup_context=lambda ctx, inputs, output: ctx.save_for_backward(inputs[0], output[1])
    )
    x = points()
    (g,) = torch.autograd.grad(function.apply(x)[0].sum(), x, create_graph=True)
    torch.testing.assert_close(torch.autograd.grad(g.sum(), x)[0], (x * x.exp() + 2 * x.exp()).detach())


def test_what_has_a_history_of_its_own_is_left_alone():
    def forward(ctx, x):
        with torch.enable_grad():
            inner = x.detach().requires_grad_()
            y = inner.exp()
        ctx.save_for_backward(inner, y)
        return y.detach()

    def backward(ctx, g):
        inner, y = ctx.saved_tensors
        return torch.autograd.grad(y, inner, g)[0]

    x = points()
    (g,) = torch.autograd.grad(define(forward, backward).apply(x).sum(), x, create_graph=True)
    assert g.tolist() == x.exp().tolist()


def test_a_function_that_starts_to_save_warns_once():
    def forward(ctx, x, kept):
        middle = x.exp() if kept else x
        ctx.save_for_backward(middle)
        return x * x

    function = define(forward, lambda ctx, g: (g * ctx.saved_tensors[0], None))
    assert second(function, points(), False).tolist() == [1.0, 1.0, 1.0]
    x = points()
    with pytest.warns(UserWarning, match=r"saved_tensors, .* may have been computed"):
        (g,) = torch.autograd.grad(function.apply(x, True).sum(), x, create_graph=True)
        torch.autograd.grad(g.sum(), x, allow_unused=True)
    with pytest.raises(RuntimeError, match="the second derivative is unknown"):
        second(function, points(), True)


def test_packed_and_checkpointed():
    function = squares_with(torch.exp)
    x = points()
    with torch.autograd.graph.saved_tensors_hooks(lambda t: t.detach().clone(), lambda t: t):
        y = function.apply(x)
    z = torch.utils.checkpoint.checkpoint(function.apply, x, use_reentrant=False)
    for out in (y, z):
        (g,) = torch.autograd.grad(out.sum(), x, create_graph=True)
        with pytest.raises(RuntimeError, match="the second derivative is unknown"):
            torch.autograd.grad(g.sum(), x)


def test_hooks_on_operations_see_what_they_saw():
    seen = []
    with torch.autograd.graph.register_op_hook(lambda node, inputs, outputs: seen.append(node.name())):
        squares_with(torch.exp).apply(points())
    squares_with(torch.exp).apply(points())
    assert seen == ["ExpBackward0", "MulBackward0", "MulBackward0", "FBackward"]


def with_jvp():
    """x * exp(x), whose backward and jvp read exp(x) as forward kept it."""

    def setup_context(ctx, inputs, output):
        (x,) = inputs
        middle = output / x
        ctx.save_for_backward(x, middle)
        ctx.save_for_forward(x, middle)

    def derivative(ctx, g):
        x, middle = ctx.saved_tensors
        return g * (middle * x + middle)

    function = define(lambda x: x.exp() * x, derivative, setup_context=setup_context, jvp=derivative)
    return lambda x: function.apply(x).sum()


def test_forward_mode():
    f, x, t = with_jvp(), points().detach(), torch.ones(3, dtype=torch.float64)
    first = (x.exp() * x + x.exp()).sum()
    torch.testing.assert_close(torch.func.jvp(f, (x,), (t,))[1], first)
    for twice in (
        lambda: torch.func.jvp(torch.func.grad(f), (x,), (t,)),
        lambda: torch.func.grad(lambda y: torch.func.jvp(f, (y,), (t,))[1])(x),
        lambda: torch.func.jvp(lambda y: torch.func.jvp(f, (y,), (t,))[1], (x,), (t,)),
    ):
        with pytest.raises(RuntimeError, match="the second derivative is unknown"):
            twice()


def test_a_gradient_within_a_dual_level_is_right():
    forward_ad = torch.autograd.forward_ad
    kept = with_jvp()
    unread = define(
        lambda ctx, x: setattr(ctx, "middle", x.exp()) or x * 2, lambda ctx, g: g * 2, jvp=lambda ctx, t: t * 2
    )
    with forward_ad.dual_level():
        x = points()
        dual = forward_ad.make_dual(x, torch.ones_like(x))
        unread.apply(dual).sum().backward()
        assert x.grad.tolist() == [2.0, 2.0, 2.0]
        x.grad = None
        with pytest.warns(UserWarning, match="The gradient's tangent lacks"):
            kept(dual).backward()
    torch.testing.assert_close(x.grad, (x.exp() * x + x.exp()).detach())


def test_attributes_that_backward_sets():
    def backward(ctx, g):
        ctx.calls = getattr(ctx, "calls", 0) + 1
        ctx.middle = ctx.middle.detach()
        return 2 * g * ctx.x * ctx.middle

    def forward(ctx, x):
        ctx.x, ctx.middle = x, x.exp()
        return x * x * x.exp()

    x = points()
    y = define(forward, backward).apply(x)
    (g,) = torch.autograd.grad(y.sum(), x, create_graph=True)
    assert torch.autograd.grad(g.sum(), x)[0].tolist() == (2 * x.exp()).tolist()
    assert y.grad_fn.calls == 1 and not y.grad_fn.middle.requires_grad
    with pytest.raises(AttributeError, match="missing"):
        _ = y.grad_fn.missing


def test_vmap():
    def forward(x):
        return x.exp() * x

    def backward(ctx, g):
        x, middle = ctx.saved_tensors
        return g * (middle * x + middle)

    def setup_context(ctx, inputs, output):
        ctx.save_for_backward(inputs[0], output / inputs[0])

    function = define(forward, backward, setup_context=setup_context)
    function.generate_vmap_rule = True
    x = torch.stack([points(), points()]).detach()
    f = lambda y: function.apply(y).sum()  # noqa: E731
    torch.testing.assert_close(torch.func.vmap(torch.func.grad(f))(x), x.exp() * x + x.exp())
    with pytest.raises(RuntimeError, match="the second derivative is unknown"):
        torch.func.vmap(torch.func.grad(lambda y: torch.func.grad(f)(y).sum()))(x)


def test_functions_that_save_inputs_are_not_followed():
    function = define(lambda ctx, x: ctx.save_for_backward(x) or x * x, lambda ctx, g: 2 * g * ctx.saved_tensors[0])
    assert function._follows_forward
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert second(function, points()).tolist() == [2.0, 2.0, 2.0]
    assert not function._follows_forward
