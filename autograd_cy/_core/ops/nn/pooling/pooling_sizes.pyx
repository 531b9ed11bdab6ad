"""Checks of the arguments of pooling operations, and the sizes of their results."""

from autograd_cy._core.graph.record cimport int64_of, shape_of
from autograd_cy._core.graph.tensor cimport Tensor
from autograd_cy._core.runtime cimport numpy_api as cnp
from autograd_cy._core.runtime.numpy_api cimport npy_intp

from autograd_cy._core.batching.batched import rank_of

WORDS = {1: "one int", 2: "two ints", 3: "three ints"}
cdef long long LARGEST_INT = (1 << 31) - 1


# numbers

cdef bint is_int(object value):
    return hasattr(value, "__index__") and not isinstance(value, bool)


cdef tuple ints_argument(object value, str operation, str name, int position):
    """One int, or a sequence of them, as a tuple."""
    if is_int(value):
        return (int64_of(value.__index__()),)
    if not isinstance(value, (tuple, list)):
        raise TypeError(f"{operation}(): argument '{name}' (position {position}) must be tuple of ints, not "
                        f"{type(value).__name__}")
    for place, item in enumerate(value, 1):
        if not is_int(item):
            raise TypeError(f"{operation}(): argument '{name}' failed to unpack the object at pos {place} with error \"type "
                            f"must be tuple of ints,but got {type(item).__name__}\"")
    return tuple([int64_of(item.__index__()) for item in value])


cdef tuple along_each(object value, str operation, str name, int position, int dims):
    """A number for each dimension, from one for all or one for each. An empty stride counts as none."""
    cdef tuple numbers = ints_argument(value, operation, name, position)
    if len(numbers) not in (1, dims):
        if dims == 1:
            raise RuntimeError(f"{operation}() argument '{name}' should contain one int (got {len(numbers)})")
        omitted = "be omitted, a single int" if name == "stride" else "be a single int"
        raise RuntimeError(f"{operation}: {name} must either {omitted}, or a tuple of {WORDS[dims]}")
    for number in numbers:
        if not -LARGEST_INT <= number <= LARGEST_INT:
            raise RuntimeError(f"value cannot be converted to type int without overflow ({operation}: {name} is {number})")
    return numbers * dims if len(numbers) == 1 else numbers


cdef str listed(tuple sizes):
    return str(list(sizes))


# windows

cdef class Pooling:
    """The windows of a pooling operation over `dims` dimensions. Checks them as far as possible without an input."""

    def __init__(self, str operation, int dims, kernel_size, stride, padding, dilation=1, bint ceil_mode=False):
        self.operation = operation
        self.kernel = along_each(kernel_size, operation, "kernel_size", 2, dims)
        omitted = stride is None or (isinstance(stride, (tuple, list)) and not len(stride))
        self.given_stride = () if omitted else along_each(stride, operation, "stride", 3, dims)
        self.stride = self.given_stride or self.kernel
        self.padding = along_each(padding, operation, "padding", 4, dims)
        self.dilation = along_each(dilation, operation, "dilation", 5, dims)
        self.ceil_mode = ceil_mode
        for kernel, step, padded, spread in zip(self.kernel, self.stride, self.padding, self.dilation):
            check_window(kernel, step, padded, spread)
        self.check_positive("kernel size", "k", self.kernel)
        self.check_positive("stride", "d", self.stride)
        self.check_positive("dilation", "dilation", self.dilation)

    def check_positive(self, str what, str prefix, tuple numbers):
        """RuntimeError for a number that is not above 0."""
        if min(numbers) <= 0:
            letters = "THW"[3 - len(numbers):]
            found = " ".join([f"{prefix}{letter}: {number}" for letter, number in zip(letters, numbers)])
            raise RuntimeError(f"{what} should be greater than zero, but got {found}")

    cdef tuple counts(self, Tensor x):
        """The number of windows along each of the last dimensions."""
        cdef tuple sizes = shape_of(x)[-len(self.kernel):]
        cdef tuple counts = tuple([
            count_of(n, kernel, stride, padding, dilation, self.ceil_mode) for n, kernel, stride, padding, dilation
            in zip(sizes, self.kernel, self.stride, self.padding, self.dilation)])
        if min(counts) < 1:
            planes = shape_of(x)[-len(self.kernel) - 1]
            raise RuntimeError(f"Given input size: ({'x'.join(map(str, (planes, *sizes)))}). Calculated output size: "
                               f"({'x'.join(map(str, (planes, *counts)))}). Output size is too small")
        return counts


cdef int check_window(long long kernel, long long stride, long long padding, long long dilation) except -1:
    if stride == 0:
        raise RuntimeError("stride should not be zero")
    if padding < 0:
        raise RuntimeError(f"pad must be non-negative, but got pad: {padding}")
    if kernel > 0 and dilation > 0 and padding > (dilation * (kernel - 1) + 1) // 2:
        raise RuntimeError(f"pad should be at most half of effective kernel size, but got pad={padding}, "
                           f"kernel_size={kernel} and dilation={dilation}")
    return 0


cdef npy_intp count_of(npy_intp n, npy_intp kernel, npy_intp stride, npy_intp padding, npy_intp dilation, bint ceil_mode):
    """The number of windows inside the padded elements; with ceil_mode, one more may reach beyond the end."""
    cdef npy_intp room = n + 2 * padding - dilation * (kernel - 1) - 1 + (stride - 1 if ceil_mode else 0)
    cdef npy_intp count = (room // stride if room >= 0 else -((-room + stride - 1) // stride)) + 1
    if ceil_mode and (count - 1) * stride >= n + padding:
        count -= 1
    return count


# adaptive pooling

cdef tuple output_sizes(object output_size, Tensor x, int dims, str operation):
    """The requested sizes along the last dimensions; None means the input's."""
    cdef tuple own = shape_of(x)
    if dims > 1 and isinstance(output_size, (tuple, list)):
        if len(own) <= len(output_size):
            raise ValueError(f"Input dimension should be at least {len(output_size) + 1}")
        output_size = [n if size is None else size for n, size in zip(own[len(own) - len(output_size):], output_size)]
    cdef tuple sizes = ints_argument(output_size, operation, "output_size", 2)
    if dims == 1 and len(sizes) != 1:
        raise RuntimeError(f"{operation}() argument 'output_size' should contain one int (got {len(sizes)})")
    if dims > 1 and isinstance(output_size, list) and len(sizes) != dims:
        raise RuntimeError(f"{operation}(): internal error: output_size.size() must be {dims}")
    return sizes * dims if len(sizes) == 1 else sizes


cdef int check_output_sizes(tuple sizes) except -1:
    """RuntimeError for a negative size, or if the number of elements overflows."""
    cdef object total = 1
    for size in sizes:
        if size < 0:
            raise RuntimeError(f"Trying to create tensor with negative dimension {size}: {list(sizes)}")
        total *= max(size, 1)
    if total >= 1 << 58:
        raise RuntimeError(f"Storage size calculation overflowed with sizes={list(sizes)}")
    return 0


# inputs

cdef int check_planes(Tensor x, int dims, str text) except -1:
    """Check that x has planes with channels, with or without samples."""
    if cnp.PyArray_NDIM(x.array) not in (dims + 1, dims + 2):
        raise RuntimeError(text)
    return 0


cdef int check_not_empty(Tensor x, str text) except -1:
    """Check that only the batch is empty; the text has places for the sizes and for the empty dimension."""
    cdef tuple sizes = shape_of(x)
    for axis in range(1, len(sizes)):
        if sizes[axis] == 0:
            raise RuntimeError(text.format(list(sizes), axis))
    return 0


# batches

class PlanesRule:
    """PlanesRule(dims): the batching rule of operations on planes: samples become the batch, or are merged into it."""

    def __init__(self, dims):
        self.dims = dims

    def __call__(self, call, input, *args, **kwargs):
        """The operation on all samples."""
        rank, x = rank_of(input), call.front(input)
        if rank == self.dims + 1:
            return call(x, *args, **kwargs)
        if rank != self.dims + 2:
            call.on_sample(input, *args)
        samples = x.shape[1]
        result = call(x.flatten(0, 1), *args, **kwargs)
        if isinstance(result, tuple):
            return tuple([apart(y, call.size, samples) for y in result])
        return apart(result, call.size, samples)


def apart(y, size, samples):
    """apart(y, size, samples) -> Tensor: split the samples from the batch again."""
    return y.reshape((size, samples, *y.shape[1:]))
