"""The type of operations on three operands: by rank, whatever the order. Right types are PyTorch 2.13's."""

import itertools

import pytest

import autograd_cy as ag

f32, f64 = ag.float32, ag.float64


def test_clamp_to_tensors_of_two_ranks():
    x = ag.tensor([True])
    many, one = (lambda d: ag.ones(1, dtype=d)), (lambda d: ag.ones((), dtype=d))
    cases = [(one(f64), many(f32), f32), (many(f64), one(f32), f64), (one(f32), one(f64), f64), (one(f64), one(f32), f64)]
    for low, high, dtype in cases:
        assert ag.clamp(x, low, high).dtype is ag.clamp(x, high, low).dtype is dtype


@pytest.mark.parametrize("name", ["addcmul", "clamp"])
def test_the_order_of_operands_is_no_matter(name):
    kinds = [ag.ones(1, dtype=ag.bool), ag.ones((), dtype=f64), ag.ones(1, dtype=f32)]
    for operands in itertools.permutations(kinds):
        assert getattr(ag, name)(*operands).dtype is f32


def test_addcdiv_in_place_looks_at_all_operands():
    x = ag.ones(2)
    x.addcmul_(ag.ones((), dtype=f64), ag.ones(2, dtype=ag.int64))
    assert x.dtype is f32
    assert x.tolist() == [2, 2]
    with pytest.raises(RuntimeError, match="can't be cast"):
        ag.ones(2, dtype=ag.int64).addcmul_(ag.ones((), dtype=f64), ag.ones(2, dtype=ag.int64))
