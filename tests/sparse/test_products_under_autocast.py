"""Products of sparse matrices under autocast have the types of torch 2.13. (It has no products of CSR matrices of 16 bits.)"""

import pytest

import autograd_cy as ag

DENSE = ag.tensor([[1.0, 0, 2], [0, 3, 0]])
B = ag.ones(3, 4)

CAST = {
    "sparse.mm": lambda s: ag.sparse.mm(s, B),
    "@": lambda s: s @ B,
    "mm": lambda s: ag.mm(s, B),
    "a method": lambda s: s.matmul(B),
    "mv": lambda s: s.mv(B[:, 0]),
    "@ a vector": lambda s: s @ B[:, 0],
    "addmm": lambda s: ag.addmm(ag.ones(2, 4), s, B),
    "sparse.addmm": lambda s: ag.sparse.addmm(ag.ones(2, 4), s, B),
    "on the right": lambda s: ag.ones(4, 2) @ s,
    "linear": lambda s: ag.nn.functional.linear(ag.ones(5, 3), s),
}
KEPT = {
    "sparse.mm of two": lambda s: ag.sparse.mm(s, s.t()),
    "hspmm": lambda s: ag.hspmm(s, B),
    "*": lambda s: s * 2,
    "sparse.sum": lambda s: ag.sparse.sum(s, 0),
}


@pytest.mark.parametrize("name", CAST)
@pytest.mark.parametrize("dtype", [ag.bfloat16, ag.float16])
def test_products_are_cast(name, dtype):
    s = DENSE.to_sparse()
    with ag.autocast("cpu", dtype=dtype):
        made = CAST[name](s)
        with ag.autocast("cpu", enabled=False):
            expected = CAST[name](s)
    assert made.dtype is dtype and ag.equal(made.float(), expected) and expected.dtype is ag.float32
    assert CAST[name](s).dtype is ag.float32


@pytest.mark.parametrize("name", KEPT)
def test_others_are_not(name):
    with ag.autocast("cpu", dtype=ag.bfloat16):
        assert KEPT[name](DENSE.to_sparse()).dtype is ag.float32


def test_double_is_not_cast():
    with ag.autocast("cpu", dtype=ag.bfloat16):
        assert ag.mm(DENSE.double().to_sparse(), B.double()).dtype is ag.float64
        with pytest.raises(RuntimeError, match="dtype"):
            ag.sparse.mm(DENSE.double().to_sparse(), B)


def test_gradients_of_bfloat16():
    s, b = DENSE.bfloat16().to_sparse().requires_grad_(), B.bfloat16().requires_grad_()
    (s @ b).sum().backward()
    assert s.grad.dtype is ag.bfloat16 and ag.equal(s.grad.to_dense(), 4 * DENSE.bool().bfloat16())


def test_gradients_have_the_types_of_the_operands():
    s, b = DENSE.to_sparse().requires_grad_(), ag.ones(3, 4, requires_grad=True)
    with ag.autocast("cpu", dtype=ag.bfloat16):
        first = ag.sparse.mm(s, b)
        (first + ag.sparse.mm(s, b)).sum().backward()
    assert s.grad.dtype is b.grad.dtype is ag.float32 and s.grad.layout is ag.sparse_coo
    assert ag.equal(s.grad.to_dense(), 8 * DENSE.bool().float()) and b.grad[:, 0].tolist() == [2, 6, 4]
