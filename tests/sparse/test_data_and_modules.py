"""`.data` of sparse tensors, and conversions of modules with sparse parameters and gradients."""

import pytest

import autograd_cy as ag
from autograd_cy import nn


def coo(value=5.0, dtype=ag.float32):
    return ag.sparse_coo_tensor([[0], [1]], [value], (2, 3), dtype=dtype)


def test_whole_floats_and_bools_are_indices():
    """As in PyTorch, which converts all numbers."""
    for indices in (ag.tensor([[0.0], [1.0]]), ag.tensor([[False], [True]]), [[0.0], [1.0]]):
        assert ag.sparse_coo_tensor(indices, [5.0], (2, 3)).to_dense().equal(coo().to_dense())


def test_data_of_another_layout_is_refused():
    """A dense tensor once took the placeholder of a sparse one: its elements were NaN."""
    for target, value in ((ag.ones(2, 3), coo()), (coo(), ag.ones(2, 3)), (coo(), coo().to_sparse_csr())):
        before = target.to_dense().clone()
        with pytest.raises(RuntimeError, match="incompatible tensor type"):
            target.data = value
        assert target.to_dense().equal(before)
    with pytest.raises(TypeError, match="has to be a tensor, but got int"):
        coo().data = 1
    leaf = coo().requires_grad_()
    with pytest.raises(RuntimeError, match="must be floating point or complex"):
        leaf.data = coo(5, ag.int64)


def test_data_of_a_sparse_tensor_can_be_set():
    s = coo()
    s.data = ag.sparse_coo_tensor([[1], [1]], [6.0], (2, 2), dtype=ag.float64)
    assert s.dtype is ag.float64 and s.shape == (2, 2)
    assert s.to_dense().tolist() == [[0, 0], [0, 6]]


def test_a_module_with_sparse_gradients_is_converted():
    layer = nn.Embedding(4, 2, sparse=True)
    weight = layer.weight
    layer(ag.tensor([1, 2])).sum().backward()
    layer.double()
    assert layer.weight is weight and weight.dtype is weight.grad.dtype is ag.float64
    assert weight.grad.is_sparse and weight.grad.to_dense().tolist() == [[0, 0], [1, 1], [1, 1], [0, 0]]


@pytest.mark.parametrize("layout", ["to_sparse", "to_sparse_csr"])
def test_a_module_with_sparse_weights_is_converted(layout):
    layer = nn.Linear(3, 2)
    layer.weight = nn.Parameter(getattr(layer.weight.detach(), layout)())
    x, weight = ag.ones(3), layer.weight
    expected = layer(x)
    layer.double()
    assert layer.weight is weight and weight.dtype is ag.float64 and weight.layout is not ag.strided
    ag.testing.assert_close(layer(x.double()), expected.double())


def test_a_conversion_to_another_layout_makes_new_parameters():
    layer = nn.Linear(3, 2, bias=False)
    layer.weight.grad = ag.ones(2, 3)
    weight, gradient = layer.weight, layer.weight.grad
    layer._apply(lambda t: t.to_sparse())
    assert layer.weight.is_sparse and layer.weight.grad.is_sparse and layer.weight.requires_grad
    assert layer.weight.is_leaf and list(layer.parameters()) == [layer.weight]
    assert weight.layout is ag.strided and weight.grad is gradient and gradient.layout is ag.strided
