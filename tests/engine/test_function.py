"""autograd.Function: the user's own forward, backward and jvp, and what ctx offers them."""

import pytest
from common import define, leaf, tangent

import autograd_cy as torch

Function = torch.autograd.Function
ones = torch.ones(2, dtype=torch.float64)


class Multiply(Function):
    """a * b, saving both."""

    @staticmethod
    def forward(ctx, a, b):
        ctx.save_for_backward(a, b)
        return a * b

    @staticmethod
    def backward(ctx, g):
        a, b = ctx.saved_tensors
        return g * b, g * a


class Exp(Function):
    """exp(x), saving its output."""

    @staticmethod
    def forward(ctx, x):
        y = x.exp()
        ctx.save_for_backward(y)
        return y

    @staticmethod
    def backward(ctx, g):
        (y,) = ctx.saved_tensors
        return g * y


def test_apply_records_a_node_that_calls_backward():
    a, b = leaf(2.0), leaf(3.0)
    y = Multiply.apply(a, b)
    (y * 10).backward()
    assert y.item() == 6.0 and (a.grad.item(), b.grad.item()) == (30.0, 20.0)


def test_apply_records_nothing_without_need():
    a = torch.tensor(2.0)
    assert Multiply.apply(a, a).grad_fn is None
    with torch.no_grad():
        assert not Multiply.apply(leaf(2.0), a).requires_grad


def test_ctx_is_the_node():
    seen = []

    def forward(ctx, x):
        ctx.factor = 5
        seen.append(ctx)
        return x * 5

    def backward(ctx, g):
        seen.append(ctx)
        return g * ctx.factor

    x = leaf(2.0)
    y = define(forward, backward).apply(x)
    assert seen[0] is y.grad_fn and y.grad_fn.factor == 5
    y.backward()
    assert seen[1] is y.grad_fn and x.grad.item() == 5.0


def test_the_node_has_its_place_in_the_graph():
    a, c = leaf(2.0, torch.float32), torch.tensor(3.0)
    y = Multiply.apply(a * 1, c)
    node = y.grad_fn
    assert repr(y) == "tensor(6., grad_fn=<MultiplyBackward>)"
    assert type(node).__name__ == node.name() == "MultiplyBackward"
    assert [type(n).__name__ for n, _ in node.next_functions] == ["MulBackward0", "NoneType"]
    assert isinstance(node, torch.autograd.function.FunctionCtx)
    assert (y * 1).grad_fn.next_functions[0][0] is node


# What ctx offers


def test_saved_tensors_are_the_inputs_and_outputs_themselves():
    x = leaf([1.0, 2.0])
    product, power = Multiply.apply(x, ones), Exp.apply(x)
    assert product.grad_fn.saved_tensors[0] is x and product.grad_fn.saved_tensors[1] is ones
    (saved,) = power.grad_fn.saved_tensors
    assert saved.tolist() == power.tolist() and saved.grad_fn is power.grad_fn


def test_saved_tensors_may_be_none():
    def forward(ctx, x):
        ctx.save_for_backward(None, x, None)
        return x * 1

    x = leaf([1.0])
    node = define(forward, lambda ctx, g: g).apply(x).grad_fn
    assert node.saved_tensors[0] is None and node.saved_tensors[1] is x and len(node.saved_tensors) == 3


def test_saved_tensors_are_freed_after_backward():
    x = leaf(2.0)
    y = Multiply.apply(x, x)
    y.backward(retain_graph=True)
    y.backward()
    assert x.grad.item() == 8.0
    freed = r"second time \(or directly access saved tensors.*Specify retain_graph=True"
    for access in (y.backward, lambda: y.grad_fn.saved_tensors, lambda: y.grad_fn._raw_saved_tensors):
        with pytest.raises(RuntimeError, match=freed):
            access()


def test_raw_saved_tensors_are_handles():
    x = leaf(2.0)
    handles = Multiply.apply(x, x).grad_fn._raw_saved_tensors
    assert [type(handle).__name__ for handle in handles] == ["SavedTensor"] * 2


def test_saved_variables_is_the_old_name_of_saved_tensors():
    x = leaf(2.0)
    node = Multiply.apply(x, x).grad_fn
    with pytest.warns(DeprecationWarning, match="'saved_variables' is deprecated; use 'saved_tensors'"):
        assert node.saved_variables[0] is x


@pytest.mark.parametrize("arguments, needed", [
    (lambda x: (x, ones, 3), (True, False, False)),
    (lambda x: (2, x * 1, None), (False, True, False)),
    (lambda x: ("text", [x], x.detach()), (False, False, False)),
])
def test_needs_input_grad_has_an_entry_for_each_argument(arguments, needed):
    seen = []

    def forward(ctx, *args):
        seen.append(ctx.needs_input_grad)
        return ones * 1

    define(forward, lambda ctx, g: (None,) * 3).apply(*arguments(leaf([1.0, 2.0])))
    assert seen == [needed]


def test_arguments_may_be_anything():
    def forward(ctx, x, factor, name, table, nothing=None):
        ctx.factor = factor + table[name]
        return x * ctx.factor

    F = define(forward, lambda ctx, g: (g * ctx.factor, None, None, None))
    x = leaf(2.0)
    F.apply(x, 3, "key", {"key": 4}).backward()
    assert x.grad.item() == 7.0


@pytest.mark.parametrize("materialize", [True, False])
def test_outputs_without_gradient_get_zeros_or_none(materialize):
    seen = []

    def forward(ctx, x):
        if not materialize:
            ctx.set_materialize_grads(False)
        return x * 1, x.sum() * 2

    def backward(ctx, g, h):
        seen.append((g.tolist(), h if h is None else (h.shape, h.item())))
        return g

    first, _ = define(forward, backward).apply(leaf([1.0, 2.0]))
    first.sum().backward()
    assert seen == [([1.0, 1.0], ((), 0.0) if materialize else None)]


def test_many_outputs_make_one_call_of_backward():
    calls = []

    def backward(ctx, *gradients):
        calls.append([g.item() for g in gradients])
        return sum(gradients)

    x = leaf(2.0)
    outputs = define(lambda ctx, x: tuple(x * i for i in range(4)), backward).apply(x)
    assert isinstance(outputs, tuple) and [y.output_nr for y in outputs] == [0, 1, 2, 3]
    sum(y * 10**i for i, y in enumerate(outputs)).backward()
    assert calls == [[1.0, 10.0, 100.0, 1000.0]] and x.grad.item() == 1111.0


def test_setup_context_separates_the_bookkeeping():
    def setup_context(ctx, inputs, output):
        x, ctx.factor = inputs
        ctx.save_for_backward(x, output)

    def backward(ctx, g):
        x, y = ctx.saved_tensors
        return g * ctx.factor * y / x, None

    x = leaf(4.0)
    F = define(lambda x, factor: x * factor, backward, setup_context=setup_context)
    F.apply(x, 3).backward()
    assert x.grad.item() == 9.0


def test_vjp_is_another_name_of_backward():
    x = leaf(2.0)
    define(lambda ctx, x: x * 3, vjp=lambda ctx, g: g * 3).apply(x).backward()
    assert x.grad.item() == 3.0


# Derivatives of derivatives


@pytest.mark.parametrize("f, derivatives", [
    (lambda x: Multiply.apply(x, Multiply.apply(x, x)), [8.0, 12.0, 12.0, 6.0]),
    (Exp.apply, [7.38905609893065] * 4),
])
def test_a_backward_of_recorded_ops_can_be_differentiated(f, derivatives):
    x = leaf(2.0)
    orders = [f(x)]
    for _ in range(3):
        orders += torch.autograd.grad(orders[-1], x, create_graph=True)
    assert [y.item() for y in orders] == pytest.approx(derivatives, rel=1e-14)


def test_once_differentiable_runs_backward_unrecorded():
    seen = []

    @torch.autograd.function.once_differentiable
    def backward(ctx, g):
        seen.append(torch.is_grad_enabled())
        return g * 3

    x = leaf(2.0)
    y = define(lambda ctx, x: x * 3, backward).apply(x)
    (g,) = torch.autograd.grad(y * y, x, create_graph=True)
    assert g.item() == 36.0 and seen == [False]
    with pytest.raises(RuntimeError, match="twice a function that was marked with @once_differentiable"):
        g.backward()


# Forward mode


def test_jvp_maps_tangents_to_tangents():
    seen = []

    def forward(ctx, x, y, factor):
        ctx.save_for_forward(x, y)
        ctx.factor = factor
        return x * y * factor

    def jvp(ctx, tx, ty, tfactor):
        x, y = ctx.saved_tensors
        seen.append((ty.tolist(), tfactor))
        return (tx * y + x * ty) * ctx.factor

    F = define(forward, jvp=jvp)
    x, y = torch.tensor([1.0, 2.0], dtype=torch.float64), torch.tensor([3.0, 4.0], dtype=torch.float64)
    assert tangent(F.apply, ones, x, y, 10).tolist() == [30.0, 40.0]
    assert seen == [([0.0, 0.0], None)]


def test_jvp_and_backward_of_one_function_agree():
    def setup_context(ctx, inputs, output):
        ctx.save_for_backward(output)
        ctx.save_for_forward(output)

    def slope(ctx, g):
        (y,) = ctx.saved_tensors
        return g * (1 - y * y)

    F = define(lambda x: x.tanh(), slope, setup_context=setup_context, jvp=slope)
    x = leaf([0.5, -1.0])
    (gradient,) = torch.autograd.grad(F.apply(x).sum(), x)
    assert tangent(F.apply, ones, x.detach()).tolist() == pytest.approx(gradient.tolist(), rel=1e-15)


class Triple(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.mark_dirty(x)
        return x.mul_(3)

    @staticmethod
    def backward(ctx, g):
        return g * 3


def test_an_unrecorded_function_returns_what_it_wrote_outside_of_the_graph():
    x = torch.ones(2, requires_grad=True)
    y = x * 2
    with torch.no_grad():
        z = Triple.apply(y)
    assert not z.requires_grad and z is not y and z.tolist() == y.tolist() == [6.0, 6.0] and y.requires_grad
    y.mul_(2)
    assert z.tolist() == [12.0, 12.0]


def test_what_a_function_wrote_has_no_grad_of_before():
    y = torch.ones(2, requires_grad=True) * 2
    y.retain_grad()
    y.sum().backward(retain_graph=True)
    Triple.apply(y)
    assert y.grad is None
    (y * 5).sum().backward()
    assert y.grad.tolist() == [5.0, 5.0]


def test_a_function_of_a_view_without_a_place_in_the_graph_runs_backward():
    seen = []
    Seen = define(lambda ctx, x: x * 2, lambda ctx, g: seen.append(g.tolist()))
    x = torch.ones(3, requires_grad=True)
    with torch.no_grad():
        v = x[:2]
    y = Seen.apply(v)
    assert y.grad_fn.next_functions == ((None, 0),)
    y.sum().backward()
    assert seen == [[1.0, 1.0]] and x.grad is None


def test_jvp_gets_none_for_an_integer():
    """Zeros stand for the tangent of a floating point tensor that has none; an integer never has one."""
    seen = []

    def jvp(ctx, *tangents):
        seen.append([t if t is None else t.tolist() for t in tangents])
        return tangents[0]

    F = define(lambda ctx, x, y, n: x * 2, jvp=jvp)
    assert tangent(F.apply, torch.tensor(1.0), torch.tensor(2.0), torch.tensor(3.0), torch.tensor(3)).item() == 1.0
    assert seen == [[1.0, 0.0, None]]
