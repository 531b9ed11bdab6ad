"""Limits of dtypes, promotion, questions, memory formats, tensors by strides. Everything here holds for PyTorch, too."""

import copy
import itertools
import pickle

import pytest

import autograd_cy as torch

NAMES = "bool uint8 int8 int16 int32 int64 float16 float32 float64 complex64 complex128".split()


def test_limits():
    assert repr(torch.iinfo(torch.int8)) == "iinfo(min=-128, max=127, dtype=int8)"
    assert torch.finfo() == torch.finfo(torch.float32) == torch.finfo(torch.complex64)
    half = torch.finfo(torch.float16)
    assert (half.bits, half.max, half.min, half.eps, half.tiny) == (16, 65504.0, -65504.0, 2**-10, 2**-14)
    with pytest.raises(TypeError, match=r"Use torch\.iinfo"):
        torch.finfo(torch.int8)
    with pytest.raises(TypeError, match=r"Use torch\.finfo"):
        torch.iinfo(torch.float32)


def test_promotion():
    assert torch.promote_types(torch.int32, torch.float16) == torch.float16
    assert torch.result_type(torch.ones(2, dtype=torch.float16), 1.0) == torch.float16
    assert torch.result_type(1, 2.0) == torch.float32
    assert torch.result_type(torch.ones(2, dtype=torch.int8), torch.tensor(1.0)) == torch.float32
    assert not torch.can_cast(torch.float64, torch.int32)


def test_promotion_parity():
    other = pytest.importorskip("torch")
    for a, b in itertools.product(NAMES, repeat=2):
        for function in ("promote_types", "can_cast"):
            ours, theirs = (getattr(m, function)(getattr(m, a), getattr(m, b)) for m in (torch, other))
            assert str(ours) == str(theirs) or {a, b} & {"float16"}, (function, a, b)


def test_questions():
    x = torch.ones(2, 3)
    assert torch.is_tensor(x) and not torch.is_tensor(3)
    assert torch.is_floating_point(x) and not torch.is_complex(x) and torch.numel(x) == 6
    assert torch.is_nonzero(torch.tensor([2])) and torch.typename(x) == "torch.FloatTensor"
    with pytest.raises(RuntimeError, match="more than one value is ambiguous"):
        torch.is_nonzero(x)
    assert torch.inf == float("inf") and torch.nan != torch.nan and torch.newaxis is None and torch.pi > torch.e


def test_memory_formats():
    x = torch.ones(2, 3, 4, 5, requires_grad=True)
    y = x.contiguous(memory_format=torch.channels_last)
    assert y.stride() == (60, 1, 15, 3) == x.to(memory_format=torch.channels_last).stride()
    assert y.is_contiguous(memory_format=torch.channels_last) and not y.is_contiguous()
    assert y.contiguous(memory_format=torch.channels_last) is y
    assert y.clone().stride() == y.stride() == torch.zeros_like(y).stride()
    assert y.clone(memory_format=torch.contiguous_format).is_contiguous()
    assert torch.ones_like(y, memory_format=torch.contiguous_format).is_contiguous()
    assert torch.empty(2, 3, 4, 5, memory_format=torch.channels_last).stride() == y.stride()
    y.sum().backward()
    assert x.grad.sum() == 120
    with pytest.raises(RuntimeError, match="required rank 4 tensor to use channels_last format"):
        torch.ones(2).contiguous(memory_format=torch.channels_last)
    with pytest.raises(TypeError, match=r"must be torch\.memory_format, not int"):
        torch.ones(2).clone(memory_format=3)
    assert repr(torch.preserve_format) == "torch.preserve_format"
    assert copy.deepcopy(torch.channels_last) is torch.channels_last


def test_formats_are_pickled_by_name():
    if torch.__name__ == "autograd_cy":
        assert pickle.loads(pickle.dumps(torch.channels_last)) is torch.channels_last


def test_strides():
    assert torch.empty_strided((2, 3), (1, 2)).stride() == (1, 2)
    assert torch.empty_strided((2, 3), (0, 1)).stride() == (0, 1)
    assert torch.empty_permuted((2, 3, 5), (1, 2, 0)).stride() == (1, 10, 2)
    assert torch.ones(1, dtype=torch.int8).new_empty_strided((2,), (3,)).dtype == torch.int8
    with pytest.raises(RuntimeError, match="must match dimensionality of strides"):
        torch.empty_strided((2,), (1, 2))
    with pytest.raises(RuntimeError, match="Duplicate dim not allowed"):
        torch.empty_permuted((2, 3), (0, 0))


@pytest.mark.parametrize("make", [
    lambda out: torch.ones(2, out=out), lambda out: torch.full((2,), 1, out=out), lambda out: torch.arange(1, 3, out=out),
    lambda out: torch.linspace(1, 1, 2, out=out), lambda out: torch.logspace(0, 0, 2, out=out),
    lambda out: torch.rand(2, out=out), lambda out: torch.randint(3, (2,), out=out), lambda out: torch.randperm(2, out=out),
])  # fmt: skip
def test_out(make):
    for out in (torch.empty(2), torch.empty(0)):
        assert make(out) is out and out.shape == (2,) and out.dtype == torch.float32
    with pytest.raises(RuntimeError, match="requires grad"):
        make(torch.empty(2, requires_grad=True))


def test_out_of_another_dtype():
    with pytest.raises(RuntimeError, match="does not match dtype of out parameter"):
        torch.ones(2, dtype=torch.float64, out=torch.empty(2))


def test_default_tensor_type():
    torch.set_default_dtype(torch.float64)
    assert torch.scalar_tensor(3).dtype == torch.float64
    torch.set_default_dtype(torch.float32)
    with pytest.raises(TypeError, match="only floating-point types are supported as the default type"):
        torch.set_default_tensor_type(torch.IntTensor)
    torch.set_warn_always(True)
    try:
        with pytest.warns(UserWarning, match=r"set_default_tensor_type\(\) is deprecated as of PyTorch 2.1"):
            torch.set_default_tensor_type(torch.FloatTensor)
    finally:
        torch.set_warn_always(False)
