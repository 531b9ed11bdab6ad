"""Functions of sparse tensors against those of dense ones, on random patterns with places that are there several times."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import autograd_cy as ag

DRAWN = settings(max_examples=25, deadline=None)


@st.composite
def patterns(draw, dims=(1, 3), dense_dims=(0, 1)):
    """indices, size, sparse_dim: places may be there several times, in any order."""
    sparse_dim, dense_dim = draw(st.integers(*dims)), draw(st.integers(*dense_dims))
    size = tuple(draw(st.lists(st.integers(1, 4), min_size=sparse_dim + dense_dim, max_size=sparse_dim + dense_dim)))
    nnz = draw(st.integers(0, 7))
    indices = [[draw(st.integers(0, n - 1)) for _ in range(nnz)] for n in size[:sparse_dim]]
    return np.array(indices, np.int64).reshape(sparse_dim, nnz), size, sparse_dim


def values_for(pattern, seed=0):
    indices, size, sparse_dim = pattern
    return np.random.default_rng(seed).normal(size=(indices.shape[1], *size[sparse_dim:]))


def dense_of(pattern, values):
    indices, size, _ = pattern
    made = np.zeros(size)
    np.add.at(made, tuple(indices), values)
    return made


def sparse_of(pattern, values, **options):
    return ag.sparse_coo_tensor(ag.tensor(pattern[0]), ag.tensor(values), pattern[1], **options)


def pair(pattern, seed=0):
    values = values_for(pattern, seed)
    return sparse_of(pattern, values), ag.tensor(dense_of(pattern, values))


def near(sparse, dense):
    made = sparse.to_dense() if sparse.layout is not ag.strided else sparse
    np.testing.assert_allclose(made.detach().numpy(), dense.detach().numpy(), rtol=1e-12, atol=1e-12)
    assert made.dtype is dense.dtype


@DRAWN
@given(patterns())
def test_conversions(pattern):
    s, d = pair(pattern)
    near(s, d)
    near(s.coalesce(), d)
    near(d.to_sparse(), d)
    near(d.to_sparse(pattern[2]), d)
    near(s.detach(), d)
    near(s.clone(), d)
    near(s.coalesce().float(), d.float())
    c = s.coalesce()
    assert c.is_coalesced() and c.coalesce() is c
    places = c.indices().numpy()
    assert len({tuple(p) for p in places.T}) == c._nnz() == len({tuple(p) for p in pattern[0].T})
    assert (np.lexsort(places[::-1]) == np.arange(c._nnz())).all()


@DRAWN
@given(patterns(dims=(2, 2), dense_dims=(0, 0)))
def test_compressed_rows(pattern):
    s, d = pair(pattern)
    r = s.to_sparse_csr()
    near(r, d)
    near(r.to_sparse(), d)
    near(r.t(), d.t())
    near(r * 2, d * 2)
    near(r + r, d + d)
    near(r @ ag.ones(d.shape[1], 2, dtype=ag.float64), d @ ag.ones(d.shape[1], 2, dtype=ag.float64))
    assert r.crow_indices().shape == (d.shape[0] + 1,) and r.crow_indices()[-1] == r._nnz()


UNARY = (
    "abs neg sin tan tanh sinh asinh atan expm1 relu sign sgn ceil floor trunc round square erf nan_to_num conj "
    "deg2rad isinf isnan signbit"
).split()


@pytest.mark.parametrize("name", UNARY)
@DRAWN
@given(pattern=patterns())
def test_functions_that_keep_zeros(name, pattern):
    s, d = pair(pattern)
    near(getattr(ag, name)(s), getattr(ag, name)(d))


@DRAWN
@given(patterns())
def test_sums(pattern):
    s, d = pair(pattern)
    near(s.sum(), d.sum())
    near(ag.sparse.sum(s), d.sum())
    for dim in range(d.ndim):
        near(ag.sparse.sum(s, dim), d.sum(dim))
        near(s.sum(dim, keepdim=True), d.sum(dim, keepdim=True))
    near(ag.sparse.sum(s, tuple(range(d.ndim))), d.sum())
    near(s.norm(), d.norm())


@pytest.mark.parametrize("keepdim", [False, True])
@pytest.mark.parametrize("dim", [0, 1, 2, (0, 1), (1, 2), (0, 1, 2)])
def test_sums_of_compressed_rows_with_dense_dimensions(dim, keepdim):
    s = ag.sparse_csr_tensor([0, 2, 3], [0, 2, 1], ag.arange(12.0).reshape(3, 4), (2, 3, 4))
    near(s.sum(dim, keepdim=keepdim), s.to_dense().sum(dim, keepdim=keepdim))


@DRAWN
@given(patterns(), st.integers(0, 2))
def test_softmax(pattern, dim):
    s, _ = pair(pattern)
    dim %= s.ndim
    c = s.coalesce()
    there = ag.sparse_coo_tensor(c.indices(), ag.ones_like(c.values()), c.shape).to_dense() != 0
    d = s.to_dense().masked_fill(~there, -np.inf)
    y = ag.sparse.softmax(s, dim).to_dense()
    expected = d.softmax(dim).nan_to_num(0.0)
    if dim >= s.sparse_dim():
        expected = expected.where(there, 0.0)
    near(y, expected)
    log = ag.sparse.log_softmax(s, dim).coalesce()
    near(log.values().exp(), ag.sparse.softmax(s, dim).coalesce().values())


@DRAWN
@given(patterns(), st.integers(0, 9))
def test_sums_and_products_of_two(pattern, seed):
    s, d = pair(pattern)
    r = np.random.default_rng(seed)
    other = (np.stack([r.integers(0, n, 4) for n in pattern[1][: pattern[2]]]), pattern[1], pattern[2])
    t, e = pair(other, seed)
    for a, b, c, f in ((s, t, d, e), (s.coalesce(), t.coalesce(), d, e), (s, s, d, d)):
        near(a + b, c + f)
        near(a - b, c - f)
        near(a.add(b, alpha=3), c.add(f, alpha=3))
        near(a * b, c * f)
    near(d + t, d + e)
    near(d - t, d - e)
    near(s + e, d + e)
    near(s - e, d - e)
    near(s * e, d * e)
    near(e * s, d * e)
    near(s * 2.5, d * 2.5)
    near(3 * s, 3 * d)
    near(s / 2, d / 2)
    near(s * ag.tensor(2.0, dtype=ag.float64), d * 2)
    near(s**2, d**2)
    near(e.clone().add_(s, alpha=2), e + 2 * d)
    x = e.clone().t().contiguous().t() if e.ndim == 2 else e.clone()
    near(x.add_(s), e + d)


@DRAWN
@given(patterns(dims=(2, 2), dense_dims=(0, 0)), st.integers(1, 3))
def test_products(pattern, k):
    s, d = pair(pattern)
    r = np.random.default_rng(1)
    x, y = ag.tensor(r.normal(size=(d.shape[1], k))), ag.tensor(r.normal(size=(k, d.shape[0])))
    for a in (s, s.coalesce(), s.to_sparse_csr()):
        for product in (ag.mm, ag.matmul, ag.sparse.mm, ag.spmm, ag.dsmm, lambda u, v: u @ v, lambda u, v: u.mm(v)):
            near(product(a, x), d @ x)
        near(y @ a, y @ d)
        near(ag.mm(y, a), y @ d)
        near(a @ x[:, 0], d @ x[:, 0])
        near(a.mv(x[:, 0]), d @ x[:, 0])
        near(y[0] @ a, y[0] @ d)
        near(a @ a.t(), d @ d.t())
        near(ag.sparse.mm(a, a.t()), d @ d.t())
        z = ag.ones(d.shape[0], k, dtype=ag.float64)
        near(ag.sparse.addmm(z, a, x, beta=2, alpha=3), 2 * z + 3 * (d @ x))
        near(ag.addmm(z, a, x), z + d @ x)
        near(z.addmm(a, x, beta=0), d @ x)
    near(ag.hspmm(s, x), d @ x)
    near(ag.smm(s, s.t()), d @ d.t())
    sampled = ag.sparse.sampled_addmm(s.to_sparse_csr(), x[: d.shape[1]].new_ones(d.shape[0], k), x.t())
    near(sampled, d + (ag.ones(d.shape[0], k, dtype=ag.float64) @ x.t()) * (pattern_of(s) != 0))


def pattern_of(s):
    c = s.coalesce()
    return ag.sparse_coo_tensor(c.indices(), ag.ones_like(c.values()), c.shape).to_dense()


@DRAWN
@given(patterns())
def test_other_places(pattern):
    s, d = pair(pattern)
    n = pattern[2]
    for a in (s, s.coalesce()):
        if n > 1:
            near(a.transpose(0, 1), d.transpose(0, 1))
            near(a.transpose(0, 1).coalesce(), d.transpose(0, 1))
        if d.ndim == 2 and n == 2:
            near(a.t(), d.t())
            near(a.T, d.T)
        for dim in range(d.ndim):
            near(a.select(dim, -1), d.select(dim, -1))
            index = ag.tensor([d.shape[dim] - 1, 0, 0])
            near(a.index_select(dim, index), d.index_select(dim, index))
            near(a.narrow(dim, 0, 1), d.narrow(dim, 0, 1))
            near(ag.cat([a, a], dim), ag.cat([d, d], dim))
        near(a[0], d[0])
        near(a[..., :1], d[..., :1])
        near(a.unsqueeze(0), d.unsqueeze(0))
        near(a.squeeze(), d.squeeze())
        assert len(list(a)) == d.shape[0]
        near(d.sparse_mask(a.coalesce()), d * (pattern_of(a) != 0))


def test_spdiags():
    diagonals = ag.tensor([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]])
    made = ag.sparse.spdiags(diagonals, ag.tensor([0, -1]), (3, 3))
    near(made, ag.tensor([[1.0, 0.0, 0.0], [4.0, 2.0, 0.0], [0.0, 5.0, 3.0]]))


@pytest.mark.parametrize("dtype", [ag.bool, ag.uint8, ag.int32, ag.int64, ag.float16, ag.float32, ag.complex64], ids=str)
def test_types(dtype):
    x = ag.tensor([[0, 1], [1, 0]]).to(dtype)
    s = x.to_sparse()
    assert s.dtype is dtype and s.to_dense().equal(x)
    twice = ag.sparse_coo_tensor([[0, 0], [1, 1]], ag.ones(2).to(dtype), (2, 2))
    assert twice.to_dense().equal(twice.coalesce().to_dense())
    assert twice.to_dense()[0, 1] == (True if dtype is ag.bool else 2)


@pytest.mark.parametrize("dtype", [ag.float16, ag.float32, ag.complex64], ids=str)
def test_products_in_other_types(dtype):
    s = ag.tensor([[0, 2, 0], [1, 0, 3]]).to(dtype).to_sparse()
    x = ag.arange(6).reshape(3, 2).to(dtype)
    assert (s @ x).equal(ag.tensor([[4, 6], [12, 16]]).to(dtype))
    assert (ag.sparse_coo_tensor((0, 3), dtype=dtype) @ x).shape == (0, 2)
    assert (s.new_ones(2, 0).t() @ s).shape == (0, 3)
    assert (s @ x[:, :0]).shape == (2, 0)


def test_dense_tensors_are_added_to_in_place():
    """Without a graph only the rows that have values are touched; the write counts, and views see it."""
    d = ag.zeros(4, 2)
    view, version = d[1], d._version
    s = ag.sparse_coo_tensor([[1, 1, 3]], ag.ones(3, 2), (4, 2))
    with ag.no_grad():
        d.add_(s, alpha=2)
    assert view.tolist() == [4.0, 4.0] and d[3].tolist() == [2.0, 2.0] and d._version > version
    w = ag.zeros(4, 2, requires_grad=True)
    y = w * 1
    y.add_(s)
    y.sum().backward()
    assert w.grad.equal(ag.ones(4, 2))
    with pytest.raises(RuntimeError, match="leaf"):
        w.add_(s)
    saved = (y * y).sum()
    with ag.no_grad():
        y.add_(s)
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        saved.backward()
