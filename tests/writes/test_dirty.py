"""Functions that write to their inputs, or return an input, a view, or nothing."""

import weakref

import pytest
from common import define, leaf

import autograd_cy as torch


def double_in_place(ctx, x):
    ctx.mark_dirty(x)
    return x.mul_(2)


def twice(ctx, g):
    return g * 2


Doubled = define(double_in_place, twice)


def test_an_input_that_was_written_is_the_output():
    x = leaf([1.0, 2.0])
    y = x * 1
    before = y.grad_fn
    z = Doubled.apply(y)
    assert z is y and y.tolist() == [2.0, 4.0] and y._version == 2
    assert y.grad_fn.name() == "FBackward" and y.grad_fn.next_functions == ((before, 0),)
    y.sum().backward()
    assert x.grad.tolist() == [2.0, 2.0]


def test_a_view_that_was_written_writes_the_base():
    x = leaf([1.0, 2.0, 3.0])
    y = x * 1
    view = y[1:]
    assert Doubled.apply(view) is view
    assert y.grad_fn.name() == "torch::autograd::CopySlices" and view.grad_fn.name() == "AsStridedBackward0"
    (y * y).sum().backward()
    assert x.grad.tolist() == [2.0, 16.0, 24.0]


def test_the_written_input_may_stand_anywhere():
    def forward(ctx, a, text, b):
        ctx.mark_dirty(b)
        b.add_(a)
        return b

    F = define(forward, lambda ctx, g: (g * 10, None, g))
    x, y = leaf([1.0]), leaf([2.0, 3.0]) * 1
    base = y
    F.apply(x, "text", y[1:])
    assert base.tolist() == [2.0, 4.0]
    (g,) = torch.autograd.grad(base.sum(), x)
    assert g.tolist() == [10.0]


def test_an_in_place_function_may_save_its_result():
    def forward(ctx, x):
        ctx.mark_dirty(x)
        x.exp_()
        ctx.save_for_backward(x)
        return x

    Exp = define(forward, lambda ctx, g: g * ctx.saved_tensors[0])

    def function(x):
        y = x * 1
        Exp.apply(y[1:])
        Exp.apply(y[:1])
        return y

    assert torch.autograd.gradcheck(function, (leaf([0.1, 0.2, 0.3]),))
    assert torch.autograd.gradgradcheck(function, (leaf([0.1, 0.2, 0.3]),))


def test_a_constant_that_was_written_is_returned():
    x = torch.ones(2)
    assert Doubled.apply(x) is x and not x.requires_grad and x.tolist() == [2.0, 2.0]


def test_a_constant_gets_the_history():
    def forward(ctx, total, x):
        ctx.mark_dirty(total)
        return total.add_(x)

    Add = define(forward, lambda ctx, g: (None, g))
    x, total = leaf([1.0, 2.0]), torch.zeros(2, dtype=torch.float64)
    assert Add.apply(total, x) is total and total.requires_grad
    total.sum().backward()
    assert x.grad.tolist() == [1.0, 1.0]


def unreturned(ctx, x):
    ctx.mark_dirty(x)
    x.mul_(2)
    return x * 1


def two_results(ctx, x):
    ctx.mark_dirty(x)
    x.mul_(2)
    return x, x * 2


REFUSED = {
    "leaf": (Doubled, lambda x: x, "a leaf Variable that requires grad has been used in an in-place operation"),
    "view of a leaf": (Doubled, lambda x: x[:1], "a view of a leaf Variable that requires grad is being used in an in-place"),
    "one of several views": (Doubled, lambda x: (x * 1).unbind()[0], "Output 0 of Unbind is a view and is being modified"),
    "not returned": (define(unreturned, twice), lambda x: x * 1,
                     "Some elements marked as dirty during the forward method were not returned as output"),
    "view and two results": (define(two_results, lambda ctx, a, b: a), lambda x: (x * 1)[:1],
                             "If your Function modifies inplace an input that is a view of another Tensor"),
    "no tensor": (define(lambda ctx, x: ctx.mark_dirty(3), twice), lambda x: x, "mark_dirty can only accept variables"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_what_cannot_be_marked_as_dirty(case):
    function, make, message = REFUSED[case]
    with pytest.raises(RuntimeError, match=message):
        function.apply(make(leaf([1.0, 2.0])))


def test_marking_what_is_no_input_is_a_warning():
    def forward(ctx, x):
        y = x * 2
        ctx.mark_dirty(y)
        return y

    x = leaf([1.0])
    with pytest.warns(UserWarning, match="received a tensor that was not an input"):
        y = define(forward, twice).apply(x)
    y.sum().backward()
    assert x.grad.tolist() == [2.0]


def test_an_input_that_comes_back_is_a_view_of_itself():
    x = leaf([1.0, 2.0])
    y = define(lambda ctx, x: x, twice).apply(x)
    assert y is not x and y._is_view() and y._base is x and y.grad_fn.name() == "FBackward"
    y.sum().backward()
    assert x.grad.tolist() == [2.0, 2.0]


GLOBAL = torch.ones(2, dtype=torch.float64)
VIEWS = {
    "the input": (lambda ctx, x: x, twice, "This view was created inside a custom Function"),
    "a view of the input": (lambda ctx, x: x[:1], lambda ctx, g: torch.cat([g, g]), "created inside a custom Function"),
    "a view of something else": (lambda ctx, x: GLOBAL[:1], lambda ctx, g: None, "created inside a custom Function"),
    "two views": (lambda ctx, x: (x[:1], x[1:]), lambda ctx, g, h: torch.cat([g, h]), "returns multiple views"),
}


@pytest.mark.parametrize("case", VIEWS)
def test_views_that_a_function_returns_are_not_written(case):
    forward, backward, message = VIEWS[case]
    y = define(forward, backward).apply(leaf([1.0, 2.0]) * 1)
    y = y[0] if isinstance(y, tuple) else y
    assert y._is_view() and y.requires_grad
    with pytest.raises(RuntimeError, match=f"Output 0 of F is a view and is being modified inplace.*{message}"):
        y.mul_(2)


def test_results_that_are_no_tensors_pass():
    x = leaf([1.0])
    number, y, text = define(lambda ctx, x: (5, x * 1, "text"), lambda ctx, a, g, b: g).apply(x)
    assert (number, text) == (5, "text") and y.grad_fn.name() == "FBackward"
    assert define(lambda ctx, x: None, twice).apply(x) is None


def test_an_input_that_was_written_is_freed_at_once(no_collector):
    x = leaf([1.0, 2.0])
    written, base = Doubled.apply(x * 1), x * 1
    Doubled.apply(base[1:])
    dead = [weakref.ref(written), weakref.ref(base), weakref.ref(written.grad_fn)]
    del written, base
    assert [d() for d in dead] == [None, None, None]
