"""embedding(sparse=True) and optimizers that step along sparse gradients."""

import copy

import pytest

import autograd_cy as ag
from autograd_cy import nn
from autograd_cy.nn import functional as F


def table():
    return ag.arange(8.0).reshape(4, 2).requires_grad_()


def lookup(w, numbers, **options):
    y = F.embedding(ag.tensor(numbers), w, sparse=True, **options)
    return (y * ag.arange(1.0, y.numel() + 1).reshape(y.shape)).sum()


def dense_lookup(w, numbers, **options):
    y = F.embedding(ag.tensor(numbers), w, **options)
    return (y * ag.arange(1.0, y.numel() + 1).reshape(y.shape)).sum()


@pytest.mark.parametrize("numbers", [[1, 1, 3], [[0, 2], [2, 1]], 3, []])
@pytest.mark.parametrize("padding_idx", [None, 1])
def test_gradients_are_the_dense_ones(numbers, padding_idx):
    numbers = ag.tensor(numbers, dtype=ag.int64)
    grads = []
    for sparse in (True, False):
        w = table()
        y = F.embedding(numbers, w, padding_idx, sparse=sparse)
        (y * y).sum().backward()
        grads.append(w.grad)
    assert grads[0].is_sparse and not grads[1].is_sparse
    assert (grads[0].sparse_dim(), grads[0].dense_dim()) == (1, 1)
    assert grads[0].to_dense().equal(grads[1])


def test_sparse_gradients_accumulate_as_in_pytorch():
    w, expected = table(), table()
    lookup(w, [1, 1, 3]).backward()
    first = w.grad
    lookup(w, [1, 0]).backward()
    assert w.grad is first and first.is_sparse and first._nnz() == 5 and not first.is_coalesced()
    dense_lookup(expected, [1, 1, 3]).backward()
    dense_lookup(expected, [1, 0]).backward()
    assert w.grad.to_dense().equal(expected.grad)
    (w * 2).sum().backward()  # sparse and dense: dense, a new one
    (expected * 2).sum().backward()
    assert w.grad is not first and not w.grad.is_sparse and w.grad.equal(expected.grad)
    before = w.grad
    lookup(w, [2]).backward()  # dense and sparse: in place
    dense_lookup(expected, [2]).backward()
    assert w.grad is before and w.grad.equal(expected.grad)


def test_several_uses_in_one_backward():
    w, expected = table(), table()
    (lookup(w, [1, 2]) + lookup(w, [2]) + (w * 3).sum()).backward()
    (dense_lookup(expected, [1, 2]) + dense_lookup(expected, [2]) + (expected * 3).sum()).backward()
    assert not w.grad.is_sparse and w.grad.equal(expected.grad)


def test_through_other_operations():
    """A node's rule knows no sparse gradient: it gets the dense one."""
    w, expected = table(), table()
    (lookup(w * w, [1, 1]) + lookup(w.t().contiguous().t(), [0])).backward()
    (dense_lookup(expected * expected, [1, 1]) + dense_lookup(expected.t().contiguous().t(), [0])).backward()
    assert w.grad.equal(expected.grad)


def test_second_derivatives():
    w = table()
    y = F.embedding(ag.tensor([1, 3]), w, sparse=True)
    (g,) = ag.autograd.grad((y**3).sum(), w, create_graph=True)
    assert g.is_sparse and g.requires_grad
    (h,) = ag.autograd.grad((g.to_dense() ** 2).sum(), w)
    x = table()
    (g,) = ag.autograd.grad((F.embedding(ag.tensor([1, 3]), x) ** 3).sum(), x, create_graph=True)
    (expected,) = ag.autograd.grad((g**2).sum(), x)
    assert h.to_dense().equal(expected)


@pytest.mark.filterwarnings("ignore:Using backward")
def test_create_graph_accumulates():
    w = table()
    for _ in range(2):
        lookup(w, [1]).backward(create_graph=True)
    assert w.grad.is_sparse and w.grad.to_dense()[1].tolist() == [2.0, 4.0]


def test_atomic_backward():
    w = table()
    for _ in range(2):
        lookup(w, [1]).backward(atomic=True)
    assert w.grad.is_sparse and w.grad.to_dense()[1].tolist() == [2.0, 4.0]


def test_frequency_is_refused():
    with pytest.raises(RuntimeError, match="scale_grad_by_freq not supported with sparse gradients"):
        lookup(table(), [1], scale_grad_by_freq=True).backward()


def test_hooks_on_the_table():
    w = table()
    seen = []
    w.register_hook(seen.append)
    w.register_post_accumulate_grad_hook(lambda leaf: seen.append(leaf.grad))
    lookup(w, [1]).backward()
    assert [g.is_sparse for g in seen] == [True, True]


@pytest.mark.parametrize(("mode", "weighted"), [("sum", False), ("sum", True), ("mean", False)])
@pytest.mark.parametrize("padding_idx", [None, 1])
def test_bags(mode, weighted, padding_idx):
    grads = []
    for sparse in (True, False):
        w = table()
        factors = ag.tensor([0.5, 2.0, 3.0, 1.0], requires_grad=True) if weighted else None
        bag = nn.EmbeddingBag(4, 2, mode=mode, sparse=sparse, _weight=w.detach(), padding_idx=padding_idx)
        (bag(ag.tensor([1, 1, 3, 0]), ag.tensor([0, 2, 2]), factors) ** 2).sum().backward()
        grads.append((bag.weight.grad.to_dense(), None if factors is None else factors.grad))
        assert bag.weight.grad.is_sparse == sparse
    assert grads[0][0].allclose(grads[1][0])
    assert factors is None or grads[0][1].equal(grads[1][1])


# optimizers


def layer():
    return nn.Embedding(4, 2, sparse=True, _weight=table().detach())


def steps(make, sparse, n=3):
    """The table after steps in each of which all rows have a gradient, so that dense and sparse steps agree."""
    module = nn.Embedding(4, 2, sparse=sparse, _weight=table().detach())
    optimizer = make(module.parameters())
    for k in range(n):
        optimizer.zero_grad()
        (module(ag.tensor([0, 1, 1, 2, 3])) ** 2).sum().mul(k + 1).backward()
        optimizer.step()
    return module.weight.detach()


@pytest.mark.parametrize("options", [
    {}, {"momentum": 0.5}, {"momentum": 0.5, "dampening": 0.25}, {"momentum": 0.5, "nesterov": True}, {"maximize": True},
])  # fmt: skip
def test_sgd(options):
    def make(params):
        return ag.optim.SGD(params, lr=0.01, **options)

    assert steps(make, True).allclose(steps(make, False))


@pytest.mark.parametrize("options", [{}, {"lr_decay": 0.5}, {"maximize": True}, {"initial_accumulator_value": 2.0}])
def test_adagrad(options):
    def make(params):
        return ag.optim.Adagrad(params, lr=0.1, **options)

    assert steps(make, True).allclose(steps(make, False))


@pytest.mark.parametrize("options", [{}, {"betas": (0.5, 0.75)}, {"maximize": True}])
def test_sparse_adam_is_adam_where_all_rows_have_gradients(options):
    sparse = steps(lambda params: ag.optim.SparseAdam(params, lr=0.1, **options), True)
    dense = steps(lambda params: ag.optim.Adam(params, lr=0.1, **options), False)
    assert sparse.allclose(dense, atol=1e-5)


def test_sparse_adam_leaves_other_rows_alone():
    module = layer()
    optimizer = ag.optim.SparseAdam(module.parameters())
    for number in (1, 2):
        optimizer.zero_grad()
        module(ag.tensor([number])).sum().backward()
        optimizer.step()
    state = optimizer.state[module.weight]
    assert state["step"] == 2 and state["exp_avg"][1].tolist() == pytest.approx([0.1, 0.1])
    assert module.weight[0].tolist() == [0.0, 1.0] and module.weight[3].tolist() == [6.0, 7.0]
    assert module.weight[1].tolist() != [2.0, 3.0]
    again = ag.optim.SparseAdam(module.parameters())
    again.load_state_dict(copy.deepcopy(optimizer.state_dict()))
    assert again.state[module.weight]["exp_avg"].equal(state["exp_avg"])


def test_a_group_of_dense_and_sparse_gradients():
    module, dense = layer(), ag.ones(2, requires_grad=True)
    optimizer = ag.optim.SGD([module.weight, dense], lr=0.5)
    (module(ag.tensor([1])).sum() + dense.sum()).backward()
    optimizer.step()
    assert dense.tolist() == [0.5, 0.5] and module.weight[1].tolist() == [1.5, 2.5]


REFUSING = {
    "Adam": "Adam does not support sparse gradients, please consider SparseAdam instead",
    "AdamW": "Adam does not support sparse gradients, please consider SparseAdam instead",
    **{name: f"{name} does not support sparse gradients" for name in
       ("RMSprop", "Adadelta", "Adamax", "ASGD", "NAdam", "RAdam", "Rprop")},
}  # fmt: skip


@pytest.mark.parametrize("name", REFUSING)
def test_others_refuse_sparse_gradients(name):
    module, other = layer(), ag.ones(2, requires_grad=True)
    optimizer = getattr(ag.optim, name)([other, module.weight])
    (module(ag.tensor([1])).sum() + other.sum()).backward()
    with pytest.raises(RuntimeError, match=REFUSING[name]):
        optimizer.step()
    assert other.tolist() == [1.0, 1.0] and module.weight.equal(table())


def test_what_sparse_steps_refuse():
    module = layer()
    module(ag.tensor([1])).sum().backward()
    with pytest.raises(RuntimeError, match="sparse, dense"):
        ag.optim.SGD(module.parameters(), weight_decay=0.5).step()
    with pytest.raises(RuntimeError, match="weight_decay option is not compatible with sparse gradients"):
        ag.optim.Adagrad(module.parameters(), weight_decay=0.5).step()
    w = ag.ones(2, requires_grad=True)
    w.grad = ag.ones(2)
    with pytest.raises(RuntimeError, match="SparseAdam does not support dense gradients, please consider Adam instead"):
        ag.optim.SparseAdam([w]).step()
    with pytest.raises(ValueError, match=r"Sparse params at indices \[\[0, 0\]\]"):
        ag.optim.SparseAdam([w.detach().to_sparse().requires_grad_()])
    with pytest.raises(ValueError, match="Invalid learning rate: 0"):
        ag.optim.SparseAdam([w], lr=0)


def test_lbfgs_takes_sparse_gradients():
    results = []
    for sparse in (True, False):
        module = nn.Embedding(4, 2, sparse=sparse, _weight=table().detach())
        optimizer = ag.optim.LBFGS(module.parameters(), lr=0.1)

        def closure(module=module, optimizer=optimizer):
            optimizer.zero_grad()
            loss = (module(ag.tensor([0, 1])) ** 2).sum()
            loss.backward()
            return loss

        optimizer.step(closure)
        results.append(module.weight.detach())
    assert results[0].allclose(results[1])


def test_zero_grad_and_clipping():
    module = layer()
    module(ag.tensor([1, 1])).sum().backward()
    assert nn.utils.clip_grad_norm_(module.parameters(), 1.0).item() == pytest.approx(8**0.5)
    assert module.weight.grad.is_sparse and module.weight.grad.norm().item() == pytest.approx(1.0, abs=1e-5)
    with pytest.raises(NotImplementedError, match="clamp"):
        nn.utils.clip_grad_value_(module.parameters(), 1.0)
    ag.optim.SGD(module.parameters()).zero_grad(set_to_none=False)
    assert module.weight.grad._nnz() == 0
    module.zero_grad()
    assert module.weight.grad is None
