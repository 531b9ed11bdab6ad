"""A Python int that no tensor can hold, in place of each number of each operation on integers: never an error without text."""

import numpy as np
import pytest
from op_calls import samples_of
from op_case import map_arrays
from opinfo import OPS

import autograd_cy as torch

TOO_LARGE = [2**64, -(2**64), 2**10_000]
ROWS = [row for row in OPS if "int64" in row.forward]
BITWISE = ["bitwise_and", "bitwise_or", "bitwise_xor", "bitwise_left_shift", "bitwise_right_shift"]


def with_each_int_replaced(sample, value):
    """The arguments of the sample, with the value in place of one int after the other."""
    args, kwargs = (map_arrays(lambda a: torch.from_numpy(np.copy(a)), part) for part in (sample.args, sample.kwargs))
    for i, arg in enumerate(args):
        if type(arg) is int:
            yield (*args[:i], value, *args[i + 1:]), kwargs
    for name, arg in kwargs.items():
        if type(arg) is int:
            yield args, {**kwargs, name: value}


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.name)
def test_ints_in_place_of_arguments(row):
    """An int is refused with a text, or the result is right with one of any size, as that of chunk() or isin()."""
    for sample in samples_of(row, "int64"):
        for value in TOO_LARGE:
            for args, kwargs in with_each_int_replaced(sample, value):
                try:
                    row.function(torch)(*args, **kwargs)
                except (OverflowError, ValueError, RuntimeError, TypeError, IndexError) as error:
                    assert str(error)


@pytest.mark.parametrize("value", TOO_LARGE)
@pytest.mark.parametrize("name", BITWISE)
def test_bits_of_ints_out_of_range(name, value):
    function = getattr(torch, name)
    operation = {"and": "and", "or": "or", "xor": "xor", "left_shift": "lshift", "right_shift": "rshift"}[name[8:]]
    x = torch.tensor([1, 2])
    calls = [
        lambda: function(2, value), lambda: function(value, 2), lambda: function(x, value), lambda: function(value, x),
        lambda: getattr(x, name)(value), lambda: getattr(x, name + "_")(value), lambda: getattr(x, f"__{operation}__")(value),
        lambda: getattr(x, f"__r{operation}__")(value), lambda: getattr(x, f"__i{operation}__")(value),
    ]  # fmt: skip
    for call in calls:
        with pytest.raises(OverflowError, match=r"int too big to convert|convert negative int"):
            call()
    assert x.tolist() == [1, 2] and x._version == 0
