"""x[index] read, written plainly and on record: where each goes, and what is refused, is the same, and as in PyTorch."""

import warnings

import numpy as np
import pytest
from common import IS_TORCH

import autograd_cy as torch

pytestmark = [pytest.mark.skipif(IS_TORCH, reason="compares with PyTorch"), pytest.mark.filterwarnings("ignore")]
ALL = slice(None)

# Tensors are written as T(...), for each module its own
INDICES = {
    "a list of lists": lambda T: [[0, 2], [2, 2]],
    "three lists in one": lambda T: [[0, 1], [0, 1], [0, 1]],
    "lists that broadcast": lambda T: [[[0], [1]], [0, 1]],
    "a list in a list": lambda T: [[0, 1]],
    "nested lists in a list": lambda T: [[[0, 1], [1, 2]]],
    "a slice and a list in a list": lambda T: [ALL, [2, 3]],
    "a slice in a list": lambda T: [slice(1)],
    "None in a list": lambda T: [None],
    "None and an int in a list": lambda T: [None, 0],
    "two dots in a list": lambda T: [..., 0],
    "a tensor in a list": lambda T: [T([0, 1])],
    "a list": lambda T: [0, 1],
    "a list of bools": lambda T: [True, False, True],
    "a list of bools in a list": lambda T: [[True, False, True]],
    "an empty list": lambda T: [],
    "an empty tuple": lambda T: (),
    "an empty tuple in a tuple": lambda T: ((),),
    "nested lists in a tuple": lambda T: ([[0, 1], [1, 2]],),
    "an int and nested lists": lambda T: (1, [[0, 1], [1, 2]]),
    "lists in a tuple": lambda T: ([0, 2], [1, 1]),
    "lists of other lengths": lambda T: ([0, 1], [0, 1, 2]),
    "a row and a column": lambda T: ([0, 1], [[0], [1]]),
    "too many": lambda T: (0, 0, 0),
    "too many lists": lambda T: (0, [1, 2], T([1, 2])),
    "out of bounds": lambda T: [0, 5],
    "out of bounds below": lambda T: T([0, -4]),
    "an int out of bounds": lambda T: 3,
    "an int beyond 32 bits": lambda T: 2**31,
    "an int beyond 64 bits": lambda T: 2**63,
    "a list beyond 32 bits": lambda T: [2**31],
    "a slice beyond 32 bits": lambda T: slice(2**40),
    "a mask": lambda T: T([True, False, True]),
    "a mask too short": lambda T: T([True, False]),
    "a mask too wide": lambda T: T([[True] * 4] * 3),
    "a mask for columns": lambda T: (ALL, T([True, False])),
    "a mask and an int": lambda T: (T([True, False, True]), 0),
    "a mask and a list": lambda T: (T([True, False, True]), [0, 1]),
    "a mask and a list of another length": lambda T: (T([True, False, True]), [0, 1, 2]),
    "int32": lambda T: T([1, 0], "int32"),
    "int16": lambda T: T([1, 0], "int16"),
    "floats": lambda T: T([0.5]),
    "a float": lambda T: (1.5,),
    "an array": lambda T: np.array([0, 1]),
    "an array of bools": lambda T: np.array([True, False, True]),
    "an array of uint64": lambda T: np.array([0, 1], np.uint64),
    "a 0-d array": lambda T: np.array(1),
    "a 0-d tensor": lambda T: T(1),
    "a true tensor": lambda T: T(True),
    "a false tensor": lambda T: T(False),
    "True": lambda T: True,
    "False": lambda T: False,
    "True and an int": lambda T: (True, 0),
    "a range": lambda T: range(2),
    "a range and an int": lambda T: (range(2), 0),
    "ranges": lambda T: (range(2), range(1, 3)),
    "a range in a list": lambda T: [range(2)],
    "ranges in a list": lambda T: [range(2), range(1, 3)],
    "a range and a list in a list": lambda T: [range(2), [1, 1]],
    "ranges in nested lists": lambda T: [[range(2), range(2)]],
    "nested ranges and an int": lambda T: ([range(2), range(1, 3)], 0),
    "an empty range": lambda T: range(0),
    "a range out of bounds": lambda T: range(4),
    "no indices": lambda T: T([], "int64"),
    "None": lambda T: None,
    "Nones and an int": lambda T: (None, None, 0),
    "columns": lambda T: (ALL, [0, 1]),
    "a backward slice": lambda T: (slice(None, None, -1),),
    "a slice of step 0": lambda T: (slice(None, None, 0),),
    "two dots twice": lambda T: (..., ...),
}
VALUES = {
    "number": lambda T: 1,
    "one": lambda T: T([1.0]),
    "a row": lambda T: T([1.0, 2.0, 3.0, 4.0, 5.0]),
    "two": lambda T: T([1.0, 2.0]),
    "two rows": lambda T: T([[1.0, 2.0, 3.0, 4.0, 5.0], [6.0, 7.0, 8.0, 9.0, 0.0]]),
    "leading ones": lambda T: T([[[1.0]]]),
}
WAYS = ["read", "plain", "recorded"]


def outcome(module, way, index, value):
    """The values, and for a recorded write the gradient; or the error's type and its beginning."""

    def make(data, dtype=None):
        return module.tensor(data, dtype=None if dtype is None else getattr(module, dtype))

    x = module.arange(15.0).reshape(3, 5).requires_grad_(way == "recorded")
    y = x * 1
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            if way == "read":
                return y[INDICES[index](make)].tolist()
            y[INDICES[index](make)] = VALUES[value](make)
        if way == "recorded":
            return y.tolist(), module.autograd.grad(y.sum(), x)[0].tolist()
        return y.tolist()
    except (IndexError, RuntimeError, ValueError, TypeError) as error:
        return type(error), str(error)[:25]


@pytest.mark.parametrize("index", INDICES)
def test_reads_are_those_of_pytorch(index):
    theirs = pytest.importorskip("torch")
    assert outcome(torch, "read", index, "number") == outcome(theirs, "read", index, "number")


@pytest.mark.parametrize("value", VALUES)
@pytest.mark.parametrize("index", INDICES)
def test_writes_are_those_of_pytorch(index, value):
    theirs = pytest.importorskip("torch")
    expected = outcome(theirs, "plain", index, value)
    plain, recorded = outcome(torch, "plain", index, value), outcome(torch, "recorded", index, value)
    if isinstance(expected[0], type):  # of two errors, either
        allowed = [expected[0], *outcome(torch, "read", index, value)[:1]]
        assert plain[0] in allowed and recorded[0] in allowed, (expected, plain, recorded)
        return
    assert plain == expected
    assert recorded == outcome(theirs, "recorded", index, value)


@pytest.mark.parametrize("index", INDICES)
def test_a_refused_index_is_refused_in_the_same_words_everywhere(index):
    found = [outcome(torch, way, index, "number") for way in WAYS]
    if isinstance(found[0], tuple):
        assert found[0] == found[1] == found[2]
