"""PyTorch's rules for the dtype of a result, written a second time for the tests.

Operands are NumPy arrays and Python numbers. The source is the section on type promotion in PyTorch's page
"Tensor Attributes".
"""

import numpy as np

from autograd_cy._core.arrays.dtypes import kind_of

DEFAULT = np.dtype("float32")
_KINDS = {"b": 0, "u": 1, "i": 1, "f": 2, "c": 3}


def _kind(dtype) -> int:
    return -1 if dtype is None else _KINDS[kind_of(dtype)]


def _to_complex(dtype):
    return np.dtype("complex128") if dtype.itemsize == 8 else np.dtype("complex64")


def promote_types(a, b):
    """The dtype that holds two of equal priority; None stands for none. An integer never widens a float."""
    if a is None or b is None:
        return b if a is None else a
    low, high = sorted((a, b), key=_kind)
    if _kind(low) < 2 and _kind(low) != _kind(high):
        return high
    if {str(a), str(b)} == {"float16", "bfloat16"}:
        return np.dtype("float32")
    return np.promote_types(a, b)


def _outrank(higher, lower):
    """`lower` matters only if it is of a higher kind (bool < integer < float < complex)."""
    if _kind(higher) >= _kind(lower):
        return higher
    if _kind(higher) == 2:
        return _to_complex(higher)
    return promote_types(higher, lower)


def promote(*operands) -> np.dtype:
    """The dtype of an elementwise result: tensors with dimensions first, then 0-d tensors, then numbers."""
    ranks = [None, None, None]
    numbers = {bool: np.dtype("bool"), int: np.dtype("int64"), float: DEFAULT, complex: _to_complex(DEFAULT)}
    for x in operands:
        array = isinstance(x, np.ndarray)
        rank = (0 if x.ndim else 1) if array else 2
        ranks[rank] = promote_types(ranks[rank], x.dtype if array else numbers[type(x)])
    return _outrank(ranks[0], _outrank(ranks[1], ranks[2]))


def operands_of(args) -> list:
    """The arrays and numbers among the positional arguments, out of lists and tuples too."""
    found = []
    for x in args:
        if isinstance(x, (list, tuple)):
            found += operands_of(x)
        elif isinstance(x, (np.ndarray, bool, int, float, complex)):
            found.append(x)
    return found


def _first(args) -> np.dtype:
    return next(x.dtype for x in operands_of(args) if isinstance(x, np.ndarray))


def _promote(args) -> np.dtype:
    return promote(*operands_of(args))


def _float(args) -> np.dtype:
    dtype = _promote(args)
    return dtype if kind_of(dtype) in "fc" else DEFAULT


def _real(args) -> np.dtype:
    dtype = _first(args)
    return np.empty(0, dtype).real.dtype


def _sum(args) -> np.dtype:
    dtype = _first(args)
    return dtype if kind_of(dtype) in "fc" else np.dtype("int64")


def _truth(args) -> np.dtype:
    return np.dtype("uint8" if _first(args) == np.uint8 else "bool")


RESULT_RULES = {
    "promote": _promote,  # of all operands
    "first": _first,  # the first tensor's
    "float": _float,  # promote, and integers become the default float
    "real": _real,  # the first tensor's, and complex becomes real
    "sum": _sum,  # the first tensor's, and integers become int64
    "truth": _truth,  # bool, but uint8 stays uint8 (any, all)
    "bool": lambda args: np.dtype("bool"),
    "int64": lambda args: np.dtype("int64"),
}
