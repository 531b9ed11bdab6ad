"""Gradients of sparse operations against those of dense ones and finite differences, forward against reverse."""

import numpy as np
import pytest

import autograd_cy as ag
import autograd_cy.nn.functional as F
from autograd_cy.autograd import gradcheck, gradgradcheck

INDICES = ag.tensor([[0, 1, 1, 2, 0], [2, 0, 0, 1, 0]])  # one place is there twice
SIZE = (3, 3)


def leaf_values():
    return ag.tensor([0.5, -1.5, 0.75, 2.0, 1.25], dtype=ag.float64, requires_grad=True)


def other():
    return ag.tensor([[1.0, -2.0, 0.5], [3.0, 0.25, -1.0], [0.5, 1.5, 2.0]], dtype=ag.float64, requires_grad=True)


def coo(v):
    return ag.sparse_coo_tensor(INDICES, v, SIZE)


FUNCTIONS = {
    "to_dense": (lambda s, d: s.to_dense() * d, lambda s, d: s * d),
    "coalesce": (lambda s, d: s.coalesce().to_dense() * d, lambda s, d: s * d),
    "mm": (lambda s, d: s @ d, lambda s, d: s @ d),
    "rmm": (lambda s, d: d @ s, lambda s, d: d @ s),
    "mv": (lambda s, d: s @ d[0], lambda s, d: s @ d[0]),
    "two": (lambda s, d: (s @ s.t()).to_dense() * d, lambda s, d: (s @ s.t()) * d),
    "addmm": (lambda s, d: ag.sparse.addmm(d, s, d, alpha=2), lambda s, d: d + 2 * (s @ d)),
    "linear, of sparse rows": (lambda s, d: F.linear(s, d, d[0]), lambda s, d: F.linear(s, d, d[0])),
    "linear, by sparse weights": (lambda s, d: F.linear(d, s, d[0]), lambda s, d: F.linear(d, s, d[0])),
    "linear, of one row": (lambda s, d: F.linear(d[0], s.to_sparse_csr()), lambda s, d: F.linear(d[0], s)),
    "linear, of batches": (lambda s, d: F.linear(d[None], s), lambda s, d: F.linear(d[None], s)),
    "t": (lambda s, d: s.t() @ d, lambda s, d: s.t() @ d),
    "sum": (lambda s, d: ag.sparse.sum(s), lambda s, d: s.sum()),
    "sum of rows": (lambda s, d: ag.sparse.sum(s, 1).to_dense() * d[0], lambda s, d: s.sum(1) * d[0]),
    "mul": (lambda s, d: (s * d).to_dense() * d, lambda s, d: s * d * d),
    "mul of two": (lambda s, d: (s * s.t()).to_dense() * d, lambda s, d: s * s.t() * d),
    "numbers": (lambda s, d: (s * 3 / 2).to_dense() * d, lambda s, d: s * 1.5 * d),
    "neg": (lambda s, d: (-s).to_dense() * d, lambda s, d: -s * d),
    "square": (lambda s, d: (s**2).to_dense() * d, lambda s, d: s**2 * d),
    "sin": (lambda s, d: s.sin().to_dense() * d, lambda s, d: s.sin() * d),
    "dense plus": (lambda s, d: (d + s) ** 2, lambda s, d: (d + s) ** 2),
    "plus": (lambda s, d: ((s + s.t()) @ d) ** 2, lambda s, d: ((s + s.t()) @ d) ** 2),
    "csr": (lambda s, d: s.to_sparse_csr() @ d, lambda s, d: s @ d),
    "select": (lambda s, d: s[1].to_dense() * d[0], lambda s, d: s[1] * d[0]),
    "cat": (lambda s, d: ag.cat([s, s * 2], 1) @ ag.cat([d, d]), lambda s, d: ag.cat([s, s * 2], 1) @ ag.cat([d, d])),
    "mask": (lambda s, d: d.sparse_mask(s.detach().coalesce()).to_dense() * d, lambda s, d: d * (s.detach() != 0) * d),
}


@pytest.mark.parametrize("name", FUNCTIONS)
def test_gradients_are_those_of_dense_tensors(name):
    sparse, dense = FUNCTIONS[name]
    results = []
    for function, make in ((sparse, coo), (dense, lambda v: coo(v).to_dense())):
        v, d = leaf_values(), other()
        y = function(make(v), d)
        first = ag.autograd.grad((y * y).sum(), (v, d), create_graph=True, allow_unused=True, materialize_grads=True)
        total = sum((g * g).sum() for g in first)
        second = ag.autograd.grad(total, (v, d), allow_unused=True, materialize_grads=True) if total.requires_grad else ()
        results.append([y, *first, *second])
    for a, b in zip(*results, strict=True):
        np.testing.assert_allclose(a.detach().numpy(), b.detach().numpy(), rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("name", FUNCTIONS)
def test_gradients_are_finite_differences(name):
    function = FUNCTIONS[name][0]
    assert gradcheck(lambda v, d: function(coo(v), d), (leaf_values(), other()), check_forward_ad=True)
    assert gradgradcheck(lambda v, d: function(coo(v), d), (leaf_values(), other()))


@pytest.mark.parametrize("dim", [0, 1])
@pytest.mark.parametrize("function", [ag.sparse.softmax, ag.sparse.log_softmax])
def test_gradients_of_softmax_are_finite_differences(function, dim):
    def run(v):
        return function(coo(v).coalesce(), dim).coalesce().values() * ag.tensor([1.0, 3.0, -2.0, 0.5], dtype=ag.float64)

    assert gradcheck(run, (leaf_values(),), check_forward_ad=True)


def test_complex_gradients_are_finite_differences():
    v = ag.tensor([1 + 2j, 3 - 1j, 0.5j, 2, 1 - 1j], dtype=ag.complex128, requires_grad=True)
    d = ag.tensor([[1 + 1j, 2], [0.5j, 3], [1, -1j]], dtype=ag.complex128, requires_grad=True)
    assert gradcheck(lambda v, d: ag.sparse.mm(coo(v), d), (v, d))
    assert gradgradcheck(lambda v, d: ag.sparse.mm(coo(v), d), (v, d))


def test_a_sparse_leaf_gets_a_sparse_gradient():
    s = ag.sparse_coo_tensor(INDICES, leaf_values().detach(), SIZE, requires_grad=True)
    d = other().detach()
    for _ in range(2):
        (s @ d).sum().backward()
    g = s.grad
    assert g.is_sparse and g.is_coalesced() and g.shape == s.shape
    dense = s.detach().to_dense().requires_grad_()
    (2 * (dense @ d)).sum().backward()
    there = s.detach().to_dense() != 0
    assert g.to_dense().equal(dense.grad.where(there, 0.0))
    (grad,) = ag.autograd.grad((s @ d).sum(), s)
    assert grad.to_dense().allclose(g.to_dense() / 2)


def test_a_compressed_leaf_gets_a_compressed_gradient():
    s = ag.sparse_csr_tensor([0, 1, 2], [1, 0], [2.0, 3.0], (2, 2), requires_grad=True)
    (s @ ag.tensor([[1.0], [5.0]])).sum().backward()
    assert s.grad.layout is ag.sparse_csr and s.grad.values().tolist() == [5.0, 1.0]


def test_hybrid_tensors_have_gradients():
    v = ag.ones(3, 2, dtype=ag.float64, requires_grad=True)
    assert gradcheck(lambda v: ag.sparse_coo_tensor([[0, 2, 2]], v, (4, 2)).coalesce().to_dense() ** 2, (v,))
    assert gradcheck(lambda v: ag.sparse.sum(ag.sparse_coo_tensor([[0, 2, 2]], v, (4, 2)), 0) ** 2, (v,))


def test_gradients_of_to_sparse():
    d = other()
    assert gradcheck(lambda d: ag.sparse.sum(d.to_sparse() ** 2), (d,))
    assert gradcheck(lambda d: d.to_sparse_csr() @ d, (d,))


def test_hooks_see_sparse_gradients():
    s = coo(leaf_values())
    seen = []
    s.register_hook(lambda g: seen.append(g) or g * 2)
    s.retain_grad()
    (s.to_dense() * 3).sum().backward()
    assert seen[0].is_sparse and seen[0].values().tolist() == [3.0] * 4
    assert s.grad.values().tolist() == [6.0] * 4


def test_sparse_seeds():
    """A sparse gradient given to backward() is the dense one with these elements, for sparse and dense outputs."""
    v = leaf_values()
    seed = ag.eye(3, dtype=ag.float64).to_sparse()
    coo(v).backward(seed)
    assert v.grad.tolist() == [0, 0, 0, 0, 1]
    x = other()
    (x * 2).backward(seed)
    assert x.grad.tolist() == (2 * ag.eye(3)).tolist()
    x.grad = None
    x.backward(seed)
    assert x.grad.is_sparse and x.grad.to_dense().equal(ag.eye(3, dtype=ag.float64))


def test_sparse_gradient_check():
    check = ag.sparse.as_sparse_gradcheck(gradcheck)
    s = coo(leaf_values().detach()).requires_grad_()
    assert check(lambda s, d: ag.sparse.mm(s, d), (s, other()))


@pytest.mark.parametrize("retain", [False, True])
def test_anomaly_mode_takes_sparse_gradients(retain):
    with pytest.warns(UserWarning, match="Anomaly"), ag.autograd.detect_anomaly():
        s = ag.sparse_coo_tensor(INDICES, leaf_values().detach(), SIZE, requires_grad=True)
        (s @ other()).sum().backward(retain_graph=retain)
        w = ag.ones(3, 2, requires_grad=True)
        ag.nn.functional.embedding(ag.tensor([1]), w, sparse=True).sum().backward()
    assert s.grad.is_sparse and w.grad.is_sparse
