"""Keywords that operations take besides those of their signatures: NumPy's names of parameters, `inplace=` and `out=`.

The step of NOTE [Overrides] comes here when a call with one of them has failed.
"""

from autograd_cy._core.out_argument cimport call_into

NUMPY_NAMES = {"axis": "dim", "keepdims": "keepdim", "x": "input", "a": "input", "x1": "input", "x2": "other"}
TAKE_INPLACE = {"relu", "silu"}        # functions of nn.functional

cdef CallInPlace call_in_place = NULL


cdef bint is_among(tuple names) except -1:
    """Whether a call had such a keyword."""
    for name in names:
        if name in NUMPY_NAMES or name == "out" or name == "inplace":
            return True
    return False


cdef object called_otherwise(object function, tuple args, dict kwargs):
    """The call with the names that the function has for its parameters; TypeError if that doesn't fit either."""
    cdef tuple parameters = function.__code__.co_varnames
    for name in NUMPY_NAMES:
        own = NUMPY_NAMES[name]
        if name in kwargs and name not in parameters and own in parameters:
            if own in kwargs:
                raise TypeError(f"{function.__name__}() got multiple values for argument '{own}'")
            kwargs[own] = kwargs.pop(name)
    if "out" in kwargs:
        return call_into(function, args, kwargs)
    if "inplace" in kwargs and function.__name__ in TAKE_INPLACE:
        return call_in_place(function, args, kwargs)
    return function(*args, **kwargs)
