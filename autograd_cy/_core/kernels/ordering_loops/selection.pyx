"""The few largest or smallest elements of rows, by insertion into a sorted list (knows no Tensor).

NaN counts as the largest; equal elements keep their order.
"""

from autograd_cy._core.arrays.buffers cimport new_array
from autograd_cy._core.arrays.dtypes cimport FLOAT32, INT64, code_of
from autograd_cy._core.kernels.borrowed cimport run
from autograd_cy._core.runtime cimport numpy_api as cnp
from autograd_cy._core.runtime.numpy_api cimport npy_intp


ctypedef fused Real:
    float
    double


cdef inline bint is_before(Real a, Real b, bint largest) noexcept nogil:
    if largest:
        return a > b or (a != a and b == b)
    return a < b or (b != b and a == a)


cdef inline void select(const Real[::1] x, long long[::1] places, bint largest) noexcept nogil:
    cdef Real[FEW] found
    cdef Py_ssize_t count = places.shape[0], filled = 0, i, k
    for i in range(x.shape[0]):
        if filled == count and not is_before(x[i], found[count - 1], largest):
            continue
        k = filled if filled < count else count - 1
        while k > 0 and is_before(x[i], found[k - 1], largest):
            found[k], places[k] = found[k - 1], places[k - 1]
            k -= 1
        found[k], places[k] = x[i], i
        filled += filled < count


cdef cnp.ndarray few_extreme_places(cnp.ndarray rows, Py_ssize_t count, bint largest):
    """Their places in each row (the last dimension) of float32 or float64 in C order; 0 < count <= FEW, at most the size of
    a row.
    """
    cdef npy_intp[64] sizes
    cdef int dtype_code = code_of(rows)
    cdef npy_intp k, ndim = cnp.PyArray_NDIM(rows), n = cnp.PyArray_DIM(rows, ndim - 1)
    cdef cnp.ndarray result
    for k in range(ndim):
        sizes[k] = count if k == ndim - 1 else cnp.PyArray_DIM(rows, k)
    result = new_array(INT64, ndim, sizes)
    cdef long long *places = <long long *> cnp.PyArray_DATA(result)
    cdef const void *x = cnp.PyArray_DATA(rows)
    with nogil:
        for k in range(cnp.PyArray_SIZE(rows) // n if n else 0):
            if dtype_code == FLOAT32:
                select(run(<const float *> x + k * n, n), run(places + k * count, count), largest)
            else:
                select(run(<const double *> x + k * n, n), run(places + k * count, count), largest)
    return result
