"""Making sparse tensors, what they tell of themselves, how they are printed, and what is refused."""

import numpy as np
import pytest

import autograd_cy as ag
from autograd_cy import nn

INDICES = ag.tensor([[0, 1, 1], [2, 0, 2]])
VALUES = ag.tensor([3.0, 4.0, 5.0])


def coo(**options):
    return ag.sparse_coo_tensor(INDICES, VALUES, (2, 3), **options)


def test_what_a_sparse_tensor_tells():
    s = coo()
    assert isinstance(s, ag.Tensor) and s.is_sparse and not s.is_sparse_csr and s.layout is ag.sparse_coo
    assert s.shape == (2, 3) and s.size(1) == 3 and s.dim() == 2 and s.numel() == 6 and s._nnz() == 3
    assert (s.sparse_dim(), s.dense_dim()) == (2, 0) and s.dtype is ag.float32 and not s.is_coalesced()
    assert s._indices().equal(INDICES) and s._values().equal(VALUES)
    assert s.coalesce().indices().equal(INDICES) and s.coalesce().values().equal(VALUES)
    assert s.is_leaf and not s.requires_grad and s.grad is None and s.device == ag.device("cpu")
    assert s.type() == "torch.sparse.FloatTensor" and isinstance(s, ag.sparse.FloatTensor)
    r = s.to_sparse_csr()
    assert r.is_sparse_csr and not r.is_sparse and r.layout is ag.sparse_csr
    assert r.crow_indices().tolist() == [0, 1, 3] and r.col_indices().tolist() == [2, 0, 2]
    assert r.values().tolist() == [3.0, 4.0, 5.0] and (r == None) is False  # noqa: E711
    h = ag.sparse_coo_tensor([[0, 2]], ag.ones(2, 3), (4, 3))
    assert (h.sparse_dim(), h.dense_dim(), h._nnz()) == (1, 1, 2)
    assert (ag.ones(2).sparse_dim(), ag.ones(2).dense_dim(), ag.ones(2).is_sparse) == (0, 1, False)


def test_ways_to_make_one():
    expected = coo().to_dense()
    assert ag.sparse_coo_tensor([[0, 1, 1], [2, 0, 2]], [3.0, 4.0, 5.0]).to_dense().equal(expected)
    assert ag.sparse_coo_tensor(INDICES.numpy(), VALUES.numpy(), ag.Size([2, 3])).to_dense().equal(expected)
    assert ag.sparse.FloatTensor(INDICES, VALUES, ag.Size([2, 3])).to_dense().equal(expected)
    assert ag.sparse.DoubleTensor(INDICES, VALUES, (2, 3)).dtype is ag.float64
    assert ag.sparse_csr_tensor([0, 1, 3], [2, 0, 2], VALUES, (2, 3)).to_dense().equal(expected)
    assert ag.sparse_csr_tensor([0, 1, 3], [2, 0, 2], VALUES).to_dense().equal(expected)
    assert ag.sparse_compressed_tensor([0, 1, 3], [2, 0, 2], VALUES, layout=ag.sparse_csr).to_dense().equal(expected)
    assert ag.sparse_coo_tensor((2, 3)).to_dense().equal(ag.zeros(2, 3))
    assert ag.sparse_coo_tensor((2, 3), dtype=ag.int64).dtype is ag.int64
    assert coo(dtype=ag.float64).dtype is ag.float64
    assert ag.zeros_like(coo()).is_sparse and ag.zeros_like(coo())._nnz() == 0
    assert coo(requires_grad=True).is_leaf and coo(requires_grad=True).requires_grad
    assert coo(is_coalesced=True).is_coalesced()
    assert nn.Parameter(coo()).requires_grad


def test_memory_is_the_tensors_own():
    """Indices are copied; values are shared, as in PyTorch."""
    indices, values = ag.tensor([[0, 1]]), ag.ones(2)
    s = ag.sparse_coo_tensor(indices, values, (3,))
    indices[0, 0] = 2
    values[1] = 5.0
    assert s.to_dense().tolist() == [1.0, 5.0, 0.0]


PRINTED = {
    "coo": (coo, """\
tensor(indices=tensor([[0, 1, 1],
                       [2, 0, 2]]),
       values=tensor([3., 4., 5.]),
       size=(2, 3), nnz=3, layout=torch.sparse_coo)"""),
    "csr": (lambda: coo(dtype=ag.float64).to_sparse_csr(), """\
tensor(crow_indices=tensor([0, 1, 3]),
       col_indices=tensor([2, 0, 2]),
       values=tensor([3., 4., 5.]), size=(2, 3), nnz=3, dtype=torch.float64,
       layout=torch.sparse_csr)"""),
    "empty": (lambda: ag.sparse_coo_tensor((2, 3), requires_grad=True), """\
tensor(indices=tensor([], size=(2, 0)),
       values=tensor([], size=(0,)),
       size=(2, 3), nnz=0, layout=torch.sparse_coo, requires_grad=True)"""),
}  # fmt: skip


@pytest.mark.parametrize("name", PRINTED)
def test_printed(name):
    make, text = PRINTED[name]
    assert repr(make()) == text


REFUSED = {
    "nnz": (lambda: ag.sparse_coo_tensor(INDICES, VALUES[:2], (2, 3)), RuntimeError, "same nnz"),
    "dims": (lambda: ag.sparse_coo_tensor(INDICES, VALUES, (2,)), RuntimeError, "sparse_dim [+] dense_dim"),
    "large": (lambda: ag.sparse_coo_tensor(INDICES, VALUES, (2, 2)), RuntimeError, "size is 2 but found index 2"),
    "negative": (lambda: ag.sparse_coo_tensor(-INDICES, VALUES, (2, 3)), RuntimeError, "found negative index -1"),
    "no size": (lambda: ag.sparse_coo_tensor(-INDICES, VALUES), RuntimeError, "found negative index"),
    "values": (lambda: ag.sparse_coo_tensor([[0]], ag.ones(1, 2), (2, 3)), RuntimeError, "values has incorrect size"),
    "fractions": (lambda: ag.sparse_coo_tensor([[0.5]], [1.0], (2,)), TypeError, "indices must be an integer tensor"),
    "NaN": (lambda: ag.sparse_coo_tensor([[float("nan")]], [1.0], (2,)), TypeError, "indices must be an integer tensor"),
    "infinity": (lambda: ag.sparse_coo_tensor([[float("inf")]], [1.0], (2,)), TypeError, "indices must be an integer tensor"),
    "not coalesced": (
        lambda: ag.sparse_coo_tensor([[0, 0]], [1.0, 2.0], (2,), is_coalesced=True),
        RuntimeError,
        "is_coalesced",
    ),
    "huge": (lambda: ag.sparse_coo_tensor([[0]] * 4, [1.0], (2**40,) * 4), RuntimeError, "too many elements"),
    "crow": (lambda: ag.sparse_csr_tensor([0, 1], [0], [1.0], (2, 2)), RuntimeError, "number of rows plus one"),
    "crow end": (lambda: ag.sparse_csr_tensor([0, 1, 1], [0, 1], [1.0, 2.0], (2, 2)), RuntimeError, "== nnz"),
    "crow order": (lambda: ag.sparse_csr_tensor([0, 2, 1], [0], [1.0], (2, 2)), RuntimeError, "crow_indices"),
    "col": (lambda: ag.sparse_csr_tensor([0, 1], [2], [1.0], (1, 2)), RuntimeError, "col_indices < ncols"),
    "col twice": (lambda: ag.sparse_csr_tensor([0, 2], [1, 1], [1.0, 2.0], (1, 2)), RuntimeError, "sorted and distinct"),
    "indices": (lambda: coo().indices(), RuntimeError, "Cannot get indices on an uncoalesced tensor, please call .coalesce"),
    "values()": (lambda: coo().values(), RuntimeError, "Cannot get values on an uncoalesced tensor"),
    "crow of coo": (lambda: coo().crow_indices(), RuntimeError, "expected sparse row compressed tensor layout but got Sparse"),
    "coalesce dense": (lambda: ag.ones(2).coalesce(), NotImplementedError, "coalesce"),
    "exp": (lambda: coo().exp(), NotImplementedError, r"Could not run 'aten::exp' .*'SparseCPU' backend.*to_dense"),
    "exp of csr": (lambda: coo().to_sparse_csr().exp(), NotImplementedError, "'SparseCsrCPU' backend"),
    "numpy": (lambda: coo().numpy(), TypeError, "can't convert Sparse layout tensor to numpy. Use Tensor.to_dense"),
    "data_ptr": (lambda: coo().data_ptr(), RuntimeError, "Cannot access data pointer of Tensor that doesn't have storage"),
    "plus number": (lambda: coo() + 1, RuntimeError, "add.sparse, dense. is not supported"),
    "quotient": (lambda: coo() / ag.ones(2, 3), RuntimeError, "Sparse division requires a scalar"),
    "shapes": (lambda: coo() @ ag.ones(2, 2), RuntimeError, r"cannot be multiplied .2x3 and 2x2."),
    "dtypes": (lambda: coo() @ ag.ones(3, 2, dtype=ag.float64), RuntimeError, "same dtype"),
    "sizes": (lambda: coo() + coo().t(), RuntimeError, "sizes of 'self' and 'other' to match"),
    "t": (lambda: ag.sparse_coo_tensor([[0]], ag.ones(1, 2), (2, 2)).t(), RuntimeError, "2 sparse and 0 dense"),
    "write": (lambda: coo(requires_grad=True).mul_(2), RuntimeError, "can't be written in place"),
    "csr of cube": (lambda: ag.ones(2, 2, 2).to_sparse_csr(), RuntimeError, "expected a matrix"),
    "blocks": (lambda: ag.ones(2, 2).to_sparse(layout=ag.sparse_bsr), NotImplementedError, "sparse_bsr"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_refused(name):
    make, error, text = REFUSED[name]
    with pytest.raises(error, match=text):
        make()


def test_in_place():
    s = coo()
    assert s.mul_(2) is s and s._values().tolist() == [6.0, 8.0, 10.0]
    s += coo()
    assert s.to_dense().equal(3 * coo().to_dense())
    s.zero_()
    assert s._nnz() == 0 and s.shape == (2, 3)
    s.copy_(coo())
    assert s.to_dense().equal(coo().to_dense())
    s.zero_().sparse_resize_((3, 4), 2, 0)
    assert s.shape == (3, 4) and s.to_dense().equal(ag.zeros(3, 4))


def test_invariants_are_a_switch():
    check = ag.sparse.check_sparse_tensor_invariants
    assert not check.is_enabled()
    with check():
        assert check.is_enabled()
    check.enable()
    assert check.is_enabled()
    check.disable()
    assert not check.is_enabled()


def test_scipy_both_ways():
    scipy = pytest.importorskip("scipy.sparse")
    r = np.random.default_rng(0)
    for matrix in (scipy.random(4, 5, 0.4, random_state=r), scipy.random(4, 5, 0.4, random_state=r).tocsr()):
        s = ag.sparse.from_scipy(matrix)
        assert s.is_sparse_csr == (matrix.format == "csr")
        np.testing.assert_array_equal(s.to_dense().numpy(), matrix.toarray())
        back = ag.sparse.to_scipy(s)
        assert back.format == matrix.format
        np.testing.assert_array_equal(back.toarray(), matrix.toarray())
        coo = matrix.tocoo()  # as users do it by hand
        indices = ag.from_numpy(np.vstack((coo.row, coo.col)).astype(np.int64))
        made = ag.sparse.FloatTensor(indices, ag.from_numpy(coo.data.astype(np.float32)), ag.Size(coo.shape))
        np.testing.assert_allclose(made.to_dense().numpy(), matrix.toarray(), rtol=1e-6)
    with pytest.raises(TypeError, match="scipy"):
        ag.sparse.from_scipy(np.eye(2))
    with pytest.raises(RuntimeError, match="requires grad"):
        ag.sparse.to_scipy(s.detach().requires_grad_())


def test_a_graph_network_learns():
    """Two layers of mean aggregation over the edges of a ring of two halves; labels are the halves."""
    n = 20
    edges = [(i, (i + 1) % n) for i in range(n)] + [(i, i) for i in range(n)]
    indices = ag.tensor(np.array(edges + [(b, a) for a, b in edges if a != b]).T)
    adjacency = ag.sparse_coo_tensor(indices, ag.ones(indices.shape[1]), (n, n)).coalesce()
    adjacency = ag.diag(1 / ag.sparse.sum(adjacency, 1).to_dense()).to_sparse() @ adjacency
    features = ag.from_numpy(np.random.default_rng(0).normal(size=(n, 4)).astype(np.float32))
    labels = ag.arange(n) // (n // 2)
    ag.manual_seed(0)
    first, second = nn.Linear(4, 8), nn.Linear(8, 2)
    optimizer = ag.optim.Adam([*first.parameters(), *second.parameters()], lr=0.05)
    losses = []
    for _ in range(60):
        optimizer.zero_grad()
        hidden = ag.spmm(adjacency, first(features)).relu()
        loss = nn.functional.cross_entropy(adjacency @ second(hidden), labels)
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    assert losses[-1] < 0.3 * losses[0]


def test_the_module_is_imported_when_it_is_asked_for():
    import subprocess
    import sys

    script = (
        "import sys, autograd_cy as ag; assert 'autograd_cy.sparse' not in sys.modules; ag.ones(2, requires_grad=True).sum()"
        ".backward(); ag.nn.Embedding(3, 2); assert 'autograd_cy.sparse' not in sys.modules; ag.eye(2).to_sparse();"
        "assert 'autograd_cy.sparse' in sys.modules and 'scipy' not in sys.modules"
    )
    subprocess.run([sys.executable, "-c", script], check=True)
