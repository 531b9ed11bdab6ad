"""x[...]: what is refused, with PyTorch's words."""

import numpy as np
import pytest
from common import differs

import autograd_cy as torch

ALL = slice(None)


def index(*values, dtype=torch.int64):
    return torch.tensor(values, dtype=dtype)


BOUNDS = "index {} is out of bounds for dimension {} with size {}"
ONLY = r"only integers, slices \(`:`\), ellipsis \(`...`\), None and long or byte Variables are valid indices"
TENSORS = "tensors used as indices must be long, int, byte or bool tensors"

REFUSED = {
    "too large": (3, IndexError, BOUNDS.format(3, 0, 3)),
    "too small": (-4, IndexError, BOUNDS.format(-4, 0, 3)),
    "too large in the second dimension": ((0, 9), IndexError, BOUNDS.format(9, 1, 4)),
    "after None": ((None, 3), IndexError, BOUNDS.format(3, "[01]", 3)),
    "a tensor of one number": (torch.tensor(5), IndexError, BOUNDS.format(5, 0, 3)),
    "in an index": (index(0, 9), IndexError, BOUNDS.format(9, 0, 3)),
    "in the second of two indices": ((index(0), index(4)), IndexError, "index 4 is out of bounds for dimension"),
    "negative in an index": (index(-4), IndexError, BOUNDS.format(-4, 0, 3)),
    "indices that don't broadcast": (
        (index(0, 1), index(0, 1, 2)),
        IndexError,
        r"shape mismatch: indexing tensors could not be broadcast together with shapes \[2\], \[3\]",
    ),
    "a mask of another size": (
        torch.tensor([True, False]),
        IndexError,
        r"The shape of the mask \[2\] at index 0 does not match the shape of the indexed tensor \[3, 4\] at index 0",
    ),
    "a mask of another second size": (
        torch.ones(3, 3, dtype=torch.bool),
        IndexError,
        r"The shape of the mask \[3, 3\] at index 1 does not match the shape of the indexed tensor \[3, 4\] at index 1",
    ),
    "three ints": ((0, 0, 0), IndexError, "too many indices for tensor of dimension 2"),
    "a mask of three dimensions": (torch.ones(3, 4, 1, dtype=torch.bool), IndexError, "too many indices for tensor"),
    "a step below zero": (slice(None, None, -1), ValueError, "step must be greater than zero"),
    "a step of zero": (slice(None, None, 0), ValueError, "slice step cannot be zero"),
    "a slice of floats": (slice(0, 1.5), TypeError, "slice indices must be integers or None or have an __index__"),
    "a float": (1.0, IndexError, ONLY + r" \(got float\)"),
    "a float in a tuple": ((0, 1.0), IndexError, ONLY),
    "a NumPy bool": (np.True_, IndexError, ONLY + r" \(got numpy.bool"),
    "a dict": ({}, IndexError, ONLY + r" \(got dict\)"),
    "a tensor of floats": (torch.tensor([0.0]), IndexError, TENSORS),
    "an empty tensor of floats": (torch.tensor([]), IndexError, TENSORS),
    "int16": (index(0, dtype=torch.int16), IndexError, TENSORS),
}


@pytest.mark.parametrize("case", REFUSED)
def test_refused(case):
    item, error, message = REFUSED[case]
    with pytest.raises(error, match=message):
        torch.zeros(3, 4)[item]


@differs("`x[[0.5]]`", "cuts the fractions off")
@pytest.mark.parametrize("item", [[0.5], np.array([0.5]), ([0.5],)], ids=["list", "array", "list in a tuple"])
def test_floats_are_no_indices(item):
    with pytest.raises(IndexError, match=TENSORS):
        torch.zeros(3)[item]


@pytest.mark.parametrize(
    ("item", "message"),
    [
        (0, r"invalid index of a 0-dim tensor. Use `tensor.item\(\)` in Python"),
        (ALL, r"slice\(\) cannot be applied to a 0-dim tensor."),
        ((0,), "too many indices for tensor of dimension 0"),
        ([0], "too many indices for tensor of dimension 0"),
    ],
)
def test_refused_of_a_0d_tensor(item, message):
    with pytest.raises(IndexError, match=message):
        torch.tensor(1.0)[item]


def test_an_empty_dimension_has_no_rows():
    with pytest.raises(IndexError, match="index is out of bounds for dimension with size 0"):
        torch.zeros(0, 4)[index(0)]


def test_what_pytorch_deprecates_warns():
    x = torch.arange(6.0).reshape(2, 3)
    with pytest.warns(UserWarning, match="indexing with dtype torch.uint8 is now deprecated"):
        assert x[index(1, 0, dtype=torch.uint8)].tolist() == [[0.0, 1.0, 2.0]]
    with pytest.warns(UserWarning, match="Using a non-tuple sequence for multidimensional indexing is deprecated"):
        assert x[[[0, 1], [2, 0]]].tolist() == [2.0, 3.0]


@pytest.mark.parametrize("index", [0, [0, 1], ..., slice(1)], ids=str)
def test_half_precision_takes_no_complex_number(index):
    """`x[0] = 1j` wrote 0 into float16: numbers that it can't hold are rounded there, and so were these."""
    x = torch.ones(2, dtype=torch.float16)
    with pytest.raises(RuntimeError, match=r"value cannot be converted to type .* without overflow"):
        x[index] = 1j
    assert x.tolist() == [1.0, 1.0]
    x[0] = 1e6
    assert x[0].item() == float("inf")


def test_a_condition_of_bytes_is_deprecated():
    with pytest.warns(UserWarning, match="where received a uint8 condition tensor"):
        y = torch.where(index(1, 0, dtype=torch.uint8), torch.tensor([1.0, 2.0]), 3.0)
    assert y.tolist() == [1.0, 3.0]


@pytest.mark.parametrize("item, error", [([0, {}], TypeError), ([["a"], ["b"]], TypeError), ([[0], [1, 2], [3]], ValueError)])
def test_a_list_of_other_things(item, error):
    for access in (lambda: torch.zeros(3, 4)[item, 0], lambda: torch.zeros(3, 4).__setitem__((item, 0), 1)):
        with pytest.raises(error) as caught:
            access()
        if torch.__name__ == "autograd_cy":
            assert str(item) in str(caught.value)


MISFITS = {
    "longer": (lambda x, v: x.__setitem__((0, slice(0, 2)), v), (3,),
               r"The expanded size of the tensor \(2\) must match the existing size \(3\) at non-singleton dimension 0\.  "
               r"Target sizes: \[2\]\.  Tensor sizes: \[3\]"),
    "more dimensions": (lambda x, v: x.__setitem__(slice(0, 2), v), (3, 2, 4),
                        r"the number of sizes provided \(2\) must be greater or equal to the number of dimensions"),
    "copy_": (lambda x, v: x.copy_(v), (3,),
              r"The size of tensor a \(4\) must match the size of tensor b \(3\) at non-singleton dimension 1"),
    "copy_ to less": (lambda x, v: x.copy_(v), (2, 3, 4),
                      r"output with shape \[3, 4\] doesn't match the broadcast shape \[2, 3, 4\]"),
}  # fmt: skip


@pytest.mark.parametrize("recorded", [False, True])
@pytest.mark.parametrize("case", MISFITS)
def test_values_that_do_not_fit(case, recorded):
    write, sizes, text = MISFITS[case]
    x = torch.zeros(3, 4, requires_grad=recorded) * 1
    with pytest.raises(RuntimeError, match=text):
        write(x, torch.ones(sizes))
    assert x.tolist() == torch.zeros(3, 4).tolist()


@pytest.mark.parametrize("name", ["index_put", "index_put_"])
def test_index_put_takes_what_an_index_takes(name):
    """A mask of bytes came without PyTorch's warning, int16 without its error."""
    x, one = torch.zeros(3), torch.ones(())
    with pytest.warns(UserWarning, match=r"indexing with dtype torch\.uint8 is now deprecated"):
        assert getattr(x, name)((torch.tensor([0, 1, 0], dtype=torch.uint8),), one).tolist() == [0, 1, 0]
    for dtype in (torch.int16, torch.float32):
        with pytest.raises(IndexError, match="tensors used as indices must be long, int, byte or bool tensors"):
            getattr(x, name)((torch.tensor([1], dtype=dtype),), one)
