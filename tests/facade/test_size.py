"""Size, device and cuda. Everything here holds for PyTorch, too."""

import copy
import pickle

import numpy as np
import pytest

import autograd_cy as torch


def test_a_size_is_a_tuple():
    size = torch.Size([2, 3])
    assert size == (2, 3) and isinstance(size, tuple)
    assert hash(size) == hash((2, 3))
    assert size[0] == 2 and size[-1] == 3 and list(size) == [2, 3]
    assert repr(size) == str(size) == "torch.Size([2, 3])"
    assert torch.Size() == torch.Size([]) == ()


def test_numel():
    assert torch.Size([2, 3, 4]).numel() == 24
    assert torch.Size([]).numel() == 1
    assert torch.Size([2, 0]).numel() == 0


def test_parts_and_sums_are_sizes():
    size = torch.Size([2, 3])
    for result, expected in [
        (size[1:], (3,)),
        (size[::-1], (3, 2)),
        (size + (4,), (2, 3, 4)),
        ((4,) + size, (4, 2, 3)),
        (size + size, (2, 3, 2, 3)),
        (size * 2, (2, 3, 2, 3)),
        (2 * size, (2, 3, 2, 3)),
    ]:
        assert type(result) is torch.Size
        assert result == expected
    with pytest.raises(TypeError):
        size + [4]


def test_elements_are_integers():
    assert torch.Size([np.int64(2), torch.tensor(3)]) == (2, 3)
    with pytest.raises(TypeError, match=r"takes an iterable of 'int' \(item 1 is 'float'\)"):
        torch.Size([2, 1.5])
    with pytest.raises(TypeError):
        torch.Size(2)


VALUES = [torch.Size([2, 3]), *map(torch.device, ("cpu", "cpu:0", "cuda:1", "meta"))]


@pytest.mark.parametrize("value", VALUES, ids=repr)
def test_copies(value):
    for result in (pickle.loads(pickle.dumps(value)), copy.deepcopy(value), copy.copy(value)):
        assert result == value and type(result) is type(value)


def test_the_shape_of_a_tensor_is_a_size():
    assert repr(torch.zeros(2, 3).shape) == "torch.Size([2, 3])"
    assert torch.zeros(()).shape == torch.Size([])


def test_device():
    cpu, numbered = torch.device("cpu"), torch.device("cpu:0")
    assert (cpu.type, cpu.index, str(cpu), repr(cpu)) == ("cpu", None, "cpu", "device(type='cpu')")
    assert (numbered.type, numbered.index, str(numbered)) == ("cpu", 0, "cpu:0")
    assert repr(numbered) == "device(type='cpu', index=0)"
    assert cpu == torch.device(type="cpu") == torch.device(cpu)
    assert numbered == torch.device("cpu", 0) == torch.device(type="cpu", index=0)
    assert cpu != numbered and cpu != "cpu"
    assert hash(cpu) == hash(torch.device("cpu"))
    with pytest.raises(AttributeError):
        cpu.type = "other"
    with pytest.raises(AttributeError):
        cpu.index = 1


def test_a_device_is_a_context():
    with torch.device("cpu") as device:
        assert torch.zeros(1).device == device


@pytest.mark.parametrize("text", ["cpu:", "cpu:a", "cpu:-1", "cpu:01", "cuda:", "cuda:x", "cuda:1:2", ":"])
def test_bad_device_strings(text):
    with pytest.raises(RuntimeError, match="Invalid device string"):
        torch.device(text)


def test_bad_devices():
    with pytest.raises(RuntimeError, match=r"Expected one of cpu, cuda, .* device type at start of device string: nowhere"):
        torch.device("nowhere")
    with pytest.raises(RuntimeError, match="must not be empty"):
        torch.device("")
    with pytest.raises(RuntimeError, match="Cannot access accelerator device when none is available"):
        torch.device(0)
    for index in (True, 1.5):
        with pytest.raises(TypeError, match="argument 'index'"):
            torch.device("cuda", index)
    with pytest.raises(RuntimeError, match="must not include an index"):
        torch.device("cpu:0", 0)
    with pytest.raises(RuntimeError, match="must not be negative"):
        torch.device("cpu", -1)
    for value in (None, 1.5):
        with pytest.raises(TypeError):
            torch.device(value)
    with pytest.raises(TypeError):
        torch.device()


def test_there_is_no_cuda():
    assert torch.cuda.is_available() is False
    assert torch.cuda.device_count() == 0
    assert torch.cuda.is_initialized() is False
    assert torch.cuda.empty_cache() is None
    assert torch.cuda.manual_seed(0) is None
    assert torch.cuda.manual_seed_all(0) is None
    assert torch.device("cuda" if torch.cuda.is_available() else "cpu") == torch.device("cpu")
