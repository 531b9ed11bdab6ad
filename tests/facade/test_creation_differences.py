"""Where making tensors differs from PyTorch on purpose: NumPy's freedoms are kept, and only the CPU is."""

import subprocess
import sys

import numpy as np
import pytest

import autograd_cy as torch


def test_numpy_dtypes_are_dtypes():
    assert torch.zeros(1, dtype=np.float64).dtype == torch.float64
    assert torch.tensor([1.0], dtype=np.dtype("int32")).dtype == torch.int32


def test_any_strides():
    numbers = np.arange(6.0).reshape(2, 3)[::-1, ::-1]
    assert torch.from_numpy(numbers).tolist() == [[5, 4, 3], [2, 1, 0]]
    back = torch.from_numpy(numbers).numpy()
    assert back.strides == numbers.strides and back.ctypes.data == numbers.ctypes.data


def test_read_only_arrays_stay_read_only():
    numbers = np.arange(3.0)
    numbers.flags.writeable = False
    assert not torch.from_numpy(numbers).numpy().flags.writeable
    assert torch.tensor(numbers).numpy().flags.writeable


def test_subclasses_of_ndarray_become_plain_arrays():
    masked = np.ma.array([1.0, 2.0], mask=[False, True])
    assert type(torch.from_numpy(masked).numpy()) is np.ndarray
    assert type(torch.tensor(masked).numpy()) is np.ndarray


def test_objects_that_know_how_to_become_arrays():
    class Table:
        def __array__(self, dtype=None, copy=None):
            return np.arange(3.0)

    assert torch.tensor(Table()).tolist() == [0, 1, 2]
    assert torch.as_tensor(Table()).dtype == torch.float64


def test_full_of_a_numpy_bool_or_complex():
    assert torch.full((1,), np.bool_(True)).dtype == torch.bool
    assert torch.full((1,), np.complex128(2j)).tolist() == [2j]


def test_numpy_bools_among_integers():
    assert torch.tensor([np.bool_(True), 2]).tolist() == [1, 2]


@pytest.mark.parametrize("data", [[[], [1, 2]], [[1], np.ones(2)], [np.ones(2), np.ones(3)]], ids=repr)
def test_every_ragged_sequence_is_refused(data):
    with pytest.raises(ValueError, match="expected sequence of "):
        torch.tensor(data)


def test_messages_say_what_came():
    with pytest.raises(RuntimeError, match=r"without overflow: 300"):
        torch.tensor([1, 300], dtype=torch.uint8)
    with pytest.raises(RuntimeError, match=r"can require gradients, not torch\.int64"):
        torch.ones(2, dtype=torch.int64, requires_grad=True)


def test_numpys_generators_are_imported_when_needed():
    script = "import sys, autograd_cy; assert 'numpy.random' not in sys.modules; autograd_cy.rand(1)"
    subprocess.run([sys.executable, "-c", script], check=True)


def test_the_stream_is_numpys():
    """A tensor of normal or uniform numbers, or of integers of a short range, takes one word of it."""
    torch.manual_seed(3)
    reference = np.random.default_rng(3)
    for draw in (torch.rand, torch.randn, lambda n: torch.randint(9, (n,))):
        draw(4)
        reference.bit_generator.random_raw()
    assert (torch.randperm(4).numpy() == reference.permutation(4)).all()
    assert (torch.randint(2**40, (4,)).numpy() == reference.integers(0, 2**40, 4)).all()


def test_print_profiles_are_known():
    with pytest.raises(ValueError, match="profile must be one of default, short, full, got 'fancy'"):
        torch.set_printoptions(profile="fancy")
