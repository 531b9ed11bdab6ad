"""Tensors from numbers, nested sequences and arrays. Everything here holds for PyTorch, too."""

import array
import math
from fractions import Fraction

import numpy as np
import pytest

import autograd_cy as torch


def check(tensor, dtype, values):
    """That a tensor has this dtype and, as nested lists, these values."""
    assert tensor.dtype == getattr(torch, dtype)
    assert tensor.tolist() == values


# Inference


@pytest.mark.parametrize(
    ("data", "dtype"),
    [
        (True, "bool"),
        (1, "int64"),
        (1.0, "float32"),
        (1j, "complex64"),
        (np.bool_(True), "bool"),
        (np.int32(1), "int32"),
        (np.float16(1), "float16"),
        (np.float32(1), "float32"),
        (np.float64(1), "float64"),
        (np.complex128(1), "complex128"),
        ([], "float32"),
        ([1, 2], "int64"),
        ((1, 2), "int64"),
        (range(3), "int64"),
        (bytearray(b"ab"), "int64"),
        (array.array("d", [1.0]), "float32"),
        ([True, False], "bool"),
        ([True, 2], "int64"),
        ([1, 2.0], "float32"),
        ([True, 0.5, 1j], "complex64"),
        ([np.float64(1)], "float64"),
        ([np.float32(1), 2.0], "float32"),
        ([np.float64(1), 1], "float64"),
        ([np.float64(1), 1j], "complex128"),
        ([np.int32(1), np.int8(1)], "int32"),
        ([np.int32(1), 1], "int64"),
        ([np.int8(1), np.uint8(1)], "int16"),
        ([np.int64(1), np.float16(1)], "float16"),
        (np.arange(3), "int64"),
        (np.ones(3), "float64"),
        (np.ones(3, np.float32), "float32"),
    ],
    ids=repr,
)
def test_dtype_is_inferred(data, dtype):
    assert torch.tensor(data).dtype == getattr(torch, dtype)
    assert torch.as_tensor(data).dtype == getattr(torch, dtype)


@pytest.mark.filterwarnings("ignore:Creating a tensor from a list of numpy.ndarrays")
def test_lists_of_arrays():
    check(torch.tensor([np.arange(2.0), np.ones(2)]), "float64", [[0, 1], [1, 1]])
    check(torch.tensor([np.arange(2, dtype=np.int32), [5, 6]]), "int64", [[0, 1], [5, 6]])
    check(torch.tensor([[np.ones(2, np.float32)], [[1, 2]]]), "float32", [[[1, 1]], [[1, 2]]])


def test_arrays_without_dimensions_count_as_their_numbers():
    # beside numbers, or below the outermost list, they were taken for sequences
    check(torch.tensor([1, np.array(3, np.float32), True]), "float32", [1, 3, 1])
    check(torch.tensor([[np.array(1), np.array(2)], [np.array(3.0), 4]]), "float64", [[1, 2], [3, 4]])
    check(torch.tensor([[torch.tensor(1), 2], [np.array(3.0), np.float32(4)]]), "float64", [[1, 2], [3, 4]])
    check(torch.tensor([np.array([1, 2]), [np.array(1), 5]]), "int64", [[1, 2], [1, 5]])
    with pytest.raises(ValueError, match="expected sequence of length 2"):
        torch.tensor([[np.array(1), 5], [1]])


# Values


def test_nested_sequences():
    check(torch.tensor([[1, 2], (3, 4), range(5, 7)]), "int64", [[1, 2], [3, 4], [5, 6]])
    assert torch.tensor([[], []]).shape == (2, 0)
    assert torch.tensor([[[]]]).shape == (1, 1, 0)
    assert torch.tensor(5.0).shape == ()


def test_sequences_of_other_types():
    class Squares:
        def __len__(self):
            return 3

        def __getitem__(self, i):
            if i >= 3:
                raise IndexError
            return i * i

    check(torch.tensor(Squares()), "int64", [0, 1, 4])


def test_sequences_with_tensors():
    x = torch.tensor(1.5)
    check(torch.tensor([x, 2, True]), "float32", [1.5, 2, 1])
    check(torch.tensor([[x], [torch.tensor([3])]]), "float32", [[1.5], [3]])
    check(torch.tensor([x, torch.tensor(2.0, dtype=torch.float64)]), "float64", [1.5, 2])
    check(torch.tensor([torch.tensor(2), 1.5]), "float32", [2, 1.5])
    check(torch.tensor([[1, 2], torch.tensor([3.0, 4.0])]), "float32", [[1, 2], [3, 4]])
    with pytest.raises(ValueError, match="only one element tensors can be converted to Python scalars"):
        torch.tensor([torch.ones(2), torch.ones(2)])


@pytest.mark.parametrize(
    ("data", "name", "values"),
    [
        ([1.7, -1.7], "int32", [1, -1]),
        ([0, 1, 2.5], "bool", [False, True, True]),
        ([1j, 0], "bool", [True, False]),
        ([1, 2], "complex64", [1, 2]),
        (-1, "uint8", 255),
        (2**70, "float64", 2.0**70),
        (2**70, "bool", True),
        (1e300, "float32", math.inf),
        (np.array([300]), "uint8", [44]),
        (np.array([1e300]), "float32", [math.inf]),
    ],
    ids=repr,
)
def test_dtype_is_given(data, name, values):
    check(torch.tensor(data, dtype=getattr(torch, name)), name, values)


@pytest.mark.parametrize(
    ("kind", "name"), [(bool, "bool"), (int, "int64"), (float, "float64"), (complex, "complex128")]
)
def test_python_types_are_dtypes(kind, name):
    assert torch.tensor([1.0], dtype=kind).dtype == getattr(torch, name)
    assert torch.zeros(1, dtype=kind).dtype == getattr(torch, name)


def test_a_copy_is_made():
    numbers = np.ones(2)
    t = torch.tensor(numbers)
    numbers[0] = 5
    check(t, "float64", [1, 1])


def test_strides_are_kept():
    assert torch.tensor(np.ones((2, 3)).T).stride() == (1, 3)
    assert torch.tensor(np.broadcast_to(np.ones(3), (2, 3))).stride() == (3, 1)


def test_a_tensor_of_a_tensor_warns_and_is_a_new_leaf():
    x = torch.ones(2, requires_grad=True)
    with pytest.warns(UserWarning, match="To copy construct from a tensor"):
        y = torch.tensor(x)
    assert y.is_leaf and not y.requires_grad
    assert y.data_ptr() != x.data_ptr()
    with pytest.warns(UserWarning, match="To copy construct from a tensor"):
        check(torch.tensor(x, dtype=torch.float64), "float64", [1, 1])


def test_scalars_of_recorded_tensors_warn():
    x = torch.tensor(1.0, requires_grad=True)
    with pytest.warns(UserWarning, match="Converting a tensor with requires_grad=True to a scalar"):
        assert not torch.tensor([x, x]).requires_grad


# Errors


@pytest.mark.parametrize(
    ("data", "error", "message"),
    [
        ([[1, 2], [3]], ValueError, r"expected sequence of length 2 at dim 1 \(got 1\)"),
        ([[[1], [2]], [[3], [4, 5]]], ValueError, r"expected sequence of length 1 at dim 2 \(got 2\)"),
        ([[1, 2], []], ValueError, r"expected sequence of length 2 at dim 1 \(got 0\)"),
        ([[1, 2], 3], TypeError, "not a sequence"),
        ([1, [2, 3]], TypeError, None),
        ("a", TypeError, r"new\(\): invalid data type 'str'"),
        (["a", "b"], ValueError, "too many dimensions 'str'"),
        (None, RuntimeError, "Could not infer dtype of NoneType"),
        ([1, None], RuntimeError, "Could not infer dtype of NoneType"),
        ({1: 2}, RuntimeError, "Could not infer dtype of dict"),
        ([{1}], RuntimeError, "Could not infer dtype of set"),
        pytest.param(object(), RuntimeError, "Could not infer dtype of object", id="object"),
        (Fraction(1, 2), RuntimeError, "Could not infer dtype of Fraction"),
        (2**63, ValueError, "Overflow when unpacking long long"),
        ([0, 2**63], ValueError, "Overflow when unpacking long long"),
        (np.array(["a"]), TypeError, "can't convert np.ndarray of type"),
        (np.array([None]), TypeError, "The only supported types are"),
        (np.datetime64("2020-01-01"), TypeError, "can't convert np.ndarray of type"),
        (np.array([1.0], dtype=">f4"), ValueError, "byte order different from the native byte order"),
    ],
    ids=repr,
)
def test_bad_data(data, error, message):
    with pytest.raises(error, match=message):
        torch.tensor(data)


@pytest.mark.parametrize(
    ("data", "name", "error", "message"),
    [
        (300, "uint8", RuntimeError, "value cannot be converted to type uint8 without overflow"),
        (-256, "uint8", RuntimeError, "value cannot be converted to type uint8 without overflow"),
        ([128], "int8", RuntimeError, "value cannot be converted to type int8 without overflow"),
        ([math.nan], "int32", RuntimeError, "value cannot be converted to type int32 without overflow"),
        ([math.inf], "int64", RuntimeError, "value cannot be converted to type int64 without overflow"),
        (1j, "float32", TypeError, "must be real number, not complex"),
        ([1j], "int64", TypeError, "complex"),
        (["1"], "float32", ValueError, "too many dimensions 'str'"),
    ],
    ids=repr,
)
def test_data_that_the_dtype_cannot_hold(data, name, error, message):
    with pytest.raises(error, match=message):
        torch.tensor(data, dtype=getattr(torch, name))


def test_endless_sequences_are_refused():
    endless = []
    endless.append(endless)
    with pytest.raises(ValueError, match="too many dimensions 'list'"):
        torch.tensor(endless)


@pytest.mark.parametrize("dtype", ["float32", 5])
def test_what_is_not_a_dtype(dtype):
    with pytest.raises(TypeError, match="dtype"):
        torch.tensor([1.0], dtype=dtype)
    with pytest.raises(TypeError, match="dtype"):
        torch.zeros(1, dtype=dtype)


# as_tensor, from_numpy, asarray


def test_as_tensor_copies_only_what_it_must():
    x = torch.ones(2, requires_grad=True)
    assert torch.as_tensor(x) is x
    assert torch.as_tensor(x, dtype=torch.float32) is x
    assert torch.as_tensor(x, dtype=torch.float64).requires_grad
    numbers = np.zeros(2)
    shared, cast = torch.as_tensor(numbers), torch.as_tensor(numbers, dtype=torch.float32)
    numbers[0] = 5
    check(shared, "float64", [5, 0])
    check(cast, "float32", [0, 0])


def test_from_numpy_shares_memory_both_ways():
    numbers = np.arange(4.0)
    t = torch.from_numpy(numbers[::2])
    numbers[2] = 7
    check(t, "float64", [0, 7])
    t[0] = -1
    assert numbers[0] == -1
    assert torch.from_numpy(np.array(1.0)).shape == ()


@pytest.mark.parametrize("data", [[1.0], 1.0, np.float64(1)], ids=repr)
def test_from_numpy_takes_arrays_only(data):
    with pytest.raises(TypeError, match=r"expected np.ndarray \(got "):
        torch.from_numpy(data)


def test_from_numpy_refuses_other_dtypes():
    with pytest.raises(TypeError, match="The only supported types are"):
        torch.from_numpy(np.array(["a"]))


def test_asarray_shares_or_copies_as_told():
    numbers = np.ones(2)
    assert np.shares_memory(torch.asarray(numbers).numpy(), numbers)
    assert not np.shares_memory(torch.asarray(numbers, copy=True).numpy(), numbers)
    assert not np.shares_memory(torch.asarray(numbers, dtype=torch.float32).numpy(), numbers)
    with pytest.raises(ValueError, match="can't alias tensor with dtype"):
        torch.asarray(numbers, dtype=torch.float32, copy=False)
    with pytest.raises(ValueError, match="can't alias arbitrary sequence"):
        torch.asarray([1], copy=False)
    t = torch.ones(2)
    assert torch.asarray(t) is t and torch.asarray(t, copy=True) is not t


@pytest.mark.parametrize("package", ["autograd_cy", "torch"])
def test_asarray_shares_buffers_and_capsules(package):
    torch = pytest.importorskip(package)
    data = bytearray(8)
    for buffer in (data, memoryview(data)):
        shared = torch.asarray(buffer, dtype=torch.int16)
        shared[0] = 258
        assert data[:2] == b"\2\1" and shared.shape == (4,) and torch.asarray(buffer).dtype is torch.float32
        apart = torch.asarray(buffer, dtype=torch.uint8, copy=True)
        apart[0] = 77
        assert data[0] == 2 and torch.asarray(buffer, dtype=torch.uint8, copy=False).data_ptr() == shared.data_ptr()
    array = np.zeros(2)
    torch.asarray(array.__dlpack__())[0] = 5
    assert array.tolist() == [5, 0]
    assert torch.asarray(memoryview(np.ones(2)), dtype=torch.float64, requires_grad=True).requires_grad


@pytest.mark.parametrize("package", ["autograd_cy", "torch"])
def test_arguments_out_of_place(package):
    torch = pytest.importorskip(package)
    x = torch.ones(2)
    for device in ("cpu", torch.device("cpu")):
        with pytest.raises(TypeError, match=r"to\(\) received an invalid combination of arguments"):
            x.to(device, True)
    assert x.to(torch.float64, True).dtype is torch.float64 and x.to("cpu", None, True) is x
    with pytest.raises(RuntimeError, match='indexing must be one of "xy" or "ij", but received: '):
        torch.meshgrid(x, x, indexing="")


def test_asarray_and_the_graph():
    x = torch.ones(2, requires_grad=True)
    assert torch.asarray(x, requires_grad=True) is x
    assert torch.asarray(x, copy=True, requires_grad=True).grad_fn is not None
    assert not torch.asarray(x, requires_grad=False).requires_grad
    assert torch.asarray(np.ones(2), requires_grad=True).is_leaf
    with pytest.raises(RuntimeError, match="Only Tensors of floating point and complex dtype"):
        torch.asarray([1, 2], requires_grad=True)
