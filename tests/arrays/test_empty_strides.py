"""The strides of tensors without elements. NumPy gives such arrays strides of 0; the expected ones are torch 2.13's."""

import pytest

import autograd_cy as ag

LAST = {
    (0, 6, 3, 3): (54, 1, 18, 6),
    (2, 0, 3, 3): (0, 1, 0, 0),
    (2, 6, 0, 3): (0, 1, 18, 6),
    (2, 6, 3, 0): (0, 1, 0, 6),
    (0, 1, 3, 3): (9, 1, 3, 1),
    (1, 0, 1, 1): (0, 1, 0, 0),
}
COPIES = {
    "clone": lambda x, **options: x.clone(**options),
    "to": lambda x, **options: x.to(ag.float64, **options),
    "to, a copy": lambda x, **options: x.to(ag.float32, copy=True, **options),
    "double": lambda x, **options: x.double(**options),
    "empty_like": ag.empty_like,
    "zeros_like": ag.zeros_like,
    "ones_like": ag.ones_like,
    "full_like": lambda x, **options: ag.full_like(x, 2, **options),
    "rand_like": ag.rand_like,
    "randn_like": lambda x, **options: ag.randn_like(x, dtype=ag.float64, **options),
}


@pytest.mark.parametrize("sizes", LAST)
def test_channels_last(sizes):
    x = ag.empty(sizes, memory_format=ag.channels_last)
    assert x.stride() == LAST[sizes]
    assert x.is_contiguous() and x.is_contiguous(memory_format=ag.channels_last)


def test_channels_last_3d():
    assert ag.empty(0, 6, 2, 3, 3, memory_format=ag.channels_last_3d).stride() == (108, 1, 54, 18, 6)


@pytest.mark.parametrize("name", COPIES)
@pytest.mark.parametrize("sizes", LAST)
def test_copies_keep_them(name, sizes):
    x = ag.empty(sizes, memory_format=ag.channels_last)
    assert COPIES[name](x).stride() == LAST[sizes]
    assert COPIES[name](x, memory_format=ag.preserve_format).stride() == LAST[sizes]
    assert COPIES[name](ag.empty(sizes), memory_format=ag.channels_last).stride() == LAST[sizes]


@pytest.mark.parametrize("name", COPIES)
def test_copies_keep_any_strides(name):
    x = ag.empty_strided((0, 6, 3, 3), (7, 1, 9, 13))
    assert x.stride() == COPIES[name](x).stride() == (7, 1, 9, 13)
    assert ag.zeros_like(x, memory_format=ag.contiguous_format).stride() == x.clone(
        memory_format=ag.contiguous_format).stride() == (54, 9, 3, 1)


def test_others_are_contiguous():
    assert ag.empty(0, 6, 3).stride() == ag.zeros(0, 6, 3).double().clone().stride() == (18, 3, 1)
    assert not ag.empty(0, 6, 3, 3).is_contiguous(memory_format=ag.channels_last)
    assert ag.empty(0, 6, 3, 3).contiguous(memory_format=ag.channels_last).stride() == (54, 1, 18, 6)


def test_channels_of_size_1_fit_both_formats():
    x = ag.empty(0, 1, 3, 3)
    assert x.is_contiguous(memory_format=ag.channels_last) and x.contiguous(memory_format=ag.channels_last) is x
