"""Kinds of batching rules that operations share: elementwise, along dimensions, on all values."""

cimport cython

from autograd_cy._core.arrays.dtypes cimport BOOL, COMPLEX64, FLOAT16, code_of, dtype_of, promote
from autograd_cy._core.batching.batched cimport BatchedCall
from autograd_cy._core.graph.record cimport wrap_dim
from autograd_cy._core.graph.tensor cimport Tensor
from autograd_cy._core.runtime cimport numpy_api as cnp

from autograd_cy._core.batching.batched import rank_of


def elementwise(BatchedCall call, *args, **kwargs):
    """Operands are broadcast: missing dimensions are inserted after the batch dimension."""
    return aligned_call(call, args, kwargs)


cdef object aligned_call(BatchedCall call, tuple args, dict kwargs):
    cdef int rank = 0, ndim, dtype_code, wide = -1, narrow = -1
    cdef bint differ = False
    cdef tuple values = args if not kwargs else args + tuple(kwargs.values())
    for x in values:
        if isinstance(x, Tensor):
            ndim = cnp.PyArray_NDIM((<Tensor> x).array)
            dtype_code = code_of((<Tensor> x).array)
            if ndim:
                wide = dtype_code if wide < 0 else promote(wide, dtype_code)
                rank = max(rank, ndim)
            elif (<Tensor> x).batched:
                narrow = max(narrow, dtype_code)
        elif isinstance(x, cnp.ndarray) and cnp.PyArray_NDIM(x):
            rank = max(rank, cnp.PyArray_NDIM(x))
            wide = code_of(x) if wide < 0 else promote(wide, code_of(x))
    differ = wide >= 0 and narrow >= 0
    args = tuple([aligned_operand(call, x, rank, wide if differ else -1) for x in args])
    if kwargs:
        kwargs = {name: aligned_operand(call, x, rank, wide if differ else -1) for name, x in kwargs.items()}
    return call.function(*args, **kwargs)


cdef object aligned_operand(BatchedCall call, object x, int rank, int wide):
    """An operand whose samples are padded to that rank.

    A 0-d sample must not decide the result's dtype if an operand with dimensions has the same or a higher kind (`wide`).
    With the batch dimension it would, so it is converted first.
    """
    cdef int dtype_code
    if not call.is_batched(x):
        return x
    dtype_code = code_of((<Tensor> x).array)
    if wide >= 0 and dtype_code != wide and dtype_code != BOOL and not cnp.PyArray_NDIM((<Tensor> x).array):
        if kind_of(dtype_code) <= kind_of(wide):
            return call.aligned(x, rank).to(dtype_of(wide))
    return call.aligned(x, rank)


cdef int kind_of(int dtype_code) noexcept:
    """0 for bools, 1 for integers, 2 for floating point and 3 for complex numbers."""
    return 0 if dtype_code == BOOL else 1 if dtype_code < FLOAT16 else 2 if dtype_code < COMPLEX64 else 3


def on_values(BatchedCall call, *args, **kwargs):
    """The rule of operations on one tensor that leave dimensions alone."""
    return call.function(*[call.value(x) for x in args], **{name: call.value(x) for name, x in kwargs.items()})


def on_matrices(BatchedCall call, input, *args, **kwargs):
    """Like on_values, for operations on matrices: the batch dimension must not be taken for one of a sample's matrix."""
    call.check_rank(input, 2, input, *args, **kwargs)
    return on_values(call, input, *args, **kwargs)


def on_first_value(BatchedCall call, self, *args, **kwargs):
    """Like on_values, but another operand may decide the dtype: if only that one is batched, the result is expanded."""
    cdef object converted = on_values(call, self, *args, **kwargs)
    return converted if call.is_batched(self) else converted.expand(call.size, *converted.shape)


@cython.final
cdef class Along:
    """The rule of an operation on one tensor along the dimensions in its argument `name`.

    `without`: the meaning of None: "all" dimensions, or the elements in their order ("flat"). `least`: how many dimensions
    the operation needs.
    """
    cdef str name, without
    cdef int least
    cdef object function                # the last one that was called: `place` is the position of its parameter `name`
    cdef Py_ssize_t place
    cdef tuple default                  # ... and this holds its default; empty if it has none

    def __init__(self, name, without=None, least=0):
        self.name, self.without, self.least = name, without, least

    cdef int look_at(self, object function) except -1:
        """Find the parameter that names the dimensions."""
        cdef object code = function.__code__
        cdef tuple defaults = function.__defaults__ or ()
        cdef Py_ssize_t from_end = code.co_argcount - code.co_varnames.index(self.name)
        self.place = code.co_varnames.index(self.name) - 1
        self.default = defaults[len(defaults) - from_end:][:1] if from_end <= len(defaults) else ()
        self.function = function
        return 0

    def __call__(self, BatchedCall call, input, *args, **kwargs):
        cdef Tensor x = <Tensor> input
        cdef int rank = cnp.PyArray_NDIM(x.array)
        cdef object value = call.value(input), dim
        cdef bint flat = False
        cdef Py_ssize_t place
        call.check_rank(x, self.least, input, *args, **kwargs)
        if self.function is not call.function:
            self.look_at(call.function)
        place = self.place
        if len(args) > place:
            dim = args[place]
        elif self.name in kwargs:
            dim = kwargs[self.name]
        else:
            dim = self.default[0] if self.default else call.on_sample(input)
        if rank == 0:
            value = value.unsqueeze(1)
        if dim is None or (type(dim) is tuple and not dim and self.without == "all"):
            if self.without == "flat":
                value, dim, flat = value.reshape(call.size, x.array.size), 1, True
            else:
                dim = tuple(range(1, rank + 1)) if rank else 1
        elif isinstance(dim, (tuple, list)):
            dim = tuple([wrap_dim(d, rank) + 1 for d in dim])
        else:
            dim = wrap_dim(dim, rank) + 1
        if len(args) > place:
            args = args[:place] + (dim,) + args[place + 1:]
        else:
            kwargs[self.name] = dim
        result = call.function(value, *args, **kwargs)
        if rank == 0:
            return without_dims(result, call.size)
        if flat and rank_of(result) == 2:         # the dimensions were kept
            return result.reshape((call.size,) + (1,) * rank)
        return result


cdef object without_dims(object result, Py_ssize_t size):
    """Results of 0-d samples that were computed with one dimension."""
    if isinstance(result, Tensor):
        return result.reshape(size)
    items = [without_dims(x, size) for x in result]
    return result._make(items) if hasattr(result, "_make") else type(result)(items)


# rules for methods of Tensor that are not public operations; the module of the method declares its rule

def batched_fill(BatchedCall call, self, value):
    if call.is_batched(value):
        return call.value(self).copy_(call.aligned(value, rank_of(self)))
    return call(call.value(self), value)


def batched_new(BatchedCall call, self, *sizes, **kwargs):
    """new_zeros and similar: the function under vmap may write to the result, so it is batched from the start."""
    size = kwargs.pop("size", sizes[0] if len(sizes) == 1 and isinstance(sizes[0], (tuple, list)) else sizes)
    return call(call.value(self), (call.size, *size), **kwargs)


def batched_new_full(BatchedCall call, self, size, fill_value, **kwargs):
    if call.is_batched(fill_value):
        fill_value.item()               # raises: a batched tensor can't be read
    return call(call.value(self), (call.size, *size), fill_value, **kwargs)
