"""The text of tensors: literal examples, then (where PyTorch is installed) the same text as PyTorch's."""

import importlib
import math
from importlib.util import find_spec

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

import autograd_cy as torch

NAN, INF = math.nan, math.inf

NUMBERS = [
    # 0-d
    (torch.tensor(20.0), "tensor(20.)"),
    (torch.tensor(-1.5), "tensor(-1.5000)"),
    (torch.tensor(7), "tensor(7)"),
    (torch.tensor(True), "tensor(True)"),
    (torch.tensor(1e-10), "tensor(1.0000e-10)"),
    (torch.tensor(NAN), "tensor(nan)"),
    # whole floats, until they need scientific notation
    (torch.tensor([1.0, 2.0]), "tensor([1., 2.])"),
    (torch.tensor([-0.0, 0.0]), "tensor([-0., 0.])"),
    (torch.tensor([0.0, 10.0, -200.0]), "tensor([   0.,   10., -200.])"),
    (torch.tensor([1.0, 1000.0]), "tensor([   1., 1000.])"),
    (torch.tensor([1.0, 1001.0]), "tensor([1.0000e+00, 1.0010e+03])"),
    (torch.tensor([1e8]), "tensor([100000000.])"),
    (torch.tensor([1.5e8]), "tensor([1.5000e+08])"),
    (torch.tensor([INF, 1.0, -INF, NAN]), "tensor([inf, 1., -inf, nan])"),
    # four decimals, until they need scientific notation
    (torch.tensor([1.0, 2.5]), "tensor([1.0000, 2.5000])"),
    (torch.tensor([0.33333, 100.0]), "tensor([  0.3333, 100.0000])"),
    (torch.tensor([0.5, 600.0]), "tensor([5.0000e-01, 6.0000e+02])"),
    (torch.tensor([0.0001]), "tensor([1.0000e-04])"),
    (torch.tensor([0.00011]), "tensor([0.0001])"),
    (torch.tensor([0.5, 0.0, INF, NAN, -1.0]), "tensor([ 0.5000,  0.0000,     inf,     nan, -1.0000])"),
    (torch.tensor([1e-5, 0.0, INF]), "tensor([1.0000e-05, 0.0000e+00,        inf])"),
    # integers and bools
    (torch.tensor([1, -20, 300]), "tensor([  1, -20, 300])"),
    (torch.tensor([True, False]), "tensor([ True, False])"),
    # complex: each part has its own notation
    (torch.tensor(1 + 2j), "tensor(1.+2.j)"),
    (torch.tensor([1 - 2j, 10.5 + 0j]), "tensor([ 1.0000-2.j, 10.5000+0.j])"),
    (torch.tensor([1j, 1e-9 + 0.5j]), "tensor([0.0000e+00+1.0000j, 1.0000e-09+0.5000j])"),
]


@pytest.mark.parametrize(("tensor", "text"), NUMBERS, ids=[text for _, text in NUMBERS])
def test_numbers(tensor, text):
    assert repr(tensor) == str(tensor) == text


def test_a_float32_that_rounds_below_the_limit_of_decimals_is_scientific():
    assert repr(torch.tensor([9.99e-5, 0.01])) == "tensor([9.9900e-05, 1.0000e-02])"


def test_matrices():
    assert repr(torch.arange(6).reshape(2, 3)) == "tensor([[0, 1, 2],\n        [3, 4, 5]])"
    assert repr(torch.ones(1, 1, 1)) == "tensor([[[1.]]])"


def test_more_dimensions_are_set_apart_by_blank_lines():
    assert repr(torch.arange(8).reshape(2, 2, 2)) == (
        "tensor([[[0, 1],\n         [2, 3]],\n\n        [[4, 5],\n         [6, 7]]])"
    )


def test_long_vectors_wrap_at_80_columns():
    assert repr(torch.arange(30)) == (
        "tensor([ 0,  1,  2,  3,  4,  5,  6,  7,  8,  9, 10, 11, 12, 13, 14, 15, 16, 17,\n"
        "        18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29])"
    )


def test_long_rows_wrap_inside_their_brackets():
    assert repr(torch.arange(40).reshape(2, 20)) == (
        "tensor([[ 0,  1,  2,  3,  4,  5,  6,  7,  8,  9, 10, 11, 12, 13, 14, 15, 16, 17,\n"
        "         18, 19],\n"
        "        [20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31, 32, 33, 34, 35, 36, 37,\n"
        "         38, 39]])"
    )


def test_a_thousand_elements_are_written_out_and_more_are_summarised():
    assert "..." not in repr(torch.arange(1000))
    assert repr(torch.arange(1001)) == "tensor([   0,    1,    2,  ...,  998,  999, 1000])"


def test_summary_of_a_matrix():
    assert repr(torch.arange(1200).reshape(30, 40)) == (
        "tensor([[   0,    1,    2,  ...,   37,   38,   39],\n"
        "        [  40,   41,   42,  ...,   77,   78,   79],\n"
        "        [  80,   81,   82,  ...,  117,  118,  119],\n"
        "        ...,\n"
        "        [1080, 1081, 1082,  ..., 1117, 1118, 1119],\n"
        "        [1120, 1121, 1122,  ..., 1157, 1158, 1159],\n"
        "        [1160, 1161, 1162,  ..., 1197, 1198, 1199]])"
    )


def test_a_summary_leaves_short_axes_whole():
    assert repr(torch.ones(2, 600)) == (
        "tensor([[1., 1., 1.,  ..., 1., 1., 1.],\n        [1., 1., 1.,  ..., 1., 1., 1.]])"
    )


def test_a_summary_is_formatted_by_what_it_shows():
    t = torch.zeros(2000)
    t[1000] = 0.5
    assert repr(t) == "tensor([0., 0., 0.,  ..., 0., 0., 0.])"


@pytest.mark.parametrize(
    ("shape", "text"),
    [
        ((0,), "tensor([])"),
        ((0, 3), "tensor([], size=(0, 3))"),
        ((2, 0), "tensor([], size=(2, 0))"),
        ((1, 0, 2), "tensor([], size=(1, 0, 2))"),
    ],
)
def test_empty(shape, text):
    assert repr(torch.zeros(shape)) == text


def test_an_empty_tensor_names_every_dtype_but_the_default():
    assert repr(torch.zeros(0, dtype=torch.int64)) == "tensor([], dtype=torch.int64)"
    assert repr(torch.zeros(0, 2, dtype=torch.bool)) == "tensor([], size=(0, 2), dtype=torch.bool)"


@pytest.mark.parametrize("name", ["uint8", "int8", "int16", "int32"])
def test_dtype_of_integers_is_named(name):
    assert repr(torch.tensor([1, 2], dtype=getattr(torch, name))) == f"tensor([1, 2], dtype=torch.{name})"


@pytest.mark.parametrize("name", ["float16", "float64"])
def test_dtype_of_floats_is_named(name):
    assert repr(torch.tensor([1.0], dtype=getattr(torch, name))) == f"tensor([1.], dtype=torch.{name})"


def test_default_dtype_decides_which_dtypes_are_named():
    torch.set_default_dtype(torch.float64)
    try:
        assert repr(torch.tensor([0.5])) == "tensor([0.5000])"
        assert repr(torch.tensor([1j])) == "tensor([0.+1.j])"
        assert repr(torch.tensor([0.5], dtype=torch.float32)) == "tensor([0.5000], dtype=torch.float32)"
        assert repr(torch.tensor(1j, dtype=torch.complex64)) == "tensor(0.+1.j, dtype=torch.complex64)"
    finally:
        torch.set_default_dtype(torch.float32)
    assert repr(torch.tensor(1j, dtype=torch.complex128)) == "tensor(0.+1.j, dtype=torch.complex128)"


def test_leaves_and_results():
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    assert repr(x) == "tensor([1., 2.], requires_grad=True)"
    assert repr((x * x).sum() * 4) == "tensor(20., grad_fn=<MulBackward0>)"
    assert repr(x.detach()) == "tensor([1., 2.])"


def test_dtype_comes_before_the_graph():
    x = torch.tensor([0.5], dtype=torch.float64, requires_grad=True)
    assert repr(x) == "tensor([0.5000], dtype=torch.float64, requires_grad=True)"
    assert repr(x * 2) == "tensor([1.], dtype=torch.float64, grad_fn=<MulBackward0>)"


def test_a_suffix_that_does_not_fit_goes_on_a_line_of_its_own():
    x = torch.ones(18, requires_grad=True)
    ones = ", ".join(["1."] * 18)
    assert repr(x) == f"tensor([{ones}],\n       requires_grad=True)"


def test_a_function_of_the_user_is_named():
    class Double(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x * 2

        @staticmethod
        def backward(ctx, g):
            return g * 2

    y = Double.apply(torch.tensor(1.0, requires_grad=True))
    assert repr(y) == "tensor(2., grad_fn=<DoubleBackward>)"


def test_tangents():
    forward_ad = torch.autograd.forward_ad
    with forward_ad.dual_level():
        x = forward_ad.make_dual(torch.ones(2), torch.zeros(2))
        assert repr(x) == "tensor([1., 1.], tangent=tensor([0., 0.]))"
        assert repr(x * 2) == "tensor([2., 2.], tangent=tensor([0., 0.]))"
        x = forward_ad.make_dual(
            torch.tensor([0.5], dtype=torch.float64), torch.tensor([1.0], dtype=torch.float64)
        )
        assert repr(x) == (
            "tensor([0.5000], dtype=torch.float64,\n       tangent=tensor([1.], dtype=torch.float64))"
        )
    assert repr(x) == "tensor([0.5000], dtype=torch.float64)"


# Print options


@pytest.fixture
def print_options():
    yield torch.set_printoptions
    torch.set_printoptions(profile="default")


def test_precision(print_options):
    print_options(precision=2)
    assert repr(torch.tensor([1 / 3, 20.0])) == "tensor([ 0.33, 20.00])"
    assert repr(torch.tensor([1e-6])) == "tensor([1.00e-06])"


def test_threshold_and_edgeitems(print_options):
    print_options(threshold=5, edgeitems=1)
    assert repr(torch.arange(5)) == "tensor([0, 1, 2, 3, 4])"
    assert repr(torch.arange(6)) == "tensor([0,  ..., 5])"
    assert repr(torch.ones(3, 2)) == "tensor([[1., 1.],\n        ...,\n        [1., 1.]])"


def test_no_edgeitems_leaves_only_the_size(print_options):
    print_options(threshold=5, edgeitems=0)
    assert repr(torch.ones(3, 2)) == "tensor([...], size=(3, 2))"


def test_linewidth(print_options):
    print_options(linewidth=20)
    assert repr(torch.arange(6)) == "tensor([0, 1, 2, 3,\n        4, 5])"
    print_options(linewidth=1)
    assert repr(torch.arange(2)) == "tensor([0,\n        1])"


def test_sci_mode(print_options):
    print_options(sci_mode=True)
    assert repr(torch.tensor([1.5, 2.0])) == "tensor([1.5000e+00, 2.0000e+00])"
    print_options(sci_mode=False)
    assert repr(torch.tensor([1e10, 1.0])) == "tensor([10000000000.,           1.])"
    print_options(precision=4)  # a call without sci_mode chooses again by the numbers
    assert repr(torch.tensor([1e10])) == "tensor([1.0000e+10])"


def test_profiles(print_options):
    print_options(profile="short")
    assert repr(torch.tensor([1 / 3])) == "tensor([0.33])"
    assert repr(torch.arange(1001)) == "tensor([   0,    1,  ...,  999, 1000])"
    print_options(profile="full")
    assert "..." not in repr(torch.arange(1001))
    print_options(profile="default")
    assert repr(torch.tensor([1 / 3])) == "tensor([0.3333])"


# Parity

DTYPES = ["bool", "uint8", "int8", "int16", "int32", "int64"]
DTYPES += ["float16", "float32", "float64", "complex64", "complex128"]
SHAPES = hnp.array_shapes(min_dims=0, max_dims=4, min_side=0, max_side=8) | st.sampled_from(
    [(1000,), (1001,), (40,), (33, 31), (7, 150), (2, 3, 400), (10, 10, 11), (6, 6, 6, 6)]
)
FLOATS = (
    st.floats(width=16)
    | st.floats(-1000, 1000, width=32)
    | st.integers(-2000, 2000).map(float)
    | st.sampled_from([0.0, -0.0, INF, NAN, 1e-4, 1e8, 1.5e8, 99999.5, 999.99994])
)
OPTIONS = st.just({}) | st.fixed_dictionaries(
    {},
    optional={
        "precision": st.integers(0, 8),
        "threshold": st.sampled_from([0, 2, 50, INF]),
        "edgeitems": st.integers(0, 5),
        "linewidth": st.integers(1, 130),
        "profile": st.sampled_from(["default", "short", "full"]),
        "sci_mode": st.sampled_from([True, False, None]),
    },
)


@st.composite
def arrays(draw):
    """Arrays of a few distinct numbers, which is what makes notations meet."""
    dtype = np.dtype(draw(st.sampled_from(DTYPES)))
    if dtype.kind in "fc":
        pool = np.array(draw(st.lists(FLOATS, min_size=1, max_size=6)))
        if dtype.kind == "c":
            pool = pool.astype(complex)
            pool.imag = draw(st.lists(FLOATS, min_size=len(pool), max_size=len(pool)))
    elif dtype.kind == "b":
        pool = np.array([True, False])
    else:
        limits = np.iinfo(dtype)
        pool = np.array(draw(st.lists(st.integers(int(limits.min), int(limits.max)), min_size=1, max_size=6)))
    chosen = np.random.default_rng(draw(st.integers(0, 99))).choice(pool, draw(SHAPES))
    with np.errstate(over="ignore"):
        array = np.asarray(chosen).astype(dtype)
    return array.T if draw(st.booleans()) else array


@pytest.mark.skipif(find_spec("torch") is None, reason="needs PyTorch")
@settings(max_examples=300, deadline=None)
@given(arrays(), OPTIONS, st.booleans(), st.sampled_from(["float32", "float64"]))
def test_the_text_is_pytorchs(array, options, requires_grad, default):
    reference = importlib.import_module("torch")
    texts = []
    for module in (reference, torch):
        module.set_printoptions(profile="default")
        module.set_printoptions(**options)
        module.set_default_dtype(getattr(module, default))
        try:
            t = module.from_numpy(array.copy())
            texts.append(repr(t.requires_grad_() if requires_grad and array.dtype.kind in "fc" else t))
        finally:
            module.set_default_dtype(module.float32)
            module.set_printoptions(profile="default")
    assert texts[1] == texts[0]
