"""autograd.Function: outputs that are not differentiable, flags of the class, and which gradients are asked for."""

import weakref

import pytest
from common import define, differs, leaf, tangent

import autograd_cy as torch

Function = torch.autograd.Function
once_differentiable = torch.autograd.function.once_differentiable
ones = torch.ones(2, dtype=torch.float64)


def multiply(ctx, a, b):
    ctx.save_for_backward(a, b)
    return a * b


# mark_non_differentiable


def split(ctx, x):
    y, z, i = x * 2, x * 3, x > 1
    ctx.mark_non_differentiable(y)
    return y, z, i


@pytest.mark.parametrize("materialize", [True, False])
def test_marked_and_integer_outputs_get_no_gradient(materialize):
    def forward(ctx, x):
        ctx.set_materialize_grads(materialize)
        return split(ctx, x)

    def backward(ctx, *gradients):
        seen.extend(g if g is None else (g.tolist(), g.dtype) for g in gradients)
        return gradients[1]

    seen = []
    y, z, i = define(forward, backward).apply(leaf([1.0, 2.0]))
    assert (y.requires_grad, y.grad_fn, y.is_leaf) == (False, None, True) and not i.requires_grad
    assert z.requires_grad and z.output_nr == 1
    z.sum().backward()
    nothing = [([0.0, 0.0], torch.float64), ([False, False], torch.bool)] if materialize else [None, None]
    assert seen == [nothing[0], ([1.0, 1.0], torch.float64), nothing[1]]
    with pytest.raises(RuntimeError, match="element 0 of tensors does not require grad and does not have a grad_fn"):
        y.sum().backward()


@pytest.mark.parametrize("forward, requires", [
    pytest.param(lambda ctx, x: (ctx.mark_non_differentiable(x), x)[1], [False], id="an input"),
    pytest.param(lambda ctx, x: (ctx.mark_non_differentiable(x), x * 1)[1], [True], id="no output"),
    pytest.param(lambda ctx, x: (ctx.mark_non_differentiable(), x * 1)[1], [True], id="nothing"),
])
def test_a_mark_holds_for_that_output_alone(forward, requires):
    x = leaf([1.0, 2.0])
    y = define(forward, lambda ctx, g: g).apply(x)
    assert [y.requires_grad] == requires and y is not x and x.requires_grad


def test_the_last_marks_count():
    def forward(ctx, x):
        outputs = x * 1, x * 2
        for y in outputs:
            ctx.mark_non_differentiable(y)
        return outputs

    assert [y.requires_grad for y in define(forward, lambda ctx, *g: g[0]).apply(leaf(1.0))] == [True, False]


def test_marks_may_be_set_in_setup_context():
    def setup_context(ctx, inputs, output):
        ctx.mark_non_differentiable(output[0])

    F = define(lambda x: (x * 1, x * 2), lambda ctx, *g: g[1], setup_context=setup_context)
    assert [y.requires_grad for y in F.apply(leaf(1.0))] == [False, True]


def test_a_marked_output_is_not_kept_alive_by_the_node():
    y, z, _ = define(split, lambda ctx, *g: g[1]).apply(leaf([1.0, 2.0]))
    ref = weakref.ref(y)
    del y
    assert ref() is None and z.requires_grad


@pytest.mark.parametrize("wrong", [1, None, [ones]])
def test_only_tensors_are_marked(wrong):
    with pytest.raises(RuntimeError, match="mark_non_differentiable only accepts variable arguments"):
        define(lambda ctx, x: ctx.mark_non_differentiable(wrong)).apply(leaf(1.0))


@pytest.mark.parametrize("wrong", [1, "no", None])
def test_set_materialize_grads_takes_a_bool(wrong):
    with pytest.raises(TypeError, match="set_materialize_grads received an invalid combination of arguments"):
        define(lambda ctx, x: ctx.set_materialize_grads(wrong)).apply(leaf(1.0))


def tangents(forward, jvp):
    with torch.autograd.forward_ad.dual_level():
        outputs = define(forward, jvp=jvp).apply(torch.autograd.forward_ad.make_dual(ones, ones))
        return [torch.autograd.forward_ad.unpack_dual(y).tangent for y in outputs if isinstance(y, torch.Tensor)]


def test_jvp_has_none_for_outputs_that_are_not_differentiable():
    first, second, third = tangents(split, lambda ctx, t: (None, 3 * t, None))
    assert (first, second.tolist(), third) == (None, [3.0, 3.0], None)
    for position in (0, 2):
        wrong = [None, None, None]
        wrong[position] = ones
        message = f"jvp returned a gradient at position {position}, but  ?the corresponding forward output is not a differ"
        with pytest.raises(RuntimeError, match=message):
            tangents(split, lambda ctx, t, wrong=wrong: tuple(wrong))


@pytest.mark.parametrize("constant", [lambda x: x[0:1], lambda x: x])
def test_jvp_has_none_for_views_that_are_not_differentiable(constant):
    """A view of the tangent was asked for, and refused when it came."""

    def forward(ctx, x):
        y = constant(x)
        ctx.mark_non_differentiable(y)
        return x * 3, y

    assert tangents(forward, lambda ctx, t: (3 * t, None))[0].tolist() == [3.0, 3.0]


def test_jvp_has_an_entry_for_outputs_that_are_no_tensors():
    (found,) = tangents(lambda ctx, x: ("text", x * 2), lambda ctx, t: (None, 2 * t))
    assert found.tolist() == [2.0, 2.0]
    with pytest.raises(RuntimeError, match=r"invalid number of forward gradients \(expected 2 but got 1\)"):
        tangents(lambda ctx, x: ("text", x * 2), lambda ctx, t: 2 * t)


# outputs and arguments of other kinds


@pytest.mark.parametrize("result", [3, None, (), "text", [ones], {"key": ones}])
def test_forward_may_return_what_is_no_tensor(result):
    assert define(lambda ctx, x: result).apply(leaf(1.0)) is result or result == ()


def test_outputs_that_are_no_tensors_keep_their_place():
    seen = []

    def backward(ctx, *gradients):
        seen.append(gradients)
        return gradients[1]

    nothing, y, text, inner = define(lambda ctx, x: (None, x * 1, "text", (x * 2,)), backward).apply(leaf(1.0))
    assert nothing is None and text == "text" and y.output_nr == 1 and not inner[0].requires_grad
    y.backward()
    assert seen == [(None, torch.tensor(1.0), None, None)]


def test_one_tensor_returned_twice_is_two_outputs():
    def forward(ctx, x):
        y = x * 1
        return y, y

    x = leaf(1.0)
    y, z = define(forward, lambda ctx, g, h: g + 10 * h).apply(x)
    assert (y.output_nr, z.output_nr) in [(0, 1), (1, 1)]
    (y * 2 + z * 3).backward()
    assert x.grad.item() in (32.0, 50.0)


def scaled(ctx, x, factor=2):
    ctx.factor = factor
    return x * factor


@pytest.mark.parametrize("arguments, factor", [({}, 2), ({"factor": 5}, 5)])
def test_keyword_arguments_count_as_inputs_where_they_are_given(arguments, factor):
    x, seen = leaf([1.0, 2.0]), []

    def backward(ctx, g):
        seen.append(ctx.needs_input_grad)
        return (g * ctx.factor, *[None] * len(arguments))

    F = define(scaled, backward)
    F.apply(x, **arguments).sum().backward()
    F.apply(x=x, **arguments).sum().backward()
    assert x.grad.tolist() == [2.0 * factor] * 2 and seen == [(True, *[False] * len(arguments))] * 2


@pytest.mark.parametrize("call", [lambda F, x: F.apply(x), lambda F, x: F.apply(x, 2), lambda F, x: F.apply(factor=2, x=x)])
def test_setup_context_sees_defaults_and_keywords_in_order(call):
    def setup_context(ctx, inputs, output):
        ctx.inputs = inputs

    F = define(lambda x, factor=2: x * factor, lambda ctx, g: (g * ctx.inputs[1], None), setup_context=setup_context)
    x = leaf(3.0)
    y = call(F, x)
    y.backward()
    assert y.grad_fn.inputs[0] is x and y.grad_fn.inputs[1:] == (2,) and x.grad.item() == 2.0
    with pytest.raises(TypeError, match="unexpected keyword argument 'power'"):
        F.apply(x, power=2)


# once_differentiable


def once(backward):
    return define(lambda ctx, a, b: a * 2, once_differentiable(backward))


@pytest.mark.parametrize("backward, differentiable", [
    (lambda ctx, g: (g * 2, None), [True, False]),
    (lambda ctx, g: (g * 2, g * 3), [True, True]),
    (lambda ctx, g: (g, g), [True, True]),
    (lambda ctx, g: (None, None), [False, False]),
])
def test_only_gradients_that_need_it_refuse_to_be_differentiated(backward, differentiable):
    x, w, seed = leaf([1.0, 2.0]), leaf([3.0, 4.0]), leaf([5.0, 6.0])
    gradients = torch.autograd.grad(once(backward).apply(x, w), (x, w), seed, create_graph=True, allow_unused=True)
    assert [g is not None and g.requires_grad for g in gradients] == differentiable
    for g in gradients:
        if g is not None:
            with pytest.raises(RuntimeError, match="differentiate twice a function that was marked with @once_differ"):
                g.sum().backward(retain_graph=True)
    plain = torch.autograd.grad(once(backward).apply(x, w), (x, w), ones, create_graph=True, allow_unused=True)
    assert not any(g is not None and g.requires_grad for g in plain)


@differs("what errors tell", "'int' object has no attribute 'detach'")
def test_what_a_once_differentiable_backward_returns_is_checked_as_ever():
    x, seed = leaf([1.0, 2.0]), leaf([5.0, 6.0])
    with pytest.raises(RuntimeError, match=r"expected Variable or None \(got int\)"):
        torch.autograd.grad(once(lambda ctx, g: (3, None)).apply(x, ones), x, seed, create_graph=True)


def test_once_differentiable_keeps_the_name_and_the_docstring():
    def backward(ctx, g):
        """Doubles."""

    assert once_differentiable(backward).__name__ == "backward" and once_differentiable(backward).__doc__ == "Doubles."


# clear_saved_tensors_on_access


class Clearing(Function):
    clear_saved_tensors_on_access = True
    forward = staticmethod(multiply)
    read = staticmethod(lambda ctx: ctx.saved_tensors)

    @staticmethod
    def backward(ctx, g):
        a, b = Clearing.read(ctx)
        return g * b, g * a


once_only = "saved_tensors can only be accessed once when clear_saved_tensors_on_access=True"


def test_saved_tensors_are_given_away_on_access(monkeypatch):
    def read(ctx):
        a, b = ctx.saved_tensors
        refs.append(weakref.ref(a))
        del a
        dead.append(refs[0]() is None)
        assert ctx._raw_saved_tensors == ()
        with pytest.raises(RuntimeError, match=once_only):
            ctx.saved_tensors  # noqa: B018
        return b, b

    refs, dead = [], []
    monkeypatch.setattr(Clearing, "read", staticmethod(read))
    x = leaf([1.0, 2.0])
    Clearing.apply(torch.ones(2, dtype=torch.float64), x * 2).sum().backward()
    assert dead == [True]


def test_a_retained_graph_has_no_saved_tensors_left():
    x = leaf([1.0, 2.0])
    y = Clearing.apply(x, x)
    y.sum().backward(retain_graph=True)
    assert x.grad.tolist() == [2.0, 4.0]
    with pytest.raises(RuntimeError, match=once_only):
        y.sum().backward(retain_graph=True)


@differs("what errors tell", "the same text as with a retained graph")
def test_a_freed_graph_says_so_first():
    y = Clearing.apply(leaf(1.0), leaf(2.0))
    y.backward()
    with pytest.raises(RuntimeError, match="Trying to backward through the graph a second time"):
        y.backward()


def test_the_flag_that_clears_is_a_bool():
    F = type("F", (Clearing,), {"clear_saved_tensors_on_access": 1})
    with pytest.raises(RuntimeError, match="clear_saved_tensors_on_access must be a bool, got int"):
        F.apply(leaf(1.0), leaf(2.0)).backward()


# boxed_grads_call


def boxed(forward, backward, **others):
    return type("F", (define(forward, backward, **others),), {"boxed_grads_call": True})


def twice_thrice(ctx, x):
    return x * 2, x * 3


def test_a_boxed_backward_gets_one_list():
    def backward(ctx, gradients):
        seen.append((type(gradients), [g.tolist() for g in gradients]))
        return gradients[0] * 2 + gradients[1] * 3

    x, seen = leaf([1.0, 2.0]), []
    y, z = boxed(twice_thrice, backward).apply(x)
    (y.sum() + 10 * z.sum()).backward()
    assert seen == [(list, [[1.0, 1.0], [10.0, 10.0]])] and x.grad.tolist() == [32.0, 32.0]


@pytest.mark.parametrize("outputs", [1, 2])
@pytest.mark.parametrize("create_graph", [False, True])
def test_a_boxed_backward_can_free_its_gradients(outputs, create_graph):
    def backward(ctx, gradients):
        refs = [weakref.ref(g) for g in gradients]
        sizes = [g.shape for g in gradients]
        gradients.clear()
        seen.extend(ref() is None for ref in refs)
        return torch.ones(sizes[0], dtype=torch.float64)

    x, seen = leaf([1.0, 2.0]), []
    y = boxed(twice_thrice if outputs == 2 else lambda ctx, x: x * 2, backward).apply(x)
    y = y[0] * 1 + y[1] * 1 if outputs == 2 else y * 1
    torch.autograd.grad(y.sum(), x, create_graph=create_graph)
    assert seen == [True] * outputs


def test_the_memory_of_a_boxed_gradient_is_freed_too():
    def backward(ctx, gradients):
        ref = weakref.ref(gradients[0].numpy())
        gradients.clear()
        seen.append(ref() is None)
        return ones

    seen = []
    torch.autograd.backward(boxed(lambda ctx, x: x * 2, backward).apply(leaf([1.0, 2.0])).exp().sum())
    assert seen == [True]


def test_hooks_see_the_gradients_of_a_boxed_backward():
    seen = []
    y = boxed(lambda ctx, x: x * 2, lambda ctx, gradients: gradients.pop() * 2).apply(leaf([1.0, 2.0]))
    y.grad_fn.register_prehook(lambda incoming: (incoming[0] * 10,))
    y.grad_fn.register_hook(lambda results, incoming: seen.append((results[0].tolist(), incoming[0].tolist())))
    y.sum().backward()
    assert seen == [([20.0, 20.0], [10.0, 10.0])]


def test_a_boxed_backward_may_be_a_vjp_or_differentiable_once():
    x = leaf([1.0, 2.0])
    boxed(lambda ctx, x: x * 2, None, vjp=lambda ctx, gradients: gradients[0] * 2).apply(x).sum().backward()
    F = boxed(lambda ctx, x: x * 2, once_differentiable(lambda ctx, gradients: gradients[0] * 2))
    F.apply(x).sum().backward()
    assert x.grad.tolist() == [4.0, 4.0]


@differs("`once_differentiable` with", "finds no gradient in the list that requires grad, and returns one without history")
def test_a_boxed_backward_marked_once_differentiable_refuses_a_second_time():
    x, seed = leaf([1.0, 2.0]), leaf([3.0, 4.0])
    F = boxed(lambda ctx, x: x * 2, once_differentiable(lambda ctx, gradients: gradients[0] * 2))
    (g,) = torch.autograd.grad(F.apply(x), x, seed, create_graph=True)
    with pytest.raises(RuntimeError, match="differentiate twice a function that was marked with @once_differentiable"):
        g.sum().backward()


def test_a_node_can_be_applied_by_hand():
    F = define(lambda ctx, x: x * 2, lambda ctx, g: g * 2, jvp=lambda ctx, t: t * 3)
    node = F.apply(leaf([1.0, 2.0])).grad_fn
    assert node.apply(ones).tolist() == node.apply_boxed(ones).tolist() == [2.0, 2.0]
    assert node.apply_jvp(ones).tolist() == [3.0, 3.0]
    node = boxed(lambda ctx, x: x * 2, lambda ctx, gradients: gradients[0] * 2).apply(leaf([1.0, 2.0])).grad_fn
    assert node.apply(ones).tolist() == node.apply_boxed([ones]).tolist() == [2.0, 2.0]


# needs_input_grad


def needs(ask, **flags):
    """What ctx.needs_input_grad is in the backward of F(x, constant, w) that `ask(y, x, w)` runs."""
    seen = []

    def backward(ctx, g):
        seen.append(ctx.needs_input_grad)
        return g, None, g, None

    F = type("F", (define(lambda ctx, x, constant, w, number: x + w, backward),), flags)
    x, w = leaf([1.0, 2.0]), leaf([3.0, 4.0])
    y = F.apply(x * 1, ones, w, 3)
    assert y.grad_fn.needs_input_grad == (True, False, True, False)
    ask(y.sum(), x, w)
    assert y.grad_fn.needs_input_grad == (True, False, True, False)
    return seen


BOTH = (True, False, True, False)
ASKED = {
    "whole": (lambda y, x, w: y.backward(), BOTH),
    "first": (lambda y, x, w: torch.autograd.grad(y, x), (True, False, False, False)),
    "second": (lambda y, x, w: torch.autograd.grad(y, w), (False, False, True, False)),
    "both": (lambda y, x, w: torch.autograd.grad(y, (x, w)), BOTH),
    "inputs": (lambda y, x, w: y.backward(inputs=[w]), (False, False, True, False)),
    "recorded": (lambda y, x, w: torch.autograd.grad(y, x, create_graph=True), (True, False, False, False)),
}


@differs("`ctx.needs_input_grad`", "shows what was recorded")
@pytest.mark.parametrize("ask", ASKED)
def test_needs_input_grad_tells_what_this_backward_needs(ask):
    assert needs(ASKED[ask][0]) == [ASKED[ask][1]]


@pytest.mark.parametrize("ask", ASKED)
def test_needs_input_grad_can_be_as_recorded(ask):
    assert needs(ASKED[ask][0], exact_needs_input_grad=False) == [BOTH]


@differs("`ctx.needs_input_grad`", "shows what was recorded")
def test_needs_input_grad_of_a_backward_inside_a_backward_is_its_own():
    seen = []

    def backward(ctx, g):
        seen.append(ctx.needs_input_grad)
        if len(seen) == 1:
            with torch.enable_grad():
                torch.autograd.grad(F.apply(leaf(1.0), w), w)
            seen.append(ctx.needs_input_grad)
        return g, g

    F = define(lambda ctx, a, b: a + b, backward)
    x, w = leaf(1.0), leaf(2.0)
    torch.autograd.grad(F.apply(x, w), x)
    assert seen == [(True, False), (False, True), (True, False)]


@differs("`ctx.needs_input_grad`", "shows what was recorded")
def test_a_gradient_that_is_not_needed_need_not_be_computed():
    def backward(ctx, g):
        computed.append(ctx.needs_input_grad)
        a, b = ctx.saved_tensors
        return g * b if ctx.needs_input_grad[0] else None, g * a if ctx.needs_input_grad[1] else None

    computed = []
    a, b = leaf(2.0), leaf(3.0)
    y = define(multiply, backward).apply(a, b)
    assert torch.autograd.grad(y, b, retain_graph=True)[0].item() == 2.0
    y.backward()
    assert (a.grad.item(), b.grad.item()) == (3.0, 2.0) and computed == [(False, True), (True, True)]


def test_needs_input_grad_may_be_set():
    node = define(lambda ctx, x: x * 1, lambda ctx, g: g).apply(leaf(1.0)).grad_fn
    node.needs_input_grad = (False,)
    assert node.needs_input_grad == (False,)


def test_a_tangent_of_a_function_with_keyword_arguments():
    F = define(scaled, jvp=lambda ctx, t, factor: t * ctx.factor)
    assert tangent(lambda x: F.apply(x, factor=4), ones, ones.clone()).tolist() == [4.0, 4.0]
