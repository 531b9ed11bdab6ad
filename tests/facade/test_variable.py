"""The oldest names: Variable, and the engine's own run_backward behind it."""

import numpy as np
import pytest
from common import leaf

import autograd_cy as torch

Variable = torch.autograd.Variable
run_backward = Variable._execution_engine.run_backward

# Variable


def test_tensors_are_variables():
    assert isinstance(torch.ones(2), Variable) and isinstance(leaf(1.0) * 2, Variable)
    assert not isinstance(1.0, Variable) and not isinstance(np.ones(2), Variable)


def test_variable_wraps_a_tensor_into_a_new_leaf():
    t = torch.ones(2)
    v = Variable(t, requires_grad=True)
    assert type(v) is torch.Tensor and v is not t and v.data_ptr() == t.data_ptr()
    assert v.requires_grad and not t.requires_grad
    assert not Variable(v * 2).requires_grad and Variable(v * 2).is_leaf


def test_a_variable_needs_a_tensor_that_can_have_a_gradient():
    for wrong in (1.0, [1.0], np.ones(2)):
        with pytest.raises(TypeError, match=f"data has to be a tensor, but got .*{type(wrong).__name__}"):
            Variable(wrong)
    with pytest.raises(RuntimeError, match="Only Tensors of floating point and complex dtype can"):
        Variable(torch.tensor([1]), requires_grad=True)


def test_a_variable_without_data_is_empty():
    assert Variable().shape == (0,) and Variable(requires_grad=True).requires_grad


def test_what_variable_does_not_take():
    with pytest.raises(TypeError, match="'creator' is an invalid keyword argument for this function"):
        Variable(torch.ones(1), creator=None)
    with pytest.raises(TypeError, match="'NoneType' object cannot be interpreted as an integer"):
        Variable(torch.ones(1), requires_grad=None)


def test_volatile_is_gone():
    t = torch.ones(2)
    with pytest.warns(UserWarning, match="volatile was removed and now has no effect"):
        v = Variable(t, volatile=True)
    with pytest.warns(UserWarning, match="volatile was removed"):
        assert v.volatile is False
    with pytest.warns(UserWarning, match="volatile was removed and now has no effect"):
        v.volatile = True
    assert Variable(t, volatile=False).requires_grad is False


# run_backward

ONE = torch.tensor(1.0, dtype=torch.float64)


def test_run_backward_accumulates_and_returns_none():
    x = leaf(3.0)
    result = run_backward(
        (x * x, x * 2), (ONE, ONE * 10), False, False, (), allow_unreachable=True, accumulate_grad=True)
    assert result is None and x.grad.item() == 26.0


def test_run_backward_returns_a_tuple_when_it_does_not_accumulate():
    x, unused = leaf(3.0), leaf(1.0)
    result = run_backward(
        tensors=(x * x,), grad_tensors=(ONE,), keep_graph=False, create_graph=False,
        inputs=(x, unused), allow_unreachable=True, accumulate_grad=False)
    assert (result[0].item(), result[1]) == (6.0, None) and x.grad is None
    assert run_backward((x * x,), (ONE,), False, False, (x,), False, False)[0].item() == 6.0


def test_run_backward_keeps_and_records_the_graph_if_asked_to():
    x = leaf(3.0)
    y = x * x * x
    for _ in range(2):
        (g,) = run_backward((y,), (ONE,), True, True, (x,), allow_unreachable=False, accumulate_grad=False)
    assert torch.autograd.grad(g, x)[0].item() == 18.0


REFUSED = {
    "list of tensors": (lambda x: ([x * x], (ONE,), False, False), RuntimeError,
                        "tensors argument is expected to be a tuple"),
    "lone tensor": (lambda x: (x * x, (ONE,), False, False), RuntimeError,
                    "tensors argument is expected to be a tuple"),
    "list of seeds": (lambda x: ((x * x,), [ONE], False, False), RuntimeError,
                      "grad_tensors argument is expected to be a tuple"),
    "no tensor": (lambda x: ((3,), (ONE,), False, False), RuntimeError,
                  "element 0 of tensors tuple is neither a Tensor nor a GradientEdge"),
    "no tensor at 1": (lambda x: ((x * x, None), (ONE, ONE), False, False), RuntimeError,
                       "element 1 of tensors tuple is neither a Tensor nor a GradientEdge"),
    "no seed": (lambda x: ((x * x,), (None,), False, False), RuntimeError,
                "element 0 of gradients tuple is None, but the corresponding Tensor requires grad"),
    "number as seed": (lambda x: ((x * x,), (3,), False, False), RuntimeError,
                       "element 0 of gradients tuple is not a Tensor or None"),
    "two seeds": (lambda x: ((x * x,), (ONE, ONE), False, False), RuntimeError,
                  "got 1 tensors and 2 gradients"),
    "constant": (lambda x: ((ONE,), (ONE,), False, False), RuntimeError,
                 "element 0 of tensors does not require grad and does not have a grad_fn"),
    "list of inputs": (lambda x: ((x * x,), (ONE,), False, False, [x]), RuntimeError,
                       "inputs to run_backward must be a tuple"),
    "number as input": (lambda x: ((x * x,), (ONE,), False, False, (3,)), RuntimeError,
                        "all inputs have to be Tensors or GradientEdges, but got int"),
    "constant input": (lambda x: ((x * x,), (ONE,), False, False, (ONE,)), RuntimeError,
                       "One of the differentiated Tensors does not require grad"),
    "unreachable input": (lambda x: ((x * x,), (ONE,), False, False, (leaf(1.0),), False), RuntimeError,
                          "The differentiated Tensor at index 0 appears to not have been used in the graph"),
    "nothing": (lambda x: (), TypeError, "missing required argument 'tensors'"),
    "no seeds": (lambda x: ((x * x,),), TypeError, "missing required argument 'grad_tensors'"),
    "no keep_graph": (lambda x: ((x * x,), (ONE,)), TypeError, "missing required argument 'keep_graph'"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_run_backward_checks_its_arguments(case):
    arguments, error, message = REFUSED[case]
    x = leaf(3.0)
    with pytest.raises(error, match=message):
        run_backward(*arguments(x))
    assert x.grad is None


def test_run_backward_knows_its_keywords():
    with pytest.raises(TypeError, match="'retain_graph' is an invalid keyword argument"):
        run_backward((leaf(1.0) * 2,), (ONE,), False, False, retain_graph=True)
