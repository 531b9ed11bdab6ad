"""Tensor(...) and its typed kin: sizes, data or another tensor, as PyTorch tells them apart."""

import warnings

import numpy as np
import pytest
from common import IS_TORCH, leaf

import autograd_cy as torch

SIZES = {  # the memory is as it comes
    "Tensor(3)": (3,), "Tensor(2, 3)": (2, 3), "Tensor(2, 0)": (2, 0), "Tensor(torch.Size([2, 3]))": (2, 3),
    "Tensor(size=(2, 3))": (2, 3), "Tensor(size=[2])": (2,), "Tensor(np.int64(3))": (3,), "Tensor(np.int64(2), 3)": (2, 3),
    "Tensor(torch.tensor(2), torch.tensor(3))": (2, 3), "Tensor(2, True)": (2, 1), "Tensor(torch.Size([]))": (),
    "Tensor(2, 3, device='cpu')": (2, 3), "Tensor()": (0,), "Tensor(device='cpu')": (0,), "Tensor(np.array(3))": (3,),
}  # fmt: skip

DATA = {
    "Tensor([1, 2])": [1, 2], "Tensor((2, 3))": [2, 3], "Tensor([])": [], "Tensor(())": [],
    "Tensor([[1, 2], [3, 4]])": [[1, 2], [3, 4]],
    "Tensor(range(3))": [0, 1, 2], "Tensor(np.array([1.0, 2.0]))": [1, 2], "Tensor(np.array([1, 2]))": [1, 2],
    "Tensor(np.array(3.0))": 3,
    "Tensor([1.5, True, 2])": [1.5, 1, 2], "Tensor([torch.tensor(1.0), torch.tensor(2)])": [1, 2],
    "Tensor(data=[1, 2])": [1, 2],
    "Tensor([1, 2], device='cpu')": [1, 2], "Tensor([1], device=None)": [1], "Tensor([np.float64(1), 2])": [1, 2],
    "Tensor([np.array([1, 2]), np.array([3, 4])])": [[1, 2], [3, 4]], "Tensor(np.array([True, False]))": [1, 0],
    "Tensor(np.ones((2, 2), dtype=np.int8))": [[1, 1], [1, 1]], "Tensor(bytearray(b'ab'))": [97, 98],
}  # fmt: skip

REFUSED = {
    "Tensor(3.0)": (TypeError, r"new\(\): data must be a sequence \(got float\)"),
    "Tensor(True)": (TypeError, r"new\(\): data must be a sequence \(got bool\)"),
    "Tensor(None)": (TypeError, r"new\(\): data must be a sequence \(got NoneType\)"),
    "Tensor(np.float64(3))": (TypeError, r"new\(\): data must be a sequence \(got .*float64\)"),
    "Tensor({1: 2})": (TypeError, r"new\(\): data must be a sequence \(got dict\)"),
    "Tensor({1, 2})": (TypeError, r"new\(\): data must be a sequence \(got set\)"),
    "Tensor(object())": (TypeError, r"new\(\): data must be a sequence \(got object\)"),
    "Tensor(1j)": (TypeError, r"new\(\): data must be a sequence \(got complex\)"),
    "Tensor(data=3)": (TypeError, r"new\(\): data must be a sequence \(got int\)"),
    "Tensor(data=torch.ones(2))": (TypeError, r"new\(\): data must be a sequence \(got Tensor\)"),
    "Tensor('a')": (TypeError, r"new\(\): invalid data type 'str'"),
    "Tensor(b'a')": (TypeError, r"new\(\): invalid data type 'bytes'"),
    "Tensor(-1)": (RuntimeError, r"Trying to create tensor with negative dimension -1: \[-1\]"),
    "Tensor(2, -1)": (RuntimeError, r"Trying to create tensor with negative dimension -1: \[2, -1\]"),
    "Tensor(2**40, 2**40)": (RuntimeError, r"Storage size calculation overflowed with sizes="),
    "Tensor(2, 3.0)": (TypeError, r"failed to unpack the object at pos 2 .*type must be tuple of ints,but got float"),
    "Tensor('abc', 2)": (TypeError, r"new\(\) received an invalid combination of arguments - got \(str, int\)"),
    "Tensor(True, 2)": (TypeError, r"new\(\) received an invalid combination of arguments - got \(bool, int\)"),
    "Tensor([1, 2], 3)": (TypeError, r"new\(\) received an invalid combination of arguments - got \(list, int\)"),
    "Tensor(torch.tensor(2.0), 3)": (TypeError, r"invalid combination of arguments - got \(Tensor, int\)"),
    "Tensor([1, 2], dtype=torch.float64)": (TypeError, r"new\(\) received an invalid combination of arguments"),
    "Tensor([1, 2], requires_grad=True)": (TypeError, r"new\(\) received an invalid combination of arguments"),
    "Tensor(x=3)": (TypeError, r"new\(\) received an invalid combination of arguments"),
    "Tensor(size=3)": (TypeError, r"new\(\) received an invalid combination of arguments"),
    "Tensor(1, 2, data=3)": (TypeError, r"new\(\) received an invalid combination of arguments"),
    "Tensor([1j])": (TypeError, r"must be real number, not complex"),
    "Tensor([[1, 2], [3]])": (ValueError, r"expected sequence of length 2 at dim 1 \(got 1\)"),
    "Tensor([1, [2]])": (TypeError, None),
    "Tensor([None])": ((TypeError, RuntimeError), None),
    "Tensor(['a'])": (ValueError, r"too many dimensions 'str'"),
    "Tensor(np.array(['a']))": (TypeError, None),
    "ByteTensor([300])": (RuntimeError, r"value cannot be converted to type .*uint8 without overflow"),
    "LongTensor([2**70])": (ValueError, r"Overflow when unpacking long long"),
    "LongTensor(3.0)": (TypeError, r"new\(\): data must be a sequence \(got float\)"),
    "IntTensor(torch.tensor([1, 2]))": (TypeError, r"expected .*int.* .*got .*"),
    "DoubleTensor(torch.ones(2))": (TypeError, r"expected .*got .*"),
}

TYPED = {
    "BoolTensor": torch.bool, "ByteTensor": torch.uint8, "CharTensor": torch.int8, "DoubleTensor": torch.float64,
    "FloatTensor": torch.float32, "HalfTensor": torch.float16, "IntTensor": torch.int32, "LongTensor": torch.int64,
    "ShortTensor": torch.int16,
}  # fmt: skip


def call(text):
    return eval(f"torch.{text}", {"torch": torch, "np": np})


@pytest.mark.parametrize("text", SIZES)
def test_sizes(text):
    x = call(text)
    assert type(x) is torch.Tensor and (tuple(x.shape), x.dtype) == (SIZES[text], torch.float32) and not x.requires_grad


@pytest.mark.parametrize("text", DATA)
@pytest.mark.filterwarnings("ignore:Creating a tensor from a list of numpy.ndarrays")
def test_data(text):
    x = call(text)
    assert type(x) is torch.Tensor and (x.tolist(), x.dtype) == (DATA[text], torch.float32)


@pytest.mark.parametrize("text", REFUSED)
def test_refused(text):
    error, message = REFUSED[text]
    with pytest.raises(error, match=message):
        call(text)


@pytest.mark.parametrize("text", SIZES | DATA)
@pytest.mark.parametrize("name", TYPED)
def test_typed_constructors_take_the_same(name, text):
    if IS_TORCH and "torch.tensor(1.0)" in text and not TYPED[name].is_floating_point:
        pytest.skip("PyTorch takes integer tensors alone for integers")
    with warnings.catch_warnings(action="ignore"):
        x = call(text.replace("Tensor(", f"{name}(", 1))
    assert x.dtype is TYPED[name]
    if text in DATA:
        expected = np.array(DATA[text]).astype(str(TYPED[name]).removeprefix("torch."))
        assert x.tolist() == expected.tolist()
    else:
        assert tuple(x.shape) == SIZES[text]


@pytest.mark.parametrize("name", TYPED)
def test_typed_constructors_are_types(name):
    kind = getattr(torch, name)
    others = [t for t in TYPED if isinstance(torch.zeros(1, dtype=TYPED[t]), kind)]
    assert others == [name] and not isinstance(3, kind) and kind.__name__ == name
    assert torch.ones(2).type(kind).dtype is torch.ones(2).type(f"torch.{name}").dtype is TYPED[name] is kind.dtype


@pytest.mark.parametrize("dtype", TYPED.values())
def test_another_tensor_is_seen_again(dtype):
    x = torch.ones(2, dtype=dtype)
    y = torch.Tensor(x)
    assert y is not x and y.data_ptr() == x.data_ptr() and y.dtype is dtype and y._base is x
    y.zero_()
    assert x.tolist() == [0, 0] and x._version == 1


def test_another_tensor_keeps_its_history():
    x = leaf([1.0, 2.0])
    assert torch.Tensor(x).grad_fn.name() == "AliasBackward0"
    torch.Tensor(other=x * 3).sum().backward()
    assert x.grad.tolist() == [3.0, 3.0]


def test_an_array_of_the_dtype_is_shared():
    a, b = np.ones(2, np.float32), np.ones(2)
    x, y = torch.Tensor(a), torch.Tensor(b)
    a[0] = b[0] = 5
    assert x.tolist() == [5.0, 1.0] and y.tolist() == [1.0, 1.0]


def test_the_default_dtype():
    torch.set_default_dtype(torch.float64)
    try:
        assert torch.Tensor([1]).dtype is torch.Tensor(2).dtype is torch.Tensor().dtype is torch.float64
        assert torch.Tensor(torch.ones(1, dtype=torch.float32)).dtype is torch.FloatTensor([1]).dtype is torch.float32
    finally:
        torch.set_default_dtype(torch.float32)


def test_new_is_the_same_in_the_tensors_dtype():
    x = torch.ones(2).long()
    assert x.new([1, 2]).tolist() == [1, 2] and x.new(2, 3).shape == (2, 3) and x.new().shape == (0,)
    assert {y.dtype for y in (x.new([1.5]), x.new(3), x.new(x), x.new())} == {torch.int64}


def test_an_unknown_type_is_refused():
    with pytest.raises(ValueError, match=r"invalid type: 'torch\.NoTensor'"):
        torch.ones(1).type("torch.NoTensor")


def test_type_of_the_class_itself_is_the_default():
    assert torch.ones(2, dtype=torch.float64).type(torch.Tensor).dtype is torch.float32


@pytest.mark.skipif(IS_TORCH, reason="PyTorch has all of its own names")
def test_typed_names_are_listed():
    assert set(TYPED) <= set(dir(torch))


@pytest.mark.parametrize("call", [torch.Tensor, torch.FloatTensor, torch.ones(1).new])
@pytest.mark.parametrize("device", ["cpu", "meta"])
def test_a_tensor_and_a_device_are_refused(call, device):
    """The device "cpu" was accepted."""
    with pytest.raises(RuntimeError, match=r"\(tensor, device=device\) is not supported"):
        call(torch.ones(2), device=device)
