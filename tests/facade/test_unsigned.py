"""uint16, uint32 and uint64: stored, converted, compared, indexed and computed; no common type with another integer."""

import pickle

import numpy as np
import pytest

import autograd_cy as ag

NAMES = ("uint16", "uint32", "uint64")
EACH = pytest.mark.parametrize("name", NAMES)
WORDS = {"uint16": "UInt16", "uint32": "UInt32", "uint64": "UInt64"}
OTHERS = ("bool", "uint8", "int8", "int16", "int32", "int64", *NAMES, "complex64", "complex128")
FLOATS = ("float16", "bfloat16", "float32", "float64")


def made(name, *values):
    return ag.tensor(values or (3, 0, 5, 250), dtype=getattr(ag, name))


@EACH
def test_the_dtype(name):
    dtype, limits = getattr(ag, name), ag.iinfo(getattr(ag, name))
    assert dtype == np.dtype(name) and np.dtype(dtype) == name and pickle.loads(pickle.dumps(dtype)) is dtype
    assert not (dtype.is_signed or dtype.is_floating_point or dtype.is_complex) and dtype.itemsize == int(name[4:]) // 8
    assert (limits.min, limits.max) == (0, np.iinfo(name).max)


@EACH
def test_making_showing_and_reading(name):
    x, most = made(name), np.iinfo(name).max
    assert repr(x) == f"tensor([  3,   0,   5, 250], dtype=torch.{name})" and x.tolist() == [3, 0, 5, 250]
    assert x.type() == f"torch.{WORDS[name]}Tensor" and x[3].item() == 250 and x.numpy().dtype == name
    assert ag.ones(1).type(f"torch.{WORDS[name]}Tensor").dtype is x.dtype
    assert ag.from_numpy(np.arange(3, dtype=name)).dtype is ag.tensor(np.arange(3, dtype=name)).dtype is x.dtype
    assert ag.full((1,), most, dtype=x.dtype).item() == most and ag.zeros(2, dtype=x.dtype).tolist() == [0, 0]
    assert ag.randint(10, (3,), dtype=x.dtype).dtype is x.dtype and ag.empty_like(x).dtype is x.dtype


def test_numbers_that_do_not_fit():
    assert ag.tensor(-1, dtype=ag.uint16).item() == 65535 and ag.tensor([-1]).to(ag.uint32).item() == 2**32 - 1
    assert ag.tensor([1.5, 2.7]).to(ag.uint64).tolist() == [1, 2]
    with pytest.raises(RuntimeError, match=r"uint16.* without overflow"):
        ag.tensor(2**40, dtype=ag.uint16)
    with pytest.raises(RuntimeError, match="only Tensors of floating point dtype can require gradients"):
        made("uint16").requires_grad_()


@EACH
def test_conversions(name):
    x = made(name)
    for other in ("uint8", "int16", "int32", "int64", *NAMES, "complex64", "complex128", "float16", "float32", "float64"):
        y = x.to(getattr(ag, other))
        assert (y.real if y.is_complex() else y).to(x.dtype).tolist() == [3, 0, 5, 250]
    assert x.bool().tolist() == [True, False, True, True] and x.long().dtype is ag.int64


@EACH
@pytest.mark.parametrize("other", OTHERS)
def test_promotion_with_another_type_that_is_no_float_is_refused(name, other):
    a, b = made(name), ag.ones(4, dtype=getattr(ag, other))
    if other == name:
        assert (a * b).dtype is ag.promote_types(a.dtype, b.dtype) is a.dtype
        return
    match = "Promotion for uint16, uint32, uint64 types is not supported, attempted to promote"
    calls = lambda: ag.promote_types(a.dtype, b.dtype), lambda: a + b, lambda: b * a, lambda: a == b, lambda: ag.cat([a, b])
    for call in calls:
        with pytest.raises(RuntimeError, match=match):
            call()


@EACH
def test_promotion_with_floats_and_numbers(name):
    x = made(name)
    for other in ("float16", "float32", "float64"):
        assert (x + ag.ones(4, dtype=getattr(ag, other))).dtype is getattr(ag, other)
    assert str(ag.promote_types(x.dtype, ag.bfloat16)) == "torch.bfloat16"
    assert (x * 2).dtype is x.dtype and (x + ag.tensor(1)).dtype is x.dtype and (x + 1.5).tolist() == [4.5, 1.5, 6.5, 251.5]
    assert (x / x).dtype is x.exp().dtype is ag.float32
    assert ag.can_cast(x.dtype, ag.int64) and ag.can_cast(ag.int64, x.dtype) and not ag.can_cast(ag.float32, x.dtype)


COMPUTED = {
    "add": lambda x: x + x, "sub": lambda x: x - x, "mul": lambda x: x * x, "mul number": lambda x: x * 2,
    "and": lambda x: x & 6, "or": lambda x: x | 6, "xor": lambda x: x ^ x, "eq": lambda x: x == 3, "lt": lambda x: x < 5,
    "ge": lambda x: x >= 5, "sum": lambda x: x.sum(), "prod": lambda x: x[::2].prod(), "cumsum": lambda x: x.cumsum(0),
    "amax": lambda x: x.amax(), "argmax": lambda x: x.argmax(), "min": lambda x: x.min(), "sort": lambda x: x.sort()[0],
    "unique": lambda x: x.unique(), "any": lambda x: x.any(), "nonzero": lambda x: x.nonzero(), "index": lambda x: x[1:3],
    "index by tensor": lambda x: x[ag.tensor([2, 0])], "mask": lambda x: x[x > 3], "cat": lambda x: ag.cat([x, x]),
    "stack": lambda x: ag.stack([x, x]), "where": lambda x: ag.where(x > 3, x, x * 2), "roll": lambda x: x.roll(1),
    "flip": lambda x: x.flip(0), "view": lambda x: x.view(2, 2).t().contiguous(),
    "gather": lambda x: x.gather(0, ag.tensor([3])),
    "index_select": lambda x: x.index_select(0, ag.tensor([3])), "maximum": lambda x: x.maximum(x), "abs": lambda x: x.abs(),
    "isnan": lambda x: x.isnan(), "masked_fill": lambda x: x.masked_fill(x > 3, 1), "sqrt": lambda x: x.sqrt(),
    "sum of floats": lambda x: x.sum(dtype=ag.float32), "invert": lambda x: ~(x.bool()), "diag": lambda x: x.diag(),
    "pad": lambda x: ag.nn.functional.pad(x, (1, 1)), "repeat": lambda x: x.repeat(2), "topk": lambda x: x.topk(2)[0],
}  # fmt: skip


@EACH
@pytest.mark.parametrize("call", COMPUTED.values(), ids=COMPUTED)
def test_values_are_those_of_int64(name, call):
    x = made(name)
    found, expected = call(x), call(x.long())
    assert found.tolist() == expected.tolist() and found.dtype is (x.dtype if found.dtype is x.dtype else expected.dtype)


@EACH
def test_writes(name):
    x = made(name)
    x[0] = 7
    x[1:3] = ag.tensor([8, 9])
    x.mul_(2)
    assert x.tolist() == [14, 16, 18, 500] and x.fill_(3).tolist() == [3] * 4
    assert x.zero_().copy_(ag.arange(4)).tolist() == [0, 1, 2, 3]


def test_large_numbers():
    x = ag.tensor([2**63, 2**64 - 1], dtype=ag.uint64)
    assert x.tolist() == [2**63, 2**64 - 1] and (x == 2**63).tolist() == [True, False]
    assert x.sort(descending=True)[1].tolist() == [1, 0]
    y = ag.tensor([2**31, 2**32 - 1, 1], dtype=ag.uint32)
    assert y.sort()[1].tolist() == [2, 0, 1] and y.sort(descending=True)[1].tolist() == [1, 0, 2]
    assert repr(x[1]) == "tensor(18446744073709551615, dtype=torch.uint64)"


@EACH
def test_they_are_no_indices(name):
    with pytest.raises(IndexError, match="tensors used as indices must be"):
        ag.arange(300)[made(name)]


@EACH
def test_save_and_load(name, tmp_path):
    ag.save({"x": made(name), "part": made(name)[1:]}, tmp_path / "x")
    for found in (ag.load(tmp_path / "x"), ag.load(tmp_path / "x", mmap=True)):
        assert found["x"].dtype is getattr(ag, name) and found["x"].tolist() == [3, 0, 5, 250]
        assert found["part"].tolist() == [0, 5, 250]
    torch = pytest.importorskip("torch")
    theirs = torch.load(tmp_path / "x")
    assert theirs["x"].dtype is getattr(torch, name) and theirs["part"].tolist() == [0, 5, 250]
    torch.save(theirs, tmp_path / "x")
    assert ag.load(tmp_path / "x")["part"].tolist() == [0, 5, 250]


def test_promotion_parity():
    torch = pytest.importorskip("torch")

    def outcome(m, a, b):
        try:
            return str(m.promote_types(getattr(m, a), getattr(m, b)))
        except RuntimeError as error:
            return str(error)

    for name in NAMES:
        for other in (*OTHERS, *FLOATS):
            assert outcome(ag, name, other) == outcome(torch, name, other)


@pytest.mark.parametrize("values", [-1, [2, -1], [[-300]]])
def test_negative_integers_are_refused_in_uint64_and_wrap_in_narrower_types(values):
    with pytest.raises(OverflowError, match="can't convert negative int to unsigned"):
        ag.tensor(values, dtype=ag.uint64)
    assert ag.tensor(-1, dtype=ag.uint16).item() == 2**16 - 1 and ag.tensor([-1], dtype=ag.uint32).item() == 2**32 - 1
    assert ag.tensor([-1]).to(ag.uint64).item() == ag.full((), -1, dtype=ag.uint64).item() == 2**64 - 1
