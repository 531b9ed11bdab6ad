"""Operations are found by the function object: the name of a function decides nothing in a call."""

import types
import warnings

import numpy as np
import pytest

import autograd_cy as ag
from autograd_cy._core.graph.tensor import attached
from autograd_cy._core.ops.operations import OPS
from autograd_cy._core.ops.out_rules import OUT_RULES, OVERLAP_RULES
from autograd_cy._core.ops.registry import BY_FUNCTION


@pytest.fixture
def renamed():
    """All functions of operations and methods have another name: one that would mislead, were it looked at."""
    methods = [value.fget if isinstance(value, property) else value for value in attached()]
    functions = {id(f): f for f in [*BY_FUNCTION, *methods] if isinstance(f, (type(attached), types.FunctionType))}.values()
    names = [f.__name__ for f in functions]
    for f, name in zip(functions, names, strict=True):
        f.__name__ = "sum" if name.endswith("_") else "add_"
    yield
    for f, name in zip(functions, names, strict=True):
        f.__name__ = name


class Seen:
    """It returns the function that is handed over."""

    @classmethod
    def __torch_function__(cls, function, types, args=(), kwargs=None):
        return function


def test_operators_hand_over_their_operations(renamed):
    x = ag.ones(2)
    assert x + Seen() is Seen() + x is ag.add
    assert x - Seen() is Seen() - x is ag.sub
    assert x / Seen() is Seen() / x is ag.div
    assert x**Seen() is ag.pow and x @ Seen() is ag.matmul and (x == Seen()) is ag.eq
    assert x % Seen() is ag.remainder and x << Seen() is ag.bitwise_left_shift


def test_batching_knows_what_is_written(renamed):
    x, y = ag.zeros(2, 3), ag.tensor([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]])
    assert ag.vmap(lambda a, b: a.add_(b).mul_(2).exp())(x, y).tolist() == (2 * y).exp().tolist()
    assert x.tolist() == (2 * y).tolist()
    with pytest.raises(RuntimeError, match="is not possible because there exists a Tensor `other`"):
        ag.vmap(lambda b: ag.zeros(3).mul_(b))(y)
    index = ag.tensor([0, 2, 1])
    assert ag.vmap(lambda a, b: a.scatter_(0, index, b))(ag.zeros(2, 3), y).tolist() == y[:, index].tolist()
    assert ag.vmap(lambda a, b: a.index_put_((index,), b))(ag.zeros(2, 3), y).tolist() == y[:, index].tolist()
    m = ag.ones(2, 2, 2)
    assert ag.vmap(ag.mm)(m, m).tolist() == ag.vmap(ag.matmul)(m, m).tolist() == (m @ m).tolist()


def test_out_has_the_type_that_the_operation_allows(renamed):
    x, out = ag.tensor([1.0, -2.0]), ag.zeros(2, dtype=ag.float64)
    assert ag.exp(x, out=out) is out and np.allclose(out, np.exp([1.0, -2.0]))
    with pytest.raises(RuntimeError, match="Found dtype Double but expected Float"):
        ag.neg(x, out=out)
    with pytest.raises(RuntimeError, match="Expected out tensor to have dtype"):
        ag.diag(x, out=out)
    with pytest.raises(TypeError):
        x.exp_(out=out)
    assert ag.prod(ag.tensor([300, 300]), dim=0, out=ag.zeros((), dtype=ag.float64)).item() == 90000


def test_keywords_and_older_forms_go_by_the_operation(renamed):
    x = ag.tensor([-1.0, 1.0])
    y = x.clone()
    assert ag.nn.functional.silu(y, inplace=True) is y and ag.nn.functional.silu(x).tolist() == y.tolist()
    assert ag.relu(x, inplace=True) is x and x.tolist() == [0, 1]
    with pytest.raises(TypeError):
        ag.exp(x, inplace=True)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        assert ag.add(x, 2, ag.ones(2)).tolist() == [2, 3]
        assert x.clone().add_(2, ag.ones(2)).tolist() == [2, 3]
        with pytest.raises(TypeError):
            ag.mul(x, 2, ag.ones(2))


def test_comparisons_in_place_are_recorded_as_what_they_are(renamed):
    x = ag.ones(2, requires_grad=True)
    assert type(x.clone().eq_(1).grad_fn).__name__ == "EqBackward0"
    assert type(x.clone().logical_not_().grad_fn).__name__ == "LogicalBackward0"
    assert type(x.clone().exp_().grad_fn).__name__ == "ExpBackward0"


def test_rules_of_out_are_those_of_operations():
    """A path that no operation has would be a rule that is never applied."""
    assert sorted((OUT_RULES.keys() | OVERLAP_RULES.keys()) - OPS.keys()) == []


def test_an_op_holds_what_its_declaration_says():
    add, add_ = OPS["add"], BY_FUNCTION[ag.Tensor.add_]
    assert (add.function, add.writes, add.base) == (ag.add, False, None)
    assert add_.writes and add_.base is ag.add and add_.batch is add.batch and "__iadd__" in add_.methods
    assert OPS["linalg.inv"].out == "one type" and OPS["relu"].inplace and not OPS["exp"].inplace
    assert all(op.function is function for function, op in BY_FUNCTION.items())
