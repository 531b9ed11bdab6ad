"""scatter_reduce and index_reduce: products of sources that are 0."""

import pytest
from common import leaf

import autograd_cy as torch


@pytest.mark.parametrize("operation, source", [(torch.scatter_reduce, "src"), (torch.index_reduce, "source")])
def test_two_zeros_in_one_place_have_no_second_derivative(operation, source):
    """The second derivative was 0; d^2 (x s t) / ds dt = x."""
    x, src, index = leaf([2.0]), leaf([0.0, 0.0]), torch.tensor([0, 0])
    y = operation(x, 0, index, src, "prod")
    grads = torch.autograd.grad(y.sum(), (x, src), create_graph=True)
    assert [g.tolist() for g in grads] == [[0.0], [0.0, 0.0]]
    with pytest.raises(RuntimeError, match=f"Double backward is unsupported for {source} when >1 zeros in {source}"):
        torch.autograd.grad(grads[1].sum(), src)


@pytest.mark.parametrize("operation", [torch.scatter_reduce, torch.index_reduce])
@pytest.mark.parametrize("src", [[3.0, 5.0], [0.0, 5.0]])
def test_one_zero_has(operation, src):
    x, src, index = leaf([2.0]), leaf(src), torch.tensor([0, 0])
    assert torch.autograd.gradgradcheck(lambda x, src: operation(x, 0, index, src, "prod"), (x, src))
