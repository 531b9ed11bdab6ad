"""locate: which operation of a function has the wrong gradient."""

import linecache

import pytest

import autograd_cy as ag


class Right(ag.autograd.Function):
    @staticmethod
    def forward(ctx, x, factor):
        ctx.factor = factor
        return x * factor

    @staticmethod
    def backward(ctx, g):
        return g * ctx.factor, None


class Wrong(ag.autograd.Function):
    @staticmethod
    def forward(ctx, x, power=2):
        ctx.save_for_backward(x)
        return x**power

    @staticmethod
    def backward(ctx, g):
        return 3 * ctx.saved_tensors[0] * g, None


def network(x, w):
    hidden = (x @ w).tanh()
    hidden = Right.apply(hidden, 3.0)
    hidden = Wrong.apply(hidden)  # here
    return (hidden * hidden).sum()


X, W = (ag.randn(*shape, dtype=ag.float64).requires_grad_() for shape in ((4, 3), (3, 2)))


def test_the_wrong_operation_is_found_with_its_line():
    place = ag.testing.locate(network, X, W)
    assert place and place.operation == "Wrong.apply" and place.node == "WrongBackward" and place.verdict.culprit == "factor"
    assert place.file == __file__ and linecache.getline(__file__, place.line).rstrip().endswith("# here")
    assert "# here" in str(place) and "WrongBackward" in str(place) and "3/2 times" in str(place)


def test_nothing_wrong():
    place = ag.testing.locate(lambda x, w: Right.apply((x @ w).sin(), 2.0).sum(), X, W)
    assert not place and place.checked == 4 and str(place) == "each of the 4 operations has the right gradient"


def test_what_draws_random_numbers_is_passed_over():
    assert not ag.testing.locate(lambda x: (x * ag.rand(4, 3, dtype=ag.float64)).sum(), X)


def test_what_is_not_recorded_is_not_looked_at():
    with ag.no_grad():
        assert ag.testing.locate(lambda x: Wrong.apply(x).sum(), X).checked == 0


def test_the_inputs_are_left_alone():
    before = X.tolist()
    ag.testing.locate(network, X, W)
    assert X.tolist() == before and X.grad is None


def test_an_error_of_the_function_is_the_users_and_nobody_watches_afterwards():
    from autograd_cy.autograd import function

    def fails(x):
        Wrong.apply(x)
        raise LookupError("mine")

    with pytest.raises(LookupError, match="mine"):
        ag.testing.locate(fails, X)
    assert not function._watchers
