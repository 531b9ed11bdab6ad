"""lerp in 16 bits, and its weights."""

import pytest

import autograd_cy as ag


@pytest.mark.parametrize(("x", "y", "weight"), [(0.0, 0.1, 70000), (6e4, -6e4, 0.3), (-3e4, -2e4, 8), (1.0, 2.0, 1e-9)])
@pytest.mark.parametrize("name", ["float16", "bfloat16"])
def test_a_number_is_a_weight_of_float32(name, x, y, weight):
    """70000 was infinite in float16, and 0.3 rounded to 0.30078 in bfloat16."""
    if name == "bfloat16":
        pytest.importorskip("ml_dtypes")
    dtype = getattr(ag, name)
    x, y = ag.full((4,), x, dtype=dtype), ag.full((4,), y, dtype=dtype)
    expected = ag.lerp(x.float(), y.float(), weight).to(dtype)
    assert ag.equal(ag.lerp(x, y, weight), expected) and ag.equal(x.clone().lerp_(y, weight), expected)


@pytest.mark.parametrize("weight", [ag.tensor(0.5), ag.tensor(0.5, dtype=ag.float64), ag.tensor(0.5).half()])
@pytest.mark.parametrize("name", ["float16", "float32"])
def test_a_weight_without_dimensions_is_of_any_type(name, weight):
    dtype = getattr(ag, name)
    x, w = ag.ones(3, dtype=dtype), weight.clone().requires_grad_()
    y = ag.lerp(x, 3 * x, w)
    y.sum().backward()
    assert y.dtype is dtype and y.tolist() == [2, 2, 2] and w.grad.dtype is w.dtype and w.grad.item() == 6
    with pytest.raises(RuntimeError, match="for `weight` but got dtype"):
        ag.lerp(x, x, ag.ones(3, dtype=ag.float64))
