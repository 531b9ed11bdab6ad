"""NumPy's scalars wherever an operation takes a number: the result is that of the Python number."""

import numpy as np
from op_calls import Call, each_sample
from op_case import Sample
from opinfo import OPS

import autograd_cy as torch

LIKE = {int: (np.int64, np.int32), float: (np.float64, np.float32), complex: (np.complex128,)}


def numbers_in(sample):
    """The places of the Python numbers among the arguments and in their tuples: (keyword or place, place inside)."""
    for key, value in [*enumerate(sample.args), *sample.kwargs.items()]:
        if type(value) in LIKE:
            yield key, None, value
        elif isinstance(value, (tuple, list)):
            for i, item in enumerate(value):
                if type(item) in LIKE:
                    yield key, i, item


def replaced(sample, key, i, number):
    """The sample with another number in that place."""
    args, kwargs = list(sample.args), dict(sample.kwargs)
    holder = kwargs if isinstance(key, str) else args
    if i is None:
        holder[key] = number
    else:
        holder[key] = type(holder[key])([*holder[key][:i], number, *holder[key][i + 1 :]])
    return Sample(tuple(args), kwargs)


def outcome(row, sample):
    torch.manual_seed(0)
    call = Call(row, sample, differentiable=False)
    return [y.numpy() if isinstance(y, torch.Tensor) else np.asarray(y) for y in call()]


def any_dtype(row):
    """float32, where a scalar's float64 must not matter, and float64, where a scalar's float32 must not; or what there is."""
    known = row.dtypes + row.forward
    return tuple(dtype for dtype in known if dtype in ("float32", "float64")) or known[:1]


@each_sample(OPS, any_dtype)
def test_each_number_of_each_operation(row, sample):
    expected = None
    for key, i, number in numbers_in(sample):
        for kind in LIKE[type(number)]:
            if kind(number).item() != number:  # not held exactly
                continue
            expected = expected or outcome(row, sample)
            found = outcome(row, replaced(sample, key, i, kind(number)))
            for ours, theirs in zip(found, expected, strict=True):
                assert ours.dtype == theirs.dtype, (key, i, kind)
                np.testing.assert_array_equal(ours, theirs)
