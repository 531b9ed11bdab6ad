"""autograd.grad(): gradients as values, of any order, and its refusals."""

import pytest
from common import Double, differs, leaf

import autograd_cy as torch

grad = torch.autograd.grad


def test_grad_returns_gradients_and_leaves_dot_grad_alone():
    a, b = leaf(2.0), leaf(3.0)
    ga, gb = grad(a * b + a, [a, b])
    assert (ga.item(), gb.item()) == (4.0, 2.0)
    assert a.grad is None and b.grad is None and not ga.requires_grad


def test_one_input_needs_no_list_and_gives_a_tuple():
    x = leaf(3.0)
    result = grad(x * x, x)
    assert isinstance(result, tuple) and len(result) == 1


def test_inputs_may_be_leaves_intermediates_and_the_output_itself():
    x = leaf(3.0)
    y = x * 2
    z = y * y
    assert [g.item() for g in grad(z, (x, y, z))] == [24.0, 12.0, 1.0]
    assert x.grad is None and not y.retains_grad


def test_an_input_may_be_named_twice():
    x = leaf(3.0)
    first, second = grad(x * x, [x, x])
    assert first.item() == second.item() == 6.0


def test_several_outputs_add_up():
    x = leaf(3.0)
    assert grad([x * 2, x * x], x)[0].item() == 8.0


def test_seeds_weigh_the_outputs():
    x = leaf([1.0, 2.0])
    seed = torch.tensor([1.0, 10.0], dtype=torch.float64)
    assert grad(x * x, x, seed)[0].tolist() == [2.0, 40.0]
    assert grad([x * x, x.sum()], x, grad_outputs=[seed, None])[0].tolist() == [3.0, 41.0]


def test_an_input_below_another_still_gets_the_whole_sum():
    x = leaf(3.0)
    y = x * 2
    gy, gx = grad(y * y + x, [y, x])
    assert (gy.item(), gx.item()) == (12.0, 25.0)


def test_only_nodes_on_a_path_to_an_input_run():
    Double.calls = 0
    x = leaf(3.0)
    y = Double.apply(x)
    z = Double.apply(y)
    assert grad(z, y)[0].item() == 2.0
    assert Double.calls == 1


def test_grad_frees_the_graph_that_it_ran_and_no_more():
    x = leaf(3.0)
    y = x.exp()
    z = y * y
    grad(z, y)
    grad(y, x)
    with pytest.raises(RuntimeError, match="Trying to backward through the graph a second time"):
        grad(z, y)


def test_retain_graph_keeps_it():
    x = leaf(3.0)
    y = x * x
    assert grad(y, x, retain_graph=True)[0].item() == grad(y, x)[0].item() == 6.0


# Higher orders


def test_create_graph_gives_a_gradient_that_has_one():
    x = leaf(3.0)
    y = x * x * x
    (first,) = grad(y, x, create_graph=True)
    (second,) = grad(first, x, create_graph=True)
    (third,) = grad(second, x)
    assert [first.item(), second.item(), third.item()] == [27.0, 18.0, 6.0]
    assert first.requires_grad and not third.requires_grad


def test_seven_orders_of_a_power():
    x = leaf(2.0)
    y, factor = x**7, 1
    for order in range(7):
        (y,) = grad(y, x, create_graph=True)
        factor *= 7 - order
        assert y.item() == factor * 2.0 ** (6 - order)


def test_six_orders_of_a_sine():
    x = leaf(0.3)
    derivatives = [x.sin()]
    for _ in range(6):
        derivatives += grad(derivatives[-1], x, create_graph=True)
    sine, cosine = x.sin().item(), x.cos().item()
    expected = [sine, cosine, -sine, -cosine, sine, cosine, -sine]
    assert [d.item() for d in derivatives] == pytest.approx(expected, rel=1e-14)


def test_gradients_recorded_by_grad_flow_into_backward():
    x, w = leaf([1.0, 2.0]), leaf([3.0, 4.0])
    (gx,) = grad((x * w).tanh().sum(), x, create_graph=True)
    (gx * gx).sum().backward()
    t = (x.detach() * w.detach()).tanh()
    slope = 1 - t * t
    expected = 2 * w.detach() * slope * (slope - 2 * w.detach() * t * slope * x.detach())
    assert w.grad.tolist() == pytest.approx(expected.tolist(), rel=1e-13)


def test_the_gradient_is_linear_in_its_seed():
    x = leaf([1.0, 2.0])
    seed = torch.zeros(2, dtype=torch.float64, requires_grad=True)
    (vjp,) = grad(x * x, x, seed, create_graph=True)
    (jvp,) = grad(vjp, seed, torch.tensor([1.0, 10.0], dtype=torch.float64))
    assert jvp.tolist() == [2.0, 40.0]


def test_the_second_derivative_of_a_linear_function_is_unused():
    x = leaf(3.0)
    (g,) = grad(x * 2, x, create_graph=True)
    assert not g.requires_grad


# Inputs that the outputs do not depend on


def test_unused_inputs_give_none_if_allowed():
    x, unused = leaf(3.0), leaf([1.0, 2.0])
    assert grad(x * x, [x, unused], allow_unused=True)[1] is None


def test_unused_inputs_give_zeros_if_materialized():
    x, unused = leaf(3.0), torch.ones(2, 3, requires_grad=True)
    gx, zeros = grad(x * x, [x, unused], materialize_grads=True)
    assert gx.item() == 6.0
    assert zeros.tolist() == [[0.0] * 3] * 2 and zeros.dtype == torch.float32


# Batched seeds


def test_batched_seeds_give_the_jacobian_row_by_row():
    x = leaf([1.0, 2.0, 3.0])
    (jacobian,) = grad(x * x, x, torch.eye(3, dtype=torch.float64), is_grads_batched=True)
    assert jacobian.tolist() == [[2.0, 0.0, 0.0], [0.0, 4.0, 0.0], [0.0, 0.0, 6.0]]


def test_batched_seeds_of_several_outputs_and_inputs():
    a, b = leaf(2.0), leaf([1.0, 3.0])
    seeds = (torch.tensor([[1.0, 0.0], [0.0, 1.0], [1.0, 1.0]], dtype=torch.float64),
             torch.tensor([0.0, 0.0, 5.0], dtype=torch.float64))
    ga, gb = grad((a * b, a * a), (a, b), seeds, is_grads_batched=True)
    assert ga.tolist() == [1.0, 3.0, 24.0]
    assert gb.tolist() == [[2.0, 0.0], [0.0, 2.0], [2.0, 2.0]]


def test_batched_gradients_can_be_differentiated_again():
    x = leaf([1.0, 2.0])
    eye = torch.eye(2, dtype=torch.float64)
    (g,) = grad((x * x * x).sum(), x, create_graph=True)
    (hessian,) = grad(g, x, eye, is_grads_batched=True, create_graph=True)
    (third,) = grad(hessian.sum(), x)
    assert hessian.tolist() == [[6.0, 0.0], [0.0, 12.0]] and third.tolist() == [6.0, 6.0]


# Refusals

REFUSED = {
    "vector without seed": (
        lambda x, y: grad(y, x), RuntimeError, "grad can be implicitly created only for scalar outputs"),
    "constant output": (
        lambda x, y: grad(torch.tensor(1.0), x), RuntimeError,
        "element 0 of tensors does not require grad and does not have a grad_fn"),
    "seed of another shape": (
        lambda x, y: grad(y, x, torch.ones(3)), RuntimeError,
        r"Mismatch in shape: grad_output\[0\] has a shape of .*3.* and output\[0\] has a shape of .*2"),
    "complex seed": (
        lambda x, y: grad(y, x, torch.ones(2) * 1j), RuntimeError,
        "both grad_output and output are required to have the same dtype"),
    "seed that is no tensor": (
        lambda x, y: grad([y.sum()], x, [1.0]), TypeError,
        "gradients can be either Tensors or None, but got float"),
    "too few seeds": (
        lambda x, y: grad([y, y], x, [torch.ones(2)]), RuntimeError, "got 2 tensors and 1 gradients"),
    "batched seeds of another shape": (
        lambda x, y: grad(y, x, torch.ones(4, 3), is_grads_batched=True), RuntimeError,
        "If `is_grads_batched=True`, we interpret the first dimension"),
    "no inputs": (lambda x, y: grad(y.sum(), []), RuntimeError, "argument to `grad.*` cannot be empty"),
    "input that needs no gradient": (
        lambda x, y: grad(y.sum(), [x, torch.ones(2)]), RuntimeError,
        "One of the differentiated Tensors does not require grad"),
    "unused input": (
        lambda x, y: grad(y.sum(), [x, torch.ones(2, requires_grad=True)]), RuntimeError,
        "The differentiated Tensor at index 1 appears to not have been used in the graph.*allow_unused=True"),
    "unused input that is not a leaf": (
        lambda x, y: grad(y.sum(), [x * 1, x], allow_unused=False), RuntimeError,
        "The differentiated Tensor at index 0 appears to not have been used in the graph"),
    "zeros for inputs that must not be unused": (
        lambda x, y: grad(y.sum(), x, allow_unused=False, materialize_grads=True), ValueError,
        "Expected allow_unused to be True or not passed when materialize_grads=True"),
    "gradient edge of a constant": (
        lambda x, y: torch.autograd.graph.get_gradient_edge(torch.ones(2)), RuntimeError,
        "not possible to get the gradient edge for a Tensor that does not require gradients"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_bad_arguments_are_refused(case):
    call, error, message = REFUSED[case]
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    with pytest.raises(error, match=message):
        call(x, x * 2)
    assert x.grad is None


@differs("more seeds than tensors", "drops surplus seeds without a word (D14)")
def test_surplus_seeds_are_refused():
    x = leaf(2.0)
    with pytest.raises(RuntimeError, match=r"1\b.*\b2"):
        grad(x * 2, x, [torch.ones((), dtype=torch.float64)] * 2)


def test_only_inputs_is_deprecated():
    x = leaf(2.0)
    with pytest.warns(FutureWarning, match="only_inputs argument is deprecated"):
        assert grad(x * 2, x, only_inputs=False)[0].item() == 2.0


def test_materialized_zeros_have_the_layout_of_the_leaf():
    x, unused = leaf([1.0]), torch.ones(3, 2).t().requires_grad_()
    assert grad((x * x).sum(), [x, unused], materialize_grads=True)[1].stride() == (1, 2)
