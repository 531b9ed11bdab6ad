"""Python numbers as arrays of one type: converted by C's rules, or refused if the type can't hold them."""

import math

import numpy as np

from autograd_cy._core.arrays.dtypes cimport (
    BFLOAT16, BOOL, COMPLEX64, FLOAT16, FLOAT32, FLOAT64, TYPE_NUM, dtype, dtype_of, is_half)
from autograd_cy._core.runtime cimport numpy_api as cnp

C_NAMES = {"uint8": "uint8_t", "int8": "int8_t", "int16": "int16_t", "int32": "int", "int64": "int64_t",
           "uint16": "uint16_t", "uint32": "uint32_t", "uint64": "uint64_t", "float16": "c10::Half",
           "bfloat16": "c10::BFloat16", "float32": "float", "float64": "double",
           "longdouble": "long double", "complex64": "c10::complex<float>", "complex128": "c10::complex<double>"}

BFLOAT16_MAX = float.fromhex("0x1.fep127")
TOO_LARGE, TOO_SMALL = "int too big to convert", "can't convert negative int to unsigned"


cdef bint is_plain(object number, int dtype_code) except -1:
    """Whether a type holds a number as it is: a float in its range, an integer that float32 represents exactly."""
    if type(number) is float:
        return dtype_code == FLOAT64 or (dtype_code == FLOAT32 and -1e38 < <double> number < 1e38)
    return type(number) is int and FLOAT32 <= dtype_code <= FLOAT64 and -(1 << 24) <= number <= 1 << 24


cdef cnp.ndarray plain_array(object number, int dtype_code):
    """The result of `converted` for a number that `is_plain`."""
    cdef cnp.ndarray array = cnp.PyArray_ZEROS(0, NULL, TYPE_NUM[dtype_code], 0)
    if dtype_code == FLOAT64:
        (<double *> cnp.PyArray_DATA(array))[0] = number
    else:
        (<float *> cnp.PyArray_DATA(array))[0] = number
    cnp.set_array_base(array, number)
    cnp.PyArray_CLEARFLAGS(array, cnp.NPY_ARRAY_WRITEABLE)
    return array


cdef cnp.ndarray converted(object number, int dtype_code):
    """A number in a type. An integer wraps, a large number becomes infinite, a complex one loses its imaginary part.

    OverflowError for an integer that neither int64 nor uint64 holds.
    """
    cdef object source
    cdef cnp.ndarray array
    if is_plain(number, dtype_code):
        return plain_array(number, dtype_code)
    source = np.asarray(in_64_bits(number))
    with np.errstate(all="ignore"):
        if dtype_code == BOOL:
            source = source != 0
        elif dtype_code < COMPLEX64:
            source = source.real
        if BOOL < dtype_code < FLOAT16 and source.dtype.kind == "f":
            source = source.astype(np.int64)            # -1.0 becomes 255 in uint8 on any machine
        array = np.array(source, dtype_of(dtype_code).numpy_dtype)
    cnp.set_array_base(array, number)                   # so that `number_behind` finds it
    array.flags.writeable = False
    return array


cdef cnp.ndarray fitting(object number, int dtype_code):
    """A number in a type that can hold it; RuntimeError if it can't (unsigned types hold -1, by wrapping)."""
    if is_plain(number, dtype_code):
        return plain_array(number, dtype_code)
    if isinstance(number, np.generic):
        number = number.item()
    in_64_bits(number)
    if not holds(dtype_of(dtype_code), number):
        name = C_NAMES[dtype_of(dtype_code).name]
        raise RuntimeError(f"value cannot be converted to type {name} without overflow: {number}")
    return converted(number, dtype_code)


cdef cnp.ndarray assigned(object number, int dtype_code):
    """A number in the type that it is assigned to: float16 and bfloat16 take any real one."""
    if not is_half(dtype_code) or isinstance(number, complex):
        return fitting(number, dtype_code)
    return converted(number, dtype_code)


cdef object in_64_bits(object number):
    if isinstance(number, int) and not -2 ** 63 <= number < 2 ** 64:
        raise OverflowError(f"{TOO_LARGE if number > 0 else TOO_SMALL}: {number}")
    return number


cdef bint is_finite(object number) except -1:
    """Whether a real number is finite: a longdouble beyond the range of Python's numbers, too."""
    return np.isfinite(number) if isinstance(number, np.longdouble) else math.isfinite(number)


cdef bint holds(dtype wanted, object number) except -1:
    if wanted.dtype_code == BOOL:
        return True
    if isinstance(number, complex):
        if not wanted.is_complex:
            return number.imag == 0 and holds(wanted, number.real)
        return holds(wanted.to_real(), number.real) and holds(wanted.to_real(), number.imag)
    if wanted.dtype_code >= FLOAT16:
        most = BFLOAT16_MAX if wanted.dtype_code == BFLOAT16 else float(np.finfo(wanted.descr).max)
        return not is_finite(number) or abs(number) <= most
    limits = np.iinfo(wanted.numpy_dtype)
    low = limits.min if limits.min or isinstance(number, (float, np.longdouble)) else -limits.max
    return is_finite(number) and int(low) <= number <= int(limits.max)


cdef int check_depth(int depth) except -1:
    """Refuse sequences nested deeper than arrays can be: one that contains itself would overflow the stack."""
    if depth > 64:
        raise ValueError(f"too many dimensions: sequences are nested more than {depth - 1} deep, or contain themselves")
    return 0


cdef object number_behind(cnp.ndarray array):
    """The number that `converted` made this array from."""
    return cnp.get_array_base(array)


def c_name(dtype wanted):
    """c_name(wanted) -> str: the C++ name of a type in error messages: "c10::Half"."""
    return C_NAMES[wanted.name]


def fitting_array(number, dtype wanted):
    """fitting_array(number, dtype) -> ndarray: a Python number in a type that can hold it; RuntimeError if it can't."""
    return fitting(number, wanted.dtype_code)
