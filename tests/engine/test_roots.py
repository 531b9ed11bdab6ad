"""Where backward() starts: roots and their seeds, and what it refuses before it starts."""

import pytest
from common import IS_TORCH, Double, differs, leaf

import autograd_cy as torch


def test_several_roots_run_in_one_pass():
    Double.calls = 0
    x = leaf(3.0)
    y = Double.apply(x)
    torch.autograd.backward([y * y, y + 1], [None, torch.tensor(10.0, dtype=torch.float64)])
    assert Double.calls == 1 and x.grad.item() == 2 * (2 * 6.0 + 10)


def test_a_root_may_come_twice_or_lie_below_another():
    x = leaf(3.0)
    y = x * 2
    z = y * 5
    torch.autograd.backward([z, z, y])
    assert x.grad.item() == 10 + 10 + 2


@pytest.mark.parametrize("shape", [(), (1,), (1, 1)])
def test_one_element_needs_no_seed(shape):
    x = torch.ones(shape, requires_grad=True)
    (x * 3).backward()
    assert x.grad.shape == shape and x.grad.item() == 3.0


def test_seeds_weigh_the_elements_of_the_root():
    x = leaf([1.0, 2.0])
    (x * x).backward(torch.tensor([1.0, 10.0], dtype=torch.float64))
    assert x.grad.tolist() == [2.0, 40.0]
    (x * x).backward(gradient=torch.tensor([1.0, 0.0], dtype=torch.float64))
    assert x.grad.tolist() == [4.0, 40.0]


def test_tensors_and_seeds_need_no_list_when_there_is_one():
    x = leaf([1.0, 2.0])
    torch.autograd.backward(x * 3, torch.ones(2, dtype=torch.float64))
    torch.autograd.backward((x * 3,), (torch.ones(2, dtype=torch.float64),))
    assert x.grad.tolist() == [6.0, 6.0]


@pytest.mark.filterwarnings("ignore:Using backward.. with create_graph=True")
def test_a_seed_is_differentiated_too():
    x, seed = leaf(3.0), leaf(1.0)
    (x * x).backward(seed, create_graph=True)
    x.grad.backward()
    assert seed.grad.item() == 6.0
    x.grad = None


REFUSED = {
    "vector without seed": (
        lambda x: (x * 2).backward(), RuntimeError,
        "grad can be implicitly created only for scalar outputs"),
    "complex scalar without seed": (
        lambda x: (x.sum() * 1j).backward(), RuntimeError,
        "only for real scalar outputs but got .*complex64"),
    "constant root": (
        lambda x: torch.tensor(1.0).backward(), RuntimeError,
        "element 0 of tensors does not require grad and does not have a grad_fn"),
    "integer root": (
        lambda x: torch.tensor(1).backward(), RuntimeError,
        "element 0 of tensors does not require grad and does not have a grad_fn"),
    "detached second root": (
        lambda x: torch.autograd.backward([x.sum(), x.sum().detach()]), RuntimeError,
        "element 1 of tensors does not require grad and does not have a grad_fn"),
    "seed of another shape": (
        lambda x: (x * 2).backward(torch.ones(3)), RuntimeError,
        r"Mismatch in shape: grad_output\[0\] has a shape of .*3.* and output\[0\] has a shape of .*2"),
    "complex seed": (
        lambda x: (x * 2).backward(torch.ones(2) * 1j), RuntimeError,
        "both grad_output and output are required to have the same dtype"),
    "seed that is no tensor": (
        lambda x: torch.autograd.backward([x.sum()], [1.0]), TypeError,
        "gradients can be either Tensors or None, but got float"),
    "too few seeds": (
        lambda x: torch.autograd.backward([x * 2, x * 3], [torch.ones(2)]), RuntimeError,
        "got 2 tensors and 1 gradients"),
    "both names of the seeds": (
        lambda x: torch.autograd.backward(x * 2, torch.ones(2), grad_variables=torch.ones(2)), RuntimeError,
        r"arguments both passed to `backward\(\)`"),
    "no inputs": (
        lambda x: x.sum().backward(inputs=[]), RuntimeError, r"argument to `backward\(\)` cannot be empty"),
    "input without gradient": (
        lambda x: x.sum().backward(inputs=[torch.ones(2)]), RuntimeError,
        "can't retain_grad on Tensor that has requires_grad=False"),
}


@pytest.mark.filterwarnings("ignore:`grad_variables` is deprecated")
@pytest.mark.parametrize("case", REFUSED)
def test_bad_arguments_are_refused_before_anything_changed(case):
    call, error, message = REFUSED[case]
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    with pytest.raises(error, match=message):
        call(x)
    assert x.grad is None
    x.sum().backward()
    assert x.grad.tolist() == [1.0, 1.0]


@differs("what errors tell", "fails in an unrelated way while it looks for the index")
def test_a_wrong_shape_names_the_index_of_its_seed():
    x = leaf([1.0, 2.0])
    with pytest.raises(RuntimeError, match=r"grad_output\[1\] has a shape .* output\[1\] has a shape"):
        torch.autograd.backward([x.sum(), x * 2], [None, torch.ones(2, 1, dtype=torch.float64)])


@differs("more seeds than tensors", "drops surplus seeds without a word (D14)")
@pytest.mark.parametrize("roots, seeds", [(1, 2), (2, 3)])
def test_surplus_seeds_are_refused(roots, seeds):
    x = leaf(2.0)
    with pytest.raises(RuntimeError, match=rf"{roots}\b.*\b{seeds}"):
        torch.autograd.backward([x * 2] * roots, [torch.ones((), dtype=torch.float64)] * seeds)
    assert x.grad is None


def test_grad_variables_is_the_old_name_of_grad_tensors():
    x = leaf([1.0, 2.0])
    with pytest.warns(FutureWarning, match="`grad_variables` is deprecated. Use `grad_tensors`"):
        torch.autograd.backward(x * 2, grad_variables=torch.ones(2, dtype=torch.float64))
    assert x.grad.tolist() == [2.0, 2.0]


@pytest.mark.parametrize("root", ["a", [3], (None,), [[1.0]]])
def test_roots_that_are_no_tensors(root):
    x = leaf(1.0)
    for call in (lambda: torch.autograd.backward(root), lambda: torch.autograd.grad(root, x)):
        with pytest.raises(AssertionError, match=r"Expected output to be a torch.Tensor"):
            call()


def test_shapes_in_the_message_on_a_seed():
    with pytest.raises(RuntimeError, match=r"shape of torch.Size\(\[3\]\) and output\[0\] has a shape of torch.Size\(\[2\]\)"):
        (leaf([1.0, 2.0]) * 2).backward(torch.ones(3))


@pytest.mark.parametrize("failure", ["no root", "no seed", "no input", "no tensor"])
def test_a_refused_backward_retains_nothing(failure):
    """PyTorch retains the inputs that it has looked at by then."""
    x = leaf([1.0, 2.0])
    y, z = x * 2, x * 3
    root = {"no root": torch.ones(()), "no seed": y}.get(failure, (y * z).sum())
    inputs = [y, z, *{"no input": [torch.ones(1)], "no tensor": [3]}.get(failure, [])]
    with pytest.raises(RuntimeError):
        root.backward(inputs=inputs)
    assert not z.retains_grad and (IS_TORCH or not y.retains_grad)
    (y * z).sum().backward(inputs=[y])
    assert y.retains_grad and y.grad.tolist() == [3.0, 6.0] and not z.retains_grad


@pytest.mark.parametrize("create_graph", [False, True])
def test_materialized_zeros(create_graph):
    """Under create_graph they require grad."""
    x, unused = leaf([1.0, 2.0]), leaf([[3.0]])
    g, zeros = torch.autograd.grad((x * x).sum(), [x, unused], create_graph=create_graph, materialize_grads=True)
    assert zeros.tolist() == [[0.0]] and zeros.requires_grad == g.requires_grad == create_graph and zeros.is_leaf
