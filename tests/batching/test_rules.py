"""Batching rules belong to function objects: no other callable reaches one, and what a rule returns is checked."""

import functools
import subprocess
import sys
import warnings

import numpy as np
import pytest

import autograd_cy as ag
import autograd_cy.nn.functional
from autograd_cy._core.batching import rules
from autograd_cy._core.ops.registry import OPS
from autograd_cy.overrides import handle_torch_function

NAMES = {"to", "half", "numpy", "data", "fill_", "new_zeros", "zeros_like", "set_item"}
NAMES = sorted(NAMES | {op.name for op in OPS.values()})
REFUSALS = (
    TypeError, ValueError, RuntimeError, IndexError, AttributeError, AssertionError, NotImplementedError, OverflowError,
    MemoryError,
)  # fmt: skip


def handed_over(function, x):
    return ag.vmap(lambda row: handle_torch_function(function, (row,), row))(x)


def test_a_function_named_like_an_operation_has_no_rule():
    """Rules were found by `__name__`: one named `to` or `half` ended the interpreter."""
    x = ag.arange(6.0).reshape(3, 2)
    for name in NAMES:
        def total(row):
            return row.sum()

        total.__name__ = name
        assert rules.rule_of(total) is None
        assert handed_over(total, x).tolist() == [1, 5, 9]


class Impostor:
    """A callable that equals every function, and hashes like one."""

    def __init__(self, like):
        self.like = like

    def __hash__(self):
        return hash(self.like)

    def __eq__(self, other):
        return True

    @property
    def __name__(self):
        return 3

    def __call__(self, row):
        return row.sum()


@pytest.mark.parametrize("function", [
    Impostor(ag.exp), Impostor(ag.Tensor.zero_), functools.partial(ag.sum, dim=0), lambda row: row.sum(), ag.sum,
    ag.Tensor.sum,
], ids=["impostor", "impostor of a method", "partial", "lambda", "operation", "method"])  # fmt: skip
def test_what_calls_may_be_handed_over_within_vmap(function):
    x = ag.arange(12.0).reshape(2, 3, 2)
    assert ag.vmap(lambda a: ag.vmap(lambda row: handle_torch_function(function, (row,), row))(a))(x).equal(x.sum(2))
    assert handed_over(function, x[0]).equal(x[0].sum(1))


def test_an_operation_is_handed_over_by_the_tensors_that_it_gets():
    """The relevant arguments alone decided the batch, and a sum of no batch counted as one of all samples."""
    x = ag.arange(6.0).reshape(3, 2)
    y = ag.vmap(lambda row: row * 0 + handle_torch_function(ag.sum, (row,), x))(x)
    assert y.equal(ag.full((3, 2), 15.0))
    y = ag.vmap(lambda row: handle_torch_function(ag.sum, (x,), row))(x)
    assert y.equal(x.sum(1))


@pytest.mark.parametrize("returned", [lambda x: x.sum(), lambda x: x[:2], lambda x: ag.ones(0, 3), lambda x: ag.tensor(1.0)],
                         ids=["of no dimensions", "too few", "none", "a constant"])
def test_the_result_of_a_rule_has_the_samples_first(returned):
    """One without dimensions was read beyond its end."""
    def function(x):
        return x

    rules.declare_rule(function, lambda call, x: returned(call.value(x)))
    with pytest.raises(RuntimeError, match="its first dimension must hold the samples"):
        handed_over(function, ag.ones(3, 2))
    rules.declare_rule(function, lambda call, x: (call.value(x) * 2, returned(call.value(x))))
    with pytest.raises(RuntimeError, match="its first dimension must hold the samples"):
        handed_over(function, ag.ones(3, 2))


@pytest.mark.parametrize("thing", [functools.partial(ag.sum), Impostor(ag.exp), "to", None, ag.Tensor],
                         ids=["partial", "impostor", "name", "None", "class"])
def test_only_functions_have_rules(thing):
    with pytest.raises(TypeError, match="is not a function"):
        rules.declare_rule(thing, rules.elementwise)
    assert rules.rule_of(thing) is None


@pytest.mark.parametrize("key", sorted(OPS))
def test_operations_refuse_garbage_beside_a_batch(key):
    """Rules took a first argument for a Tensor, or handed a batched one on to the same operation without end."""
    function = OPS[key].function

    def call(row, number):
        for wrong in (None, 3, [], (row,), (number, row), "x"):
            for arguments in ((), (row,), (number,), (None, row), (row, number), (row, (), number), (-1, (), number)):
                for given in ((wrong, *arguments), (*arguments, wrong)):
                    try:
                        function(*given)
                    except REFUSALS:
                        pass
        return row

    x = ag.arange(6.0).reshape(3, 2)
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        assert ag.vmap(call)(x, ag.arange(3)).shape == (3, 2)


@pytest.mark.parametrize("wrong", [None, 3, [], [ag.ones(1)], "x"], ids=["None", "3", "[]", "a list", "x"])
def test_an_operation_in_place_refuses_what_is_no_tensor(wrong):
    """relu(None, inplace=True) was a segmentation fault."""
    for op in OPS.values():
        if op.inplace:
            with pytest.raises(TypeError, match=r"missing|argument"):
                op.function(wrong, inplace=True)
            with pytest.raises(TypeError, match=r"missing|argument"):
                op.function(input=wrong, inplace=True)
            with pytest.raises(TypeError, match="missing"):
                op.function(inplace=True)


# without vmap


def test_a_plain_tensor_calls_the_function():
    x = ag.tensor([1.0, 2.0], requires_grad=True)
    y = handle_torch_function(lambda a, scale: a * scale, (x,), x, scale=3)
    y.sum().backward()
    assert x.grad.tolist() == [3, 3]
    assert handle_torch_function(max, (x, 3), 2, 5) == 5


@pytest.mark.parametrize("relevant", [(), (3,), [None], (ag.nn.Parameter(ag.ones(1)),), iter(())],
                         ids=["nothing", "a number", "None", "a Parameter", "an iterator"])
def test_no_argument_takes_the_call_over(relevant):
    with pytest.raises(TypeError, match=r"no implementation found for 'builtins\.max' on types that implement .*: \[\]"):
        handle_torch_function(max, relevant, 2, 5)


def test_all_arguments_that_could_take_over_decline():
    class Declines:
        @classmethod
        def __torch_function__(cls, function, types, args=(), kwargs=None):
            return NotImplemented

    with pytest.raises(TypeError, match=r"no implementation found for 'functools\.partial\(.*Declines'>\]"):
        handle_torch_function(functools.partial(max, 2), (Declines(), ag.ones(1)), 5)
    with pytest.raises(TypeError, match="not iterable"):
        handle_torch_function(max, 3, 2, 5)


def test_a_conversion_that_was_looked_up_before_the_first_vmap():
    """It was the method without a step, which had no batching rule."""
    script = """
import autograd_cy as ag
convert = {name: getattr(ag.Tensor, name) for name in ("half", "double", "long", "bool", "cfloat")}
x = ag.arange(6.0).reshape(3, 2).requires_grad_()
for name, function in convert.items():
    y = ag.vmap(function)(x)
    assert y.equal(function(x)) and y.dtype is function(x).dtype and y.requires_grad is function(x).requires_grad, name
"""
    subprocess.run([sys.executable, "-c", script], check=True)


@pytest.mark.parametrize("own", [True, False])
def test_new_tensors_are_not_filled_with_the_element_of_a_sample(own):
    """It was refused with a text that named no reason."""
    x = ag.ones(2, 3)
    with pytest.raises(RuntimeError, match=r"vmap: It looks like you're calling \.item\(\) on a Tensor"):
        ag.vmap(lambda r: (r if own else x).new_full((2,), r[0]))(x)
