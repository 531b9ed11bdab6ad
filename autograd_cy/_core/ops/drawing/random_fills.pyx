"""Tensors filled with random numbers, and new ones of plain sizes.

All checks come before the generator advances. A function returns None if the facade must handle the call: within vmap,
with sizes that are not plain ints, or with a dtype that has no normal numbers.
"""

import numpy as np

from libc.stdint cimport int64_t, uint64_t

from autograd_cy._core.arrays.buffers cimport new_array
from autograd_cy._core.arrays.dtypes cimport (
    BFLOAT16, BOOL, COMPLEX64, FLOAT16, FLOAT32, FLOAT64, INT64, check_has_kernel, code_of, default_code, dtype, dtype_of,
    is_differentiable, to_real, type_word)
from autograd_cy._core.batching.batched cimport current_level
from autograd_cy._core.graph.memory cimport prepare_write
from autograd_cy._core.graph.record cimport shape_of
from autograd_cy._core.graph.tensor cimport Tensor, new_tensor
from autograd_cy._core.kernels.random_loops cimport (
    NORMAL, UNIFORM, Kind, are_chances, can_fill, compare, divide, fill, fill_integers, keep_below, narrow, scale_and_shift)
from autograd_cy._core.ops.overwriting cimport overwrite
from autograd_cy._core.runtime cimport numpy_api as cnp
from autograd_cy._core.runtime.state cimport OP_HOOKS, thread_state
from autograd_cy._core.writes.inplace cimport Change, assign, change_of, check_memory, commit, is_recorded_write

from autograd_cy._core.arrays.dtypes import finfo_of

cdef enum:
    MOST_DIMS = 32
    MOST_ELEMENTS = 1 << 30

cdef int64_t MOST_BOUND = <int64_t> 1 << 62, MOST_RANGE = <int64_t> 1 << 32

cdef double WITHIN_ALL = 32752      # half of float16's largest number
# names in PyTorch's messages
cdef dict REALS = {FLOAT16: ("Half", "c10::Half"), BFLOAT16: ("BFloat16", "c10::BFloat16"), FLOAT32: ("Float", "float"),
                   FLOAT64: ("Double", "double")}


# arguments

cpdef double real_argument(object value, str function, str name, int position) except? -1:
    """real_argument(value, function, name, position) -> float: a number, NumPy's too, or a 0-d tensor; else TypeError."""
    if type(value) is float or isinstance(value, (int, float, np.floating, np.integer, np.bool_)):
        return value
    if isinstance(value, Tensor) and (<Tensor> value).array.ndim == 0 and not value.requires_grad:
        if code_of((<Tensor> value).array) >= COMPLEX64:
            raise RuntimeError("value cannot be converted to type double without overflow")
        return value.item()
    kind = "numpy.ndarray" if isinstance(value, np.ndarray) else type(value).__name__
    raise TypeError(f"{function}(): argument '{name}' (position {position}) must be float, not {kind}")


cdef int plain_sizes(tuple shape, object size, cnp.npy_intp *dims) except -2:
    """Write the sizes that zeros(2, 3), zeros((2, 3)) and zeros(size=(2, 3)) ask for, if they are non-negative Python ints.

    Returns their number; -1 if the caller must look closer.
    """
    cdef Py_ssize_t i, n, k, elements = 1
    if size is None and len(shape) == 1 and type(shape[0]) is not int:
        size, shape = shape[0], ()
    if size is not None:
        if shape or not isinstance(size, (tuple, list)):
            return -1
        shape = tuple(size)
    elif not shape:
        return -1
    n = len(shape)
    if n > MOST_DIMS:
        return -1
    for i in range(n):
        if type(shape[i]) is not int or not 0 <= shape[i] <= MOST_ELEMENTS:
            return -1
        k = shape[i]
        if k and elements > MOST_ELEMENTS // k:
            return -1
        dims[i] = k
        elements *= k
    return n


def plain_shape(tuple shape, object size):
    """plain_shape(shape, size) -> tuple: the sizes found by `plain_sizes`; None if the caller must look closer."""
    cdef cnp.npy_intp[MOST_DIMS] dims
    cdef int i, n = plain_sizes(shape, size, dims)
    return None if n < 0 else tuple([dims[i] for i in range(n)])


cdef int inexact_code(object given) except -1:
    """The code of a dtype, None being the default; BOOL if it has no normal numbers, or tensors can't have it."""
    cdef int dtype_code
    if given is None:
        return default_code()
    dtype_code = (<dtype> given).dtype_code if type(given) is dtype else <int> BOOL
    return dtype_code if is_differentiable(dtype_code) else <int> BOOL


# new tensors

def new_random(str kind, double a, double b, tuple shape, object size, object given_dtype, object generator, str function):
    """new_random(kind, a, b, shape, size, dtype, generator, function) -> Tensor: like `drawn_array`, in a new tensor."""
    cdef cnp.npy_intp[MOST_DIMS] dims
    cdef int n, dtype_code = inexact_code(given_dtype)
    cdef cnp.ndarray array
    if dtype_code == BOOL or current_level() is not None:
        return None
    n = plain_sizes(shape, size, dims)
    if n < 0:
        return None
    array = new_array(dtype_code, n, dims)
    fill(array, NORMAL if kind == "normal" else UNIFORM, key_of(generator, function), a, b)
    return new_tensor(array)


def random_like(str kind, object input, object given_dtype, object generator, str function):
    """random_like(kind, input, dtype, generator, function) -> Tensor: like a contiguous tensor, in its type or `dtype`."""
    cdef cnp.ndarray array
    cdef int dtype_code
    if type(input) is not Tensor or current_level() is not None:
        return None
    array = (<Tensor> input).array
    if not cnp.PyArray_IS_C_CONTIGUOUS(array) or cnp.PyArray_SIZE(array) == 0:
        return None
    dtype_code = code_of(array) if given_dtype is None else inexact_code(given_dtype)
    if not is_differentiable(dtype_code):
        return None
    array = new_array(dtype_code, cnp.PyArray_NDIM(array), cnp.PyArray_DIMS(array))
    fill(array, NORMAL if kind == "normal" else UNIFORM, key_of(generator, function), 0, 1)
    return new_tensor(array)


def new_integers(object low, object high, object size, object generator, str function):
    """new_integers(low, high, size, generator, function) -> Tensor: int64 numbers from low to high - 1."""
    cdef cnp.npy_intp[MOST_DIMS] dims
    cdef cnp.ndarray array
    cdef int n
    if not is_short_range(low, high) or current_level() is not None or not isinstance(size, (tuple, list)):
        return None
    n = plain_sizes((), size, dims)
    if n < 0:
        return None
    array = new_array(INT64, n, dims)
    fill_integers(array, key_of(generator, function), low, <unsigned int> (<int64_t> high - <int64_t> low))
    return new_tensor(array)


cdef bint is_short_range(object low, object high) except -1:
    """Whether these are 64-bit ints in order, less than 2^32 apart."""
    return type(low) is int and type(high) is int and -MOST_BOUND <= low < high <= MOST_BOUND and high - low < MOST_RANGE


# fills

def fill_normal(Tensor self, object mean, object std, object generator):
    """fill_normal(self, mean, std, generator) -> Tensor: overwritten with normal numbers."""
    cdef double a = real_argument(mean, "normal_", "mean", 1), b = real_argument(std, "normal_", "std", 2)
    check_inexact(self, "normal_kernel_cpu")
    if not b >= 0:
        raise RuntimeError(f"normal expects std >= 0.0, but found std {b:g}")
    return fill_with(NORMAL, self, a, b, generator, "NormalBackward0", "normal_")


def fill_uniform(Tensor self, object low, object high, object generator):
    """fill_uniform(self, low, high, generator) -> Tensor: overwritten with uniform numbers."""
    cdef double a = real_argument(low, "uniform_", "from", 1), b = real_argument(high, "uniform_", "to", 2)
    check_inexact(self, "check_uniform_bounds")
    if not -WITHIN_ALL <= a <= b <= WITHIN_ALL:
        check_range(to_real(code_of(self.array)), a, b)
    return fill_with(UNIFORM, self, a, b, generator, "UniformBackward0", "uniform_")


def fill_integral(Tensor self, object low, object high, object generator):
    """fill_integral(self, low, high, generator) -> Tensor: an int64 one, overwritten with integers from low to high - 1."""
    cdef Change change
    cdef uint64_t key
    if not is_short_range(low, high) or current_level() is not None or code_of(self.array) != INT64:
        return None
    if check_fill(self, generator, "random_") or thread_state().mode & OP_HOOKS:
        return None
    change = change_of(self, None, "random_")
    key = key_of(generator, "random_")
    fill_integers(self.array, key, low, <unsigned int> (<int64_t> high - <int64_t> low))
    commit(change)
    return self


cdef int check_inexact(Tensor self, str name) except -1:
    if not is_differentiable(code_of(self.array)):
        raise NotImplementedError(f"\"{name}\" not implemented for '{type_word(code_of(self.array))}'")
    return 0


cdef int check_range(int dtype_code, double start, double end) except -1:
    """RuntimeError unless both ends and their difference are in the range of the type, and the ends in order."""
    check_has_kernel(dtype_code, "check_uniform_bounds")
    largest = float(finfo_of(dtype_of(dtype_code).numpy_dtype).max)
    word, type_name = REALS[dtype_code]
    for name, value in (("from", start), ("to", end)):
        if not -largest <= value <= largest:
            raise RuntimeError(f"{name} is out of bounds for {type_name}")
    if not start <= end:
        raise RuntimeError(f"uniform_ expects to return a [from, to) range, but found from={start:g} > to={end:g}")
    if not end - start <= largest:
        raise RuntimeError(f"uniform_ expects to-from <= std::numeric_limits<{word}>::max(), but found to={end:g} and "
                           f"from={start:g} which result in to-from to exceed the limit")
    return 0


cdef Tensor fill_with(Kind kind, Tensor self, double a, double b, object generator, str node, str operation):
    """Fill the tensor with the numbers of `drawn_array`; None within vmap."""
    cdef Change change
    cdef uint64_t key
    if current_level() is not None:
        return None
    if check_fill(self, generator, operation) or thread_state().mode & OP_HOOKS or not can_fill(self.array):
        name = "normal" if kind == NORMAL else "uniform"
        numbers = drawn_array(name, shape_of(self), self.array.dtype, generator, operation, a, b)
        return overwrite(self, numbers, NODES[node], operation)
    change = change_of(self, None, operation)
    key = key_of(generator, operation)
    fill(self.array, kind, key, a, b)
    commit(change)
    return self


cpdef bint check_fill(Tensor self, object generator, str operation) except -1:
    """check_fill(self, generator, operation) -> bool: whether the write is recorded; raises if the tensor can't be written."""
    prepare_write(self.array, operation)
    check_memory(self.array, None)
    check_generator(generator, operation)
    return is_recorded_write(self, None, operation)


def fill_by_numpy(Tensor self, str kind, double a, double b, object generator, str node, str operation):
    """fill_by_numpy(self, kind, a, b, generator, node, operation) -> Tensor: overwritten with `numbers_by_numpy`."""
    cdef cnp.ndarray numbers
    cdef Change change
    if current_level() is not None:
        return None
    if check_fill(self, generator, operation) or thread_state().mode & OP_HOOKS:
        return drawn_into(self, numbers_by_numpy(kind, a, b, shape_of(self), source_of(generator)), node, operation)
    change = change_of(self, None, operation)
    numbers = numbers_by_numpy(kind, a, b, shape_of(self), source_of(generator))
    if code_of(self.array) == FLOAT32 and cnp.PyArray_ISCARRAY(self.array):
        if code_of(numbers) == FLOAT64:
            narrow(<double *> cnp.PyArray_DATA(numbers), <float *> cnp.PyArray_DATA(self.array), cnp.PyArray_SIZE(numbers))
        else:
            narrow(<int64_t *> cnp.PyArray_DATA(numbers), <float *> cnp.PyArray_DATA(self.array), cnp.PyArray_SIZE(numbers))
        commit(change)
    else:
        assign(change, numbers if code_of(numbers) == code_of(self.array) else converted(numbers, code_of(self.array)))
    return self


def drawn_into(Tensor self, cnp.ndarray numbers not None, str name, str operation):
    """drawn_into(self, numbers, name, operation) -> Tensor: write an array that NumPy drew into the tensor.

    It is recorded as the node `name`. Numbers beyond the range of the tensor's type become infinite.
    """
    if code_of(numbers) != code_of(self.array):
        numbers = converted(numbers, code_of(self.array))
    return overwrite(self, numbers, NODES[name], operation)


cpdef cnp.ndarray numbers_by_numpy(str kind, double a, double b, tuple shape, object source):
    """numbers_by_numpy(kind, a, b, shape, source) -> array: numbers drawn by NumPy, float64, or int64 if "geometric".

    "bernoulli" is 1 with probability a, else 0; "exponential" has the rate a; "cauchy" and "log_normal" the parameters a, b.
    """
    cdef cnp.npy_intp[MOST_DIMS] dims
    cdef cnp.ndarray numbers
    cdef double *x
    cdef int n
    if kind == "geometric":
        return np.asarray(source.geometric(a, shape))
    if kind == "log_normal":
        return np.asarray(source.lognormal(a, b, shape))
    n = plain_sizes((), shape, dims)
    numbers = np.empty(shape) if n < 0 else new_array(FLOAT64, n, dims)
    x = <double *> cnp.PyArray_DATA(numbers)
    if kind == "bernoulli":
        source.random(out=numbers)
        keep_below(x, cnp.PyArray_SIZE(numbers), a)
    elif kind == "exponential":
        source.standard_exponential(out=numbers)
        if a != 1:
            divide(x, cnp.PyArray_SIZE(numbers), a)
    else:
        numbers = np.asarray(source.standard_cauchy(shape))
        scale_and_shift(<double *> cnp.PyArray_DATA(numbers), cnp.PyArray_SIZE(numbers), b, a)
    return numbers


cdef cnp.ndarray converted(cnp.ndarray numbers, int dtype_code):
    """The numbers in another type, without NumPy's warnings."""
    with np.errstate(over="ignore"):
        return numbers.astype(dtype_of(dtype_code).numpy_dtype)


def truths_like(object input, object generator):
    """truths_like(input, generator) -> Tensor: each element 1 with the probability in a contiguous tensor, else 0."""
    cdef cnp.ndarray chances, numbers
    cdef int dtype_code
    if type(input) is not Tensor or current_level() is not None or (<Tensor> input).needs_grad:
        return None
    chances = (<Tensor> input).array
    dtype_code = code_of(chances)
    if not cnp.PyArray_ISCARRAY(chances) or dtype_code != FLOAT32 and dtype_code != FLOAT64:
        return None
    check_generator(generator, "bernoulli")
    if not (are_chances(<float *> cnp.PyArray_DATA(chances), cnp.PyArray_SIZE(chances)) if dtype_code == FLOAT32 else
            are_chances(<double *> cnp.PyArray_DATA(chances), cnp.PyArray_SIZE(chances))):
        raise RuntimeError("Expected p_in >= 0 && p_in <= 1 to be true, but got false.")
    numbers = np.asarray(source_of(generator).random(shape_of(<Tensor> input)))
    result = new_array(dtype_code, cnp.PyArray_NDIM(chances), cnp.PyArray_DIMS(chances))
    if dtype_code == FLOAT32:
        compare(<double *> cnp.PyArray_DATA(numbers), <float *> cnp.PyArray_DATA(chances),
                <float *> cnp.PyArray_DATA(result), cnp.PyArray_SIZE(chances))
    else:
        compare(<double *> cnp.PyArray_DATA(numbers), <double *> cnp.PyArray_DATA(chances),
                <double *> cnp.PyArray_DATA(result), cnp.PyArray_SIZE(chances))
    return new_tensor(result)
