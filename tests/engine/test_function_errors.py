"""autograd.Function: what is refused of forward, backward and jvp, and old ways that are deprecated."""

import sys

import pytest
from common import IS_TORCH, define, leaf, tangent

import autograd_cy as torch

Function = torch.autograd.Function
ones = torch.ones(2, dtype=torch.float64)
threes = torch.full((2,), 3.0, dtype=torch.float64)


def identity(ctx, x):
    return x * 1


def add(ctx, a, b):
    return a + b


def returning(*gradients):
    return lambda ctx, g: gradients


WRONG_BACKWARDS = {
    "none at all": (define(identity), NotImplementedError, "either the backward or vjp method"),
    "both kinds": (define(identity, returning(ones), vjp=returning(ones)), RuntimeError,
                   "Implementing both 'backward' and 'vjp'"),
    "too few": (define(add, returning(ones)), RuntimeError,
                r"function FBackward returned an incorrect number of gradients \(expected 2, got 1\)"),
    "too many": (define(add, returning(ones, ones, ones)), RuntimeError, r"\(expected 2, got 3\)"),
    "shape": (define(add, returning(torch.ones(3), ones)), RuntimeError,
              r"FBackward returned an invalid gradient at index 0 - got \[3\] but expected shape .* \[2\]"),
    "smaller shape": (define(add, returning(ones, torch.ones(()))), RuntimeError,
                      r"invalid gradient at index 1 - got \[\] but expected shape compatible with \[2\]"),
    "type": (define(add, returning(1, ones)), RuntimeError, r"expected Variable or None \(got int\)"),
    "gradient of a non-tensor": (
        define(lambda ctx, x, _: x * 1, returning(ones, ones)), RuntimeError,
        "returned a gradient different than None at position 2"),
}


@pytest.mark.parametrize("wrong", WRONG_BACKWARDS)
def test_what_backward_returns_is_checked(wrong):
    F, error, message = WRONG_BACKWARDS[wrong]
    x, y = leaf([1.0, 2.0]), leaf([3.0, 4.0])
    second = {"gradient of a non-tensor": (3,), "none at all": (), "both kinds": ()}.get(wrong, (y,))
    with pytest.raises(error, match=message):
        F.apply(x, *second).sum().backward()
    assert x.grad is None and y.grad is None


@pytest.mark.parametrize("returned, expected", [
    pytest.param((ones * 2, ones, None), [2.0, 2.0], id="trailing None"),
    pytest.param((torch.ones(3, 2, dtype=torch.float64), ones), [3.0, 3.0], id="broadcast"),
    pytest.param((torch.ones(2, dtype=torch.float32), ones), [1.0, 1.0], id="dtype"),
    pytest.param((None, ones), None, id="None"),
])
def test_gradients_are_brought_to_the_inputs_form(returned, expected):
    x, y = leaf([1.0, 2.0]), leaf([3.0, 4.0])
    define(add, returning(*returned)).apply(x, y).sum().backward()
    assert (x.grad if expected is None else x.grad.tolist()) == expected
    assert y.grad.tolist() == [1.0, 1.0] and (x.grad is None or x.grad.dtype == x.dtype)


def test_gradients_of_inputs_that_need_none_are_dropped():
    x, c = leaf([1.0, 2.0]), torch.ones(2, dtype=torch.float64)
    define(add, lambda ctx, g: (g, g)).apply(x, c).sum().backward()
    assert x.grad.tolist() == [1.0, 1.0] and c.grad is None


def saving(what):
    def forward(ctx, x):
        ctx.save_for_backward(x, what)
        return x * 1

    return forward


WRONG_FORWARDS = {
    "no forward": (lambda x: type("F", (Function,), {}).apply(x), NotImplementedError,
                   "You must implement the forward function"),
    "saving an int": (lambda x: define(saving(1)).apply(x), TypeError,
                      "save_for_backward can only save variables, but argument 1 is of type int"),
    "error in forward": (lambda x: define(lambda ctx, x: {}["missing"]).apply(x), KeyError, "missing"),
}


@pytest.mark.parametrize("wrong", WRONG_FORWARDS)
def test_wrong_forwards_are_refused(wrong):
    call, error, message = WRONG_FORWARDS[wrong]
    with pytest.raises(error, match=message):
        call(leaf([1.0, 2.0]))


WRONG_JVPS = {
    "none": (None, NotImplementedError, "You must implement the jvp function"),
    "count": (lambda ctx, t: (t, t), RuntimeError,
              r"jvp returned an invalid number of forward gradients \(expected 1 but got 2\)"),
    "type": (lambda ctx, t: 3, RuntimeError, r"expected Variable or None \(got int\) for grad output 0"),
    "size": (lambda ctx, t: torch.ones(3), RuntimeError, "forward gradient that has a different size"),
}


@pytest.mark.parametrize("wrong", WRONG_JVPS)
def test_what_jvp_returns_is_checked(wrong):
    jvp, error, message = WRONG_JVPS[wrong]
    with pytest.raises(error, match=message):
        tangent(define(identity, jvp=jvp).apply, ones, torch.tensor([1.0, 2.0], dtype=torch.float64))


def doubled_in_place(ctx, x):
    ctx.mark_dirty(x)
    return x.mul_(2)


def changed_but_not_returned(ctx, t):
    t.mul_(2)
    return t.view_as(t)


NOT_MODIFIED, NOT_AS_IS = "not modifying the forward mode gradients inplace", "not returning the forward mode gradients as-is"
NO_VIEW, OTHER_VIEW = "but the jvp is not returning a view", "not returning a view of the given grad input"
SHARED_OUTPUTS = {
    "written": (doubled_in_place, lambda ctx, t: t.mul_(2), None, [6.0, 6.0]),
    "written, tangent not": (doubled_in_place, lambda ctx, t: t * 2, NOT_MODIFIED, None),
    "written, no tangent": (doubled_in_place, lambda ctx, t: None, NOT_MODIFIED, None),
    "written, not returned": (doubled_in_place, changed_but_not_returned, NOT_AS_IS, None),
    "returned": (lambda ctx, x: x, lambda ctx, t: t.view_as(t), None, [3.0, 3.0]),
    "returned, as it is": (lambda ctx, x: x, lambda ctx, t: t, NO_VIEW, None),
    "returned, a copy": (lambda ctx, x: x, lambda ctx, t: t.clone(), NO_VIEW, None),
    "view": (lambda ctx, x: x[0:1], lambda ctx, t: t[0:1], None, [3.0]),
    "view, a copy": (lambda ctx, x: x[0:1], lambda ctx, t: t[0:1].clone(), NO_VIEW, None),
    "view, none": (lambda ctx, x: x[0:1], lambda ctx, t: None, NO_VIEW, None),
    "view of another": (lambda ctx, x: x[0:1], lambda ctx, t: t.clone()[0:1], OTHER_VIEW, None),
}


@pytest.mark.parametrize("case", SHARED_OUTPUTS)
def test_tangents_of_outputs_in_the_memory_of_an_input(case):
    """What is written or shared is so for the tangents, too."""
    forward, jvp, message, expected = SHARED_OUTPUTS[case]
    function = define(forward, jvp=jvp).apply
    if message is None:
        assert tangent(function, threes.clone(), ones.clone()).tolist() == expected
        return
    with pytest.raises(RuntimeError, match=message):
        tangent(function, threes.clone(), ones.clone())


def test_the_tangent_of_a_view_is_a_view_of_the_same_base():
    function = define(lambda ctx, x: x[0:1], jvp=lambda ctx, t: t.clone()[0:1]).apply
    with pytest.raises(RuntimeError, match="not returning a view of the same base as the given grad input"):
        tangent(lambda x: function(x.view_as(x)), threes.clone(), ones.clone())


def test_the_tangent_of_a_written_input_that_had_none_is_what_jvp_returns():
    def forward(ctx, x, y):
        ctx.mark_dirty(x)
        return x.mul_(y)

    x = ones.clone()
    function = define(forward, jvp=lambda ctx, tx, ty: ty * 1).apply
    assert tangent(lambda y: function(x, y), threes, ones).tolist() == [3.0, 3.0]


def test_functions_are_not_instantiated():
    with pytest.warns(DeprecationWarning, match="should not be instantiated"):
        function = define(identity)()
    with pytest.raises(RuntimeError, match="Legacy autograd function with non-static forward method"):
        function(leaf(1.0))


def test_mark_shared_storage_is_deprecated():
    def forward(ctx, x):
        ctx.mark_shared_storage((x, x))
        return x * 1

    with pytest.warns(FutureWarning, match="`mark_shared_storage` is deprecated"):
        define(forward, returning(ones)).apply(leaf([1.0, 2.0]))


def test_a_complex_gradient_for_a_real_input_is_an_error():
    """Its imaginary part was lost."""

    class Complex(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x * 1

        @staticmethod
        def backward(ctx, g):
            return g * 1j

    with pytest.raises(RuntimeError, match=r"(?i)complex"):
        Complex.apply(leaf([1.0, 2.0])).sum().backward()


@pytest.mark.skipif(IS_TORCH or sys.version_info >= (3, 12), reason="a flaw of CPython 3.11")
def test_apply_has_few_instructions():
    """A handler notes the place of its exception as an int. Beyond 256 that is allocated; where all memory is denied, CPython
    tries it forever."""
    assert len(Function.apply.__func__.__code__.co_code) // 2 <= 256
