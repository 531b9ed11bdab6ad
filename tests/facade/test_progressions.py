"""range() and vander(): their values are those of PyTorch 2.13."""

import pytest

import autograd_cy as ag


@pytest.mark.filterwarnings("ignore:torch.range is deprecated")
@pytest.mark.parametrize(
    "arguments, dtype, expected",
    [
        ((1, 4), None, [1.0, 2.0, 3.0, 4.0]),
        ((0.5, 5.7, 1.2), None, [0.5, 1.7, 2.9, 4.1, 5.3]),
        ((5, -5, -2.5), None, [5.0, 2.5, 0.0, -2.5, -5.0]),
        ((0, 2, 0.3), None, [0.0, 0.3, 0.6, 0.9, 1.2, 1.5, 1.8]),
        ((1, 1, -1), None, [1.0]),
        ((0.5, 5.7, 1.2), ag.int32, [0, 1, 2, 3, 4, 5]),
        ((-2, 2), ag.uint8, [254, 255, 0, 1, 2]),
        ((0, 3), ag.float16, [0.0, 1.0, 2.0, 3.0]),
        ((ag.tensor(1), ag.tensor(3)), None, [1.0, 2.0, 3.0]),
    ],
)
def test_range_includes_its_end(arguments, dtype, expected):
    made = ag.range(*arguments, dtype=dtype)
    assert made.dtype is (dtype or ag.float32)
    assert ag.equal(made, ag.tensor(expected, dtype=made.dtype))


@pytest.mark.filterwarnings("ignore:torch.range is deprecated")
@pytest.mark.parametrize(
    "arguments, keywords, error, text",
    [
        ((0, 5, 0), {}, RuntimeError, "step must be nonzero"),
        ((0, 1, 0.1), {"dtype": ag.int32}, RuntimeError, "step must be nonzero"),  # PyTorch crashes
        ((3, 0), {}, RuntimeError, "upper bound and lower bound inconsistent with step sign"),
        ((0, float("inf")), {}, RuntimeError, "unsupported range: 0 -> inf"),
        ((0, 3), {"dtype": ag.bool}, NotImplementedError, "range is not implemented for bool"),
        ((1j, 3), {}, RuntimeError, "can't be complex"),
        (("a", 3), {}, TypeError, "argument 'start' must be Number, not str"),
    ],
)
def test_range_refuses(arguments, keywords, error, text):
    with pytest.raises(error, match=text):
        ag.range(*arguments, **keywords)


def test_range_warns_writes_and_requires_grad():
    out = ag.empty(0)
    with pytest.warns(UserWarning, match="torch.range is deprecated"):
        assert ag.range(0, 5, 2, out=out, layout=ag.strided) is out
    assert out.tolist() == [0, 2, 4]
    with pytest.warns(UserWarning, match="torch.range is deprecated"):
        assert ag.range(0, 3, requires_grad=True).requires_grad


@pytest.mark.parametrize(
    "x, arguments, expected",
    [
        (ag.tensor([1, 2, 3]), {}, [[1, 1, 1], [4, 2, 1], [9, 3, 1]]),
        (ag.tensor([1, 2, 3]), {"N": 2, "increasing": True}, [[1, 1], [1, 2], [1, 3]]),
        (ag.tensor([2, 3], dtype=ag.uint8), {"N": 1}, [[1], [1]]),
        (ag.tensor([True, False]), {"N": 3}, [[1, 1, 1], [0, 0, 1]]),
        (ag.tensor([1j, 3]), {"N": 3, "increasing": True}, [[1, 1j, -1], [1, 3, 9]]),
        (ag.ones(2), {"N": 0}, [[], []]),
        (ag.ones(0), {}, []),
    ],
)
def test_vander(x, arguments, expected):
    made = ag.vander(x, **arguments)
    assert made.tolist() == expected
    assert made.dtype is (x.dtype if x.is_floating_point() or x.is_complex() else ag.int64)


def test_vander_has_a_gradient():
    x = ag.tensor([2.0, 3.0], requires_grad=True)
    ag.vander(x, 3).sum().backward()
    assert ag.equal(x.grad, ag.tensor([5.0, 7.0]))


@pytest.mark.parametrize("x, n, error", [(ag.ones(2, 2), None, "one-dimensional"), (ag.ones(2), -1, "N must be non-negative")])
def test_vander_refuses(x, n, error):
    with pytest.raises(RuntimeError, match=error):
        ag.vander(x, n)


def test_an_out_of_as_many_elements_keeps_its_shape():
    x = ag.zeros(2, 3)
    with pytest.warns(UserWarning, match="torch.range is deprecated"):
        ag.range(0, 3, out=x.narrow(1, 1, 2))
    assert x.tolist() == [[0, 0, 1], [0, 2, 3]]
