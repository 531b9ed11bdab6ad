"""backward(): what it adds to `.grad`, which inputs it serves, and which graph it frees."""

import pytest
from common import Double, differs, leaf, run_script

import autograd_cy as torch

create_graph_warning = pytest.mark.filterwarnings("ignore:Using backward.. with create_graph=True")


def test_backward_fills_grad_of_the_leaves():
    a, b = leaf([1.0, 2.0]), leaf([3.0, 4.0])
    out = (a * b + a).sum()
    assert out.backward() is None
    assert a.grad.tolist() == [4.0, 5.0] and b.grad.tolist() == [1.0, 2.0]
    assert a.grad.dtype == a.dtype and not a.grad.requires_grad and a.grad.is_leaf


def test_constants_and_intermediates_get_no_grad():
    x, c = leaf(2.0), torch.tensor(3.0, dtype=torch.float64)
    y = x * c
    y.retain_grad()
    z = y * 1
    z.backward()
    assert c.grad is None and y.grad.item() == 1.0


def test_grad_accumulates_in_place():
    x = leaf(3.0)
    (x * x).backward()
    first = x.grad
    (x * x).backward()
    assert x.grad is first and first.item() == 12.0


@create_graph_warning
def test_under_create_graph_grad_accumulates_into_a_new_tensor():
    x = leaf(3.0)
    (x * x).backward()
    first = x.grad
    (x * x).backward(create_graph=True)
    assert x.grad is not first
    assert first.item() == 6.0 and x.grad.item() == 12.0
    x.grad = None


def test_a_leaf_can_be_its_own_root():
    x = leaf(3.0)
    x.backward()
    x.backward()
    assert x.grad.item() == 2.0


@pytest.mark.parametrize("root", [
    lambda x: x,
    lambda x: x + 0,
    pytest.param(lambda x: x.view(2), marks=differs("a view of the seed", "which is the grad then, and added to")),
])
def test_the_callers_seed_never_becomes_grad(root):
    x, seed = leaf([1.0, 2.0]), torch.tensor([1.0, 1.0], dtype=torch.float64)
    root(x).backward(seed)
    seed.fill_(7.0)
    assert x.grad.tolist() == [1.0, 1.0]
    root(x).backward(seed)
    assert x.grad.tolist() == [8.0, 8.0] and seed.tolist() == [7.0, 7.0]


def test_leaves_of_one_sum_do_not_share_their_grads():
    a, b = leaf([1.0]), leaf([1.0])
    (a + b).sum().backward()
    a.grad.fill_(5.0)
    assert b.grad.tolist() == [1.0]


def test_each_node_runs_once_on_the_sum_of_its_gradients():
    Double.calls = 0
    x = leaf(1.0)
    y = Double.apply(x)
    (y * y + y + y.exp() * 0).backward()
    assert Double.calls == 1 and x.grad.item() == 2 * (2 * 2.0 + 1)


def test_one_tensor_used_500_times():
    x = leaf(1.0)
    total = x * 0
    for i in range(500):
        total = total + x * i
    total.backward()
    assert x.grad.item() == sum(range(500))


def test_diamonds_of_diamonds_are_not_walked_path_by_path():
    x = y = leaf(1.0)
    for _ in range(60):
        y = y + y
    y.backward()
    assert x.grad.item() == 2.0**60


def test_unused_outputs_of_a_node_count_as_zero():
    x = leaf([1.0, 2.0, 3.0])
    x.unbind(0)[1].backward()
    assert x.grad.tolist() == [0.0, 1.0, 0.0]


# inputs=


def test_inputs_restrict_what_accumulates():
    a, b = leaf(2.0), leaf(3.0)
    y = a * b
    (y * y).backward(inputs=[a])
    assert a.grad.item() == 2 * 6.0 * 3.0 and b.grad is None and not y.retains_grad


def test_inputs_may_be_intermediate_and_need_no_list():
    x = leaf(3.0)
    y = x * 2
    (y * y).backward(inputs=y)
    assert y.retains_grad and y.grad.item() == 12.0 and x.grad is None


def test_leaf_and_intermediate_inputs_together():
    x = leaf(3.0)
    y = x * 2
    (y * y).backward(inputs=(x, y))
    assert y.grad.item() == 12.0 and x.grad.item() == 24.0


def test_nodes_that_lead_to_no_input_do_not_run():
    Double.calls = 0
    a, b = leaf(2.0), leaf(3.0)
    (Double.apply(a) * Double.apply(b)).backward(inputs=[b])
    assert Double.calls == 1 and b.grad.item() == 8.0


def test_an_input_outside_the_graph_stays_without_grad():
    a, b = leaf(2.0), leaf(3.0)
    (a * 2).backward(inputs=[a, b])
    assert a.grad.item() == 2.0 and b.grad is None


# What is freed


FREED = r"through the graph a second time \(or directly access saved tensors.*Specify retain_graph=True"


def test_the_graph_is_freed_unless_it_is_retained():
    x = leaf(3.0)
    y = x * x
    y.backward(retain_graph=True)
    y.backward()
    assert x.grad.item() == 12.0
    with pytest.raises(RuntimeError, match=FREED):
        y.backward()
    assert x.grad.item() == 12.0


def test_roots_that_share_a_freed_part_fail():
    x = leaf(3.0)
    shared = x.exp()
    first, second = shared * 2, shared * 3
    first.backward()
    kept = x.grad.item()
    with pytest.raises(RuntimeError, match=FREED):
        second.backward()
    assert x.grad.item() == kept


def test_nodes_that_saved_nothing_may_run_again():
    x = leaf(3.0)
    for y in (x + 1, -x, Double.apply(x)):
        x.grad = None
        y.backward()
        y.backward()
        assert abs(x.grad.item()) in (2.0, 4.0)


@create_graph_warning
def test_create_graph_retains_the_graph_and_records_the_gradient():
    x = leaf(2.0)
    y = x * x * x
    y.backward(create_graph=True)
    assert x.grad.requires_grad and x.grad.item() == 12.0
    second, x.grad = x.grad, None
    y.backward(retain_graph=True)
    assert x.grad.item() == 12.0
    x.grad = None
    second.backward()
    assert x.grad.item() == 12.0  # 6 x


@create_graph_warning
def test_create_graph_without_retain_graph_frees_the_first_graph_only():
    x = leaf(2.0)
    y = x * x * x
    y.backward(create_graph=True, retain_graph=False)
    with pytest.raises(RuntimeError, match=FREED):
        y.backward()
    x.grad = None


def test_create_graph_warns_of_the_cycle_once_in_a_process():
    script = """
import warnings
with warnings.catch_warnings(record=True) as caught:
    for _ in range(2):
        x = torch.tensor(2.0, requires_grad=True)
        (x * x).backward(create_graph=True)
print(*[w.category.__name__ for w in caught if "will create a reference cycle" in str(w.message)])
"""
    assert run_script(script) == ["UserWarning"]


def test_a_grad_that_was_given_another_shape_is_refused():
    x = torch.ones(2, requires_grad=True)
    x.grad = torch.ones(2)
    x.grad.resize_((2, 1))
    with pytest.raises(RuntimeError, match=r"output with shape \[2, 1\] doesn't match the broadcast shape \[2\]"):
        (x * x).sum().backward()
    assert x.grad.tolist() == [[1.0], [1.0]]
