"""cumsum: running sums along a dimension."""

cimport cython

from autograd_cy._core.arrays.buffers cimport cast
from autograd_cy._core.arrays.dtypes cimport FLOAT16, FLOAT32, FLOAT64
from autograd_cy._core.graph.record cimport as_tensor, needs_node
from autograd_cy._core.graph.tensor cimport Tensor, new_tensor
from autograd_cy._core.kernels.plane_loops cimport real
from autograd_cy._core.ops.reductions.reduction_node cimport (
    SAVES_NOTHING, Reduction, in_type, one_dim, record_reduction, sum_code)
from autograd_cy._core.runtime cimport numpy_api as cnp
from autograd_cy._core.runtime.numpy_api cimport npy_intp

from autograd_cy._core.batching.rules import Along
from autograd_cy._core.ops.registry import op

cnp.import_array()

cdef enum:
    COLUMNS = 256


@cython.final
cdef class CumsumBackward0(Reduction):
    cdef tuple constant_names(self):
        return ("dim",)

    cdef object vjp(self, object g, int i):
        cdef object flipped = in_type(g, self.dtype_codes[0]).flip(self.constants[0])
        return cumsum(flipped, self.constants[0]).flip(self.constants[0])


@op(methods=("cumsum",), linear=CumsumBackward0, batch=Along("dim"))
def cumsum(input, dim, *, dtype=None):
    """cumsum(input, dim, *, dtype=None) -> Tensor: the sums of the elements up to each one along `dim`.

    Integers and bools are summed in int64, unless `dtype` asks for another type.

    >>> import autograd_cy as ag
    >>> ag.cumsum(ag.tensor([1.0, 2.0, 3.0]), dim=0)
    tensor([1., 3., 6.])
    """
    cdef Tensor x = as_tensor(input, "cumsum")
    cdef int d = one_dim(dim, cnp.PyArray_NDIM(x.array), "cumsum"), dtype_code = sum_code(x.array, dtype)
    cdef Tensor y = new_tensor(running_total(x.array, dtype_code, d))
    return record_reduction(CumsumBackward0, (d,), x, y, SAVES_NOTHING) if needs_node(x) else y


cdef cnp.ndarray running_total(cnp.ndarray array, int dtype_code, int dim):
    """The sums in the type `dtype_code`; float16 is summed in float32."""
    cdef npy_intp outer = 1, n, inner = 1
    cdef int axis
    if dtype_code == FLOAT16:
        return cast(running_total(array, FLOAT32, dim), FLOAT16)
    array = cast(array, dtype_code)                 # a new array, dense
    if cnp.PyArray_NDIM(array) == 0 or cnp.PyArray_SIZE(array) == 0:       # of no elements there may be 2**40 columns
        return array
    if dtype_code != FLOAT32 and dtype_code != FLOAT64:
        return array.cumsum(dim, array.dtype)
    n = cnp.PyArray_DIM(array, dim)
    for axis in range(dim):
        outer *= cnp.PyArray_DIM(array, axis)
    for axis in range(dim + 1, cnp.PyArray_NDIM(array)):
        inner *= cnp.PyArray_DIM(array, axis)
    if dtype_code == FLOAT32:
        accumulate(<float *> cnp.PyArray_DATA(array), outer, n, inner)
    else:
        accumulate(<double *> cnp.PyArray_DATA(array), outer, n, inner)
    return array


cdef void accumulate(real *data, npy_intp outer, npy_intp n, npy_intp inner) noexcept nogil:
    """Sum up along n, in place and in double."""
    cdef npy_intp start
    cdef double total
    for _ in range(outer):
        if inner == 1:
            total = 0
            for start in range(n):
                total += data[start]
                data[start] = <real> total
        else:
            start = 0
            while start < inner:
                accumulate_columns(data + start, n, inner, min(inner - start, <npy_intp> COLUMNS))
                start += COLUMNS
        data += n * inner


cdef void accumulate_columns(real *data, npy_intp n, npy_intp stride, npy_intp width) noexcept nogil:
    """Make running sums of a few columns, whose elements are `stride` elements apart."""
    cdef double[COLUMNS] totals
    cdef npy_intp j
    for j in range(width):
        totals[j] = 0
    for _ in range(n):
        for j in range(width):
            totals[j] = totals[j] + data[j]
            data[j] = <real> totals[j]
        data += stride
