"""requires_grad, `.grad`, retain_grad and `.data`: what may be set, and what leaves the graph."""

import copy

import numpy as np
import pytest
from common import leaf, run_script

import autograd_cy as torch

# What may not be set

ONES = torch.ones(2)
INTEGER = torch.tensor([1, 2])


def x32():
    return leaf([1.0, 2.0], torch.float32)


REFUSED = {
    # requires_grad
    "integer tensor": (lambda: torch.tensor([1], requires_grad=True), RuntimeError,
                       "Only Tensors of floating point and complex dtype can require gradients"),
    "integer zeros": (lambda: torch.zeros(2, dtype=torch.int64, requires_grad=True), RuntimeError,
                      "Only Tensors of floating point and complex dtype can require gradients"),
    "integer requires_grad_": (INTEGER.requires_grad_, RuntimeError,
                               "only Tensors of floating point dtype can require gradients"),
    "integer attribute": (lambda: setattr(INTEGER, "requires_grad", True), RuntimeError,
                          "only Tensors of floating point and complex dtype can require gradients"),
    "bool requires_grad_": (torch.tensor([True]).requires_grad_, RuntimeError,
                            "only Tensors of floating point dtype can require gradients"),
    "off on a result": (lambda: setattr(x32() * 2, "requires_grad", False), RuntimeError,
                        "you can only change requires_grad flags of leaf variables. If you want to use a"),
    "off on a result by requires_grad_": (
        lambda: (x32() * 2).requires_grad_(False), RuntimeError,
        "you can only change requires_grad flags of leaf variables. If you want to use a computed variable"),
    "on on a result": (lambda: setattr(x32() * 2, "requires_grad", True), RuntimeError,
                       "you can only change requires_grad flags of leaf variables."),
    "not a bool": (lambda: setattr(x32(), "requires_grad", 1), RuntimeError, "requires_grad must be a bool"),
    # read-only attributes
    "grad_fn": (lambda: setattr(x32(), "grad_fn", None), AttributeError, "'grad_fn' .* is not writable"),
    "is_leaf": (lambda: setattr(x32(), "is_leaf", False), AttributeError, "'is_leaf' .* is not writable"),
    # retain_grad and .data
    "retain_grad of a constant": (ONES.retain_grad, RuntimeError,
                                  "can't retain_grad on Tensor that has requires_grad=False"),
    "integer data": (lambda: setattr(x32(), "data", INTEGER), RuntimeError,
                     "data set to a tensor that requires gradients must be floating point or complex"),
    "data of no tensor": (lambda: setattr(x32(), "data", 3), TypeError,
                          "Variable data has to be a tensor, but got int"),
    # leaving the graph
    "numpy()": (lambda: x32().numpy(), RuntimeError,
                r"Can't call numpy\(\) on Tensor that requires grad. Use tensor.detach\(\).numpy\(\)"),
    "numpy() of a result": (lambda: (x32() * 2).numpy(), RuntimeError, r"Can't call numpy\(\) on Tensor"),
    "np.asarray": (lambda: np.asarray(x32()), RuntimeError, r"Can't call numpy\(\) on Tensor"),
    "bool of many": (lambda: bool(x32()), RuntimeError,
                     "Boolean value of Tensor with more than one value is ambiguous"),
    "bool of none": (lambda: bool(torch.ones(0)), RuntimeError,
                     "Boolean value of Tensor with no values is ambiguous"),
    "deepcopy of a result": (
        lambda: copy.deepcopy(x32() * 2), RuntimeError,
        r"Only Tensors created explicitly by the user \(graph leaves\) support the deepcopy"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_what_is_refused(case):
    call, error, message = REFUSED[case]
    with pytest.raises(error, match=message):
        call()
    assert not INTEGER.requires_grad and not ONES.requires_grad


WRONG_GRADS = {
    "size": (torch.ones(3), RuntimeError, r"assign a gradient of size '\[3\]' to a tensor of size '\[2\]'"),
    "broadcastable size": (torch.ones(1), RuntimeError, "assign a gradient of size"),
    "dtype": (torch.ones(2, dtype=torch.float64), RuntimeError,
              "assign a gradient with dtype 'double' to a tensor with grad_dtype"),
    "int": (3, TypeError, "assigned grad expected to be a Tensor or None but got grad of type int"),
    "array": (np.ones(2, "f4"), TypeError, "assigned grad expected to be a Tensor or None but got grad of"),
    "itself": ("itself", RuntimeError, "can't assign Variable as its own grad"),
}


@pytest.mark.parametrize("wrong", WRONG_GRADS)
def test_an_assigned_grad_is_checked(wrong):
    value, error, message = WRONG_GRADS[wrong]
    x = x32()
    x.grad = ONES
    with pytest.raises(error, match=message):
        x.grad = x if isinstance(value, str) else value
    assert x.grad is ONES


# requires_grad


def test_requires_grad_can_be_switched_on_leaves():
    x = torch.ones(2)
    assert x.requires_grad_() is x and x.requires_grad
    x.requires_grad = False
    assert not (x * 2).requires_grad
    x.requires_grad = True
    assert (x * 2).requires_grad


def test_switching_it_to_what_it_is_changes_nothing():
    y = leaf(2.0) * 3
    assert y.requires_grad_() is y and y.grad_fn is not None
    assert not INTEGER.requires_grad_(False).requires_grad


def test_results_require_grad_if_an_operand_does():
    x, c = leaf(2.0), torch.tensor(3.0, dtype=torch.float64)
    assert (x * c).requires_grad and (c * x).requires_grad and not (c * c).requires_grad
    assert not (x > c).requires_grad and not x.argmax().requires_grad


def test_a_leaf_switched_off_gets_no_more_gradient():
    x, w = leaf(2.0), leaf(3.0)
    w.requires_grad = False
    (x * w).backward()
    assert x.grad.item() == 3.0 and w.grad is None


# .grad


def test_grad_may_be_assigned_cleared_and_deleted():
    x = x32()
    x.grad = torch.ones(2)
    (x * 2).sum().backward()
    assert x.grad.tolist() == [3.0, 3.0]
    x.grad = None
    assert x.grad is None
    x.grad = ONES
    del x.grad
    assert x.grad is None


def test_reading_the_grad_of_a_result_warns():
    y = leaf(2.0) * 3
    with pytest.warns(UserWarning, match=r"\.grad attribute of a Tensor that is not a leaf"):
        assert y.grad is None


def test_retain_grad_keeps_the_gradient_of_a_result():
    x = leaf(2.0)
    y = x * 3
    assert not y.retains_grad
    y.retain_grad()
    y.retain_grad()
    assert y.retains_grad and y.grad is None  # and reading it doesn't warn
    z = y * y
    z.backward(retain_graph=True)
    z.backward()
    assert y.grad.item() == 2 * 12.0 and x.grad.item() == 2 * 36.0


def test_retain_grad_of_a_leaf_changes_nothing():
    x = leaf(2.0)
    x.retain_grad()
    (x * 3).backward()
    assert not x.retains_grad and x.grad.item() == 3.0


# Leaving the graph


def test_detach_shares_the_values_and_not_the_graph():
    x = leaf([1.0, 2.0])
    y = x * 2
    d = y.detach()
    assert not d.requires_grad and d.is_leaf and d.data_ptr() == y.data_ptr()
    (y * d).sum().backward()
    assert x.grad.tolist() == [4.0, 8.0]


def test_data_is_the_values_without_graph():
    x = leaf([1.0, 2.0])
    assert not x.data.requires_grad and x.data.data_ptr() == x.data_ptr()
    x.data = torch.zeros(3, dtype=torch.float64)
    assert x.requires_grad and x.tolist() == [0.0, 0.0, 0.0]


def test_detached_values_reach_numpy_without_copying():
    x = leaf([1.0, 2.0])
    array = x.detach().numpy()
    array[0] = 7.0
    assert x.tolist() == [7.0, 2.0]
    assert x.numpy(force=True).tolist() == [7.0, 2.0]


def test_python_numbers_leave_the_graph_quietly_through_item_and_tolist():
    x = leaf(2.0)
    assert x.item() == 2.0 and x.tolist() == 2.0 and f"{x:.1f}" == "2.0" and bool(x)


def test_float_of_a_tensor_with_gradient_warns():
    script = """
import warnings
with warnings.catch_warnings(record=True) as caught:
    print(float(torch.tensor(2.0, requires_grad=True)), float(torch.tensor(3.0)))
text = "Converting a tensor with requires_grad=True to a scalar"
print(*[w.category.__name__ for w in caught if text in str(w.message)])
"""
    assert run_script(script) == ["2.0", "3.0", "UserWarning"]


@pytest.mark.parametrize("source", [ONES, leaf(2.0), INTEGER], ids=str)
def test_tensor_of_a_tensor_copies_and_warns(source):
    with pytest.warns(UserWarning, match="To copy construct from a tensor"):
        made = torch.tensor(source)
    assert made.tolist() == source.tolist() and not made.requires_grad
    assert made.data_ptr() != source.data_ptr()


def test_deepcopy_of_a_leaf_copies_its_grad_too():
    x = leaf([1.0, 2.0])
    (x * 3).sum().backward()
    twin = copy.deepcopy(x)
    assert twin.requires_grad and twin.is_leaf and twin.grad.tolist() == [3.0, 3.0]
    assert twin.data_ptr() != x.data_ptr() and twin.grad is not x.grad


@pytest.mark.filterwarnings("ignore:The .grad attribute of a Tensor that is not a leaf")
def test_grad_of_a_view_that_lost_its_place_in_the_graph_is_none():
    y = torch.ones(3, requires_grad=True) * 1
    with torch.no_grad():
        v = y.view(3)
    w = v[1:]
    v.detach().mul_(2)
    with pytest.raises(RuntimeError, match="modified inplace"):
        w.grad_fn  # noqa: B018
    assert w.grad is None
