"""hash_tensor beyond its row: PyTorch's numbers, and what it refuses."""

import pytest

import autograd_cy as ag


def test_numbers_are_pytorchs():
    assert ag.hash_tensor(ag.tensor([1.5, 2.5, -0.0])).item() == 18445618173802708992
    assert ag.hash_tensor(ag.tensor([-1, 3], dtype=ag.int8)).item() == 18446744073709551612
    assert ag.hash_tensor(ag.tensor([250], dtype=ag.uint8)).item() == 250
    assert ag.ones(2, 3, requires_grad=True).hash_tensor(1).requires_grad is False


@pytest.mark.parametrize(("call", "kind", "text"), [
    (lambda: ag.hash_tensor(ag.ones(2), mode=1), RuntimeError, "Unknown hash_tensor mode: 1"),
    (lambda: ag.hash_tensor(ag.ones(0)), RuntimeError, "Expected reduction dim to be specified for input.numel"),
    (lambda: ag.hash_tensor(ag.ones(2, 0), 1), IndexError, "Expected reduction dim 1 to have non-zero size"),
    (lambda: ag.hash_tensor(ag.ones(2, 3), (0, 0)), RuntimeError, "dim 0 appears multiple times"),
    (lambda: ag.hash_tensor(ag.ones(2) * 1j), NotImplementedError, "\"xor_sum_cpu\" not implemented for 'ComplexFloat'"),
    (lambda: ag.hash_tensor(ag.ones(2).to(ag.uint16)), NotImplementedError, "not implemented for 'UInt16'"),
    (lambda: ag.hash_tensor(ag.ones(2), out=ag.empty((), dtype=ag.int64)), RuntimeError, "dtype"),
])  # fmt: skip
def test_refusals(call, kind, text):
    with pytest.raises(kind, match=text):
        call()
