"""make_tensor: its ranges, its errors and its layouts are PyTorch's; its stream is that of manual_seed."""

import warnings
from math import inf, nan

import numpy as np
import pytest

import autograd_cy as ag
from autograd_cy.testing import make_tensor

DTYPES = [
    "bool", "uint8", "int8", "int16", "int32", "int64", "float16", "float32", "float64", "complex64", "complex128",
]  # fmt: skip

RANGES = {
    "usual": {}, "low": {"low": 0}, "high": {"high": 1}, "both": {"low": -3, "high": 200},
    "beyond": {"low": -1e30, "high": 1e30},
    "infinite": {"low": -inf, "high": inf}, "to infinity": {"low": 1, "high": inf}, "equal": {"low": 1, "high": 1},
    "nan": {"low": nan, "high": 1}, "nan above": {"high": nan}, "reversed": {"low": 1, "high": 0},
    "fractions": {"low": 0.5, "high": 1.5}, "between integers": {"low": 0.2, "high": 0.8}, "far": {"low": 1e30, "high": 2e38},
    "from infinity": {"low": inf, "high": inf}, "low above the usual": {"low": 10}, "high below the usual": {"high": -10},
    "without zero": {"low": 0, "high": 2, "exclude_zero": True}, "requires grad": {"requires_grad": True},
    "one number without zero": {"low": 0, "high": 1, "exclude_zero": True},
}  # fmt: skip


def made(m, *shape, dtype="float32", device="cpu", **options):
    """The tensor that a library makes and its warnings, or its error."""
    m.manual_seed(0)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            result = m.testing.make_tensor(*shape, dtype=getattr(m, dtype), device=device, **options)
        except Exception as error:
            return None, (type(error), str(error))
    return result, [(w.category, str(w.message)) for w in caught]


def parts(tensor):
    """All values that are drawn: of complex numbers both parts."""
    array = tensor.detach().numpy()
    return array.view(array.real.dtype) if array.dtype.kind == "c" else array


def ends(values):
    return float(values.min()), float(values.max())


@pytest.mark.parametrize("name", RANGES)
@pytest.mark.parametrize("dtype", DTYPES)
def test_ranges_are_those_of_pytorch(dtype, name):
    torch = pytest.importorskip("torch")
    ours, said = made(ag, 5000, dtype=dtype, **RANGES[name])
    theirs, said_there = made(torch, 5000, dtype=dtype, **RANGES[name])
    assert said == said_there
    if theirs is None:
        assert ours is None
        return
    assert (str(ours.dtype), tuple(ours.shape), ours.requires_grad) == (str(theirs.dtype), (5000,), theirs.requires_grad)
    with np.errstate(over="ignore"):
        (low, high), (low_there, high_there) = ends(parts(ours)), ends(parts(theirs))
        tolerance = max(abs(low_there), abs(high_there)) * 0.01 if high_there > low_there else 0
    assert abs(low - low_there) <= tolerance and abs(high - high_there) <= tolerance


@pytest.mark.parametrize(
    ("shape", "options"),
    [
        ((), {}), (((),), {}), ((2, 3), {}), (((2, 3),), {}), (([2, 3],), {}), ((range(1, 3),), {}), ((0, 3), {}),
        ((4,), {"noncontiguous": True}), ((2, 3), {"noncontiguous": True}), ((2, 1), {"noncontiguous": True}),
        ((1,), {"noncontiguous": True}), ((), {"noncontiguous": True}), ((0, 3), {"noncontiguous": True}),
        ((2, 3, 4), {"noncontiguous": True, "requires_grad": True}), ((2, 3), {"noncontiguous": True, "dtype": "int64"}),
        ((2, 3), {"device": None}), ((2, 3), {"memory_format": None}), ((2,), {"requires_grad": "a"}),
    ],
)  # fmt: skip
def test_layouts_are_those_of_pytorch(shape, options):
    torch = pytest.importorskip("torch")
    (ours, said), (theirs, said_there) = made(ag, *shape, **options), made(torch, *shape, **options)
    if theirs is None:
        assert ours is None and said[0] is said_there[0]
        return
    assert tuple(ours.shape) == tuple(theirs.shape) and ours.stride() == theirs.stride()
    assert (ours.requires_grad, ours.is_leaf, ours.is_contiguous()) == (theirs.requires_grad, True, theirs.is_contiguous())


@pytest.mark.parametrize("shape", [((2, 3), 4), (2.0,), ("a",), (-2,)])
def test_wrong_shapes(shape):
    torch = pytest.importorskip("torch")
    assert made(ag, *shape)[1][0] is made(torch, *shape)[1][0]


@pytest.mark.parametrize("options", [{"dtype": None}, {"dtype": "foo"}, {"dtype": float}, {"low": "a"}, {"low": 1j}])
def test_wrong_options(options):
    with pytest.raises(TypeError):
        make_tensor(2, **{"dtype": ag.float32, "device": "cpu", **options})


@pytest.mark.parametrize("options", [{"device": "cpu"}, {"dtype": ag.float32}])
def test_dtype_and_device_have_to_be_given(options):
    with pytest.raises(TypeError, match=r"make_tensor\(\) missing 1 required keyword-only argument"):
        make_tensor(2, **options)


def test_memory_formats_and_the_device_of_the_surrounding_block():
    assert make_tensor(2, 3, 4, 5, dtype=ag.int64, device="cpu", memory_format=ag.channels_last).stride() == (60, 1, 15, 3)
    with ag.device("meta"):
        assert make_tensor(2, dtype=ag.float32, device=None).is_meta
    with pytest.raises(ValueError, match="`noncontiguous` and `memory_format` are mutually exclusive"):
        make_tensor(2, dtype=ag.float32, device="cpu", memory_format="channels_last", noncontiguous=True)


@pytest.mark.parametrize("dtype", DTYPES)
def test_manual_seed_makes_it_reproducible(dtype):
    draws = [made(ag, 3, 4, dtype=dtype)[0] for _ in range(2)]
    again = make_tensor(3, 4, dtype=getattr(ag, dtype), device="cpu")
    assert draws[0].tolist() == draws[1].tolist()
    assert again.tolist() != draws[0].tolist()


def test_zeros_become_one_or_the_smallest_normal_number():
    assert set(made(ag, 200, dtype="int8", low=-1, high=2, exclude_zero=True)[0].tolist()) == {-1, 1}
    assert made(ag, 3, low=0, high=1e-45, exclude_zero=True)[0].tolist() == [float(np.finfo(np.float32).tiny)] * 3


@pytest.mark.parametrize(("low", "high"), [(1.0, 1.0 + 2**-10), (64992, 65504), (-inf, inf), (0, 6e-8)])
def test_the_upper_end_is_not_reached_whatever_is_rounded(low, high):
    values = made(ag, 20000, dtype="float16", low=low, high=high)[0].numpy().astype(float)
    assert values.min() >= low and values.max() < high


def test_values_are_spread_evenly():
    values = made(ag, 20000, dtype="float64", low=0, high=1)[0].numpy()
    assert abs(np.histogram(values, 10, (0, 1))[0] - 2000).max() < 250
    assert np.bincount(made(ag, 20000, dtype="int64", low=0, high=10)[0].numpy(), minlength=10).min() > 1750


def test_the_result_is_of_memory_of_its_own():
    x = made(ag, 5, noncontiguous=True)[0]
    x.add_(1)
    assert x.is_leaf and x.stride() == (2,)
