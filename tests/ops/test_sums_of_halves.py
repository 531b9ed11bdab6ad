"""Sums into indexed places of 16-bit floats are rounded once: they are computed in float32."""

import pytest

import autograd_cy as ag

SUMS = {
    "index_add": lambda zeros, i, v: zeros.index_add(0, i, v),
    "scatter_add": lambda zeros, i, v: zeros.scatter_add(0, i, v),
    "scatter_reduce": lambda zeros, i, v: zeros.scatter_reduce(0, i, v, "sum"),
    "mean": lambda zeros, i, v: zeros.scatter_reduce(0, i, v, "mean", include_self=False) * 1000,
    "index_reduce": lambda zeros, i, v: zeros.index_reduce(0, i, v, "mean", include_self=False) * 1000,
    "index_put": lambda zeros, i, v: zeros.index_put((i,), v, accumulate=True),
    "put": lambda zeros, i, v: zeros.put(i, v, accumulate=True),
    "coalesce": lambda zeros, i, v: ag.sparse_coo_tensor(i[None], v, (3,)).coalesce().to_dense(),
    "to_dense": lambda zeros, i, v: ag.sparse_coo_tensor(i[None], v, (3,)).to_dense(),
}


@pytest.mark.parametrize("dtype", [ag.float16, ag.bfloat16])
@pytest.mark.parametrize("case", SUMS)
def test_sums_of_halves(case, dtype):
    if dtype is ag.bfloat16:
        pytest.importorskip("ml_dtypes")
    v = ag.full((1000,), 0.3).to(dtype)
    found = SUMS[case](ag.zeros(3, dtype=dtype), ag.ones(1000, dtype=ag.int64), v)
    exact = v.double().sum()
    assert found.dtype is dtype and abs(found[1].double() - exact) <= exact * ag.finfo(dtype).eps
    assert found[0] == found[2] == 0


@pytest.mark.parametrize("dtype", [ag.float16, ag.bfloat16])
def test_gradients_of_gathered_halves(dtype):
    if dtype is ag.bfloat16:
        pytest.importorskip("ml_dtypes")
    table = ag.ones(2, 3, dtype=dtype, requires_grad=True)
    i = ag.zeros(1000, dtype=ag.int64)
    embedded = ag.nn.functional.embedding(i, table)
    for y in (table[i], table.index_select(0, i), table.gather(0, i[:, None].expand(1000, 3)), embedded):
        (found,) = ag.autograd.grad(y, table, ag.full((1000, 3), 0.3).to(dtype))
        exact = 1000 * ag.tensor(0.3).to(dtype).double()
        assert (abs(found[0].double() - exact) <= exact * ag.finfo(dtype).eps).all() and (found[1] == 0).all()


def test_overflow_is_infinite_without_a_warning():
    v = ag.full((3,), 6e4, dtype=ag.float16)
    assert ag.zeros(1, dtype=ag.float16).index_add(0, ag.zeros(3, dtype=ag.int64), v).tolist() == [float("inf")]
