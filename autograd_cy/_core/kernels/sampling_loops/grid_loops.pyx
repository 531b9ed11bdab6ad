"""For each point, a weighted sum of indexed elements of a plane (knows no Tensor).

Arrays, all contiguous: planes x (batches, channels, n), index and weights (batches, points, taps), results g (batches,
channels, points). A negative index contributes nothing; the caller ensures that none is n or more. Threads share planes or
points, so that no two write to the same element.
"""

from autograd_cy._core.arrays.buffers cimport new_array
from autograd_cy._core.arrays.dtypes cimport FLOAT32, code_of
from autograd_cy._core.parallel.threads cimport parallel_for
from autograd_cy._core.runtime cimport numpy_api as cnp
from autograd_cy._core.runtime.numpy_api cimport npy_intp


cdef struct Points:         # the arrays of a shared loop; it writes x, g or the weights
    void *x
    void *g
    void *weights
    const long long *index
    npy_intp channels, points, taps, n


cdef Points points_of(cnp.ndarray x, cnp.ndarray g, cnp.ndarray index, cnp.ndarray weights):
    return Points(cnp.PyArray_DATA(x), cnp.PyArray_DATA(g), cnp.PyArray_DATA(weights),
                  <const long long *> cnp.PyArray_DATA(index), cnp.PyArray_DIM(x, 1), cnp.PyArray_DIM(index, 1),
                  cnp.PyArray_DIM(index, 2), cnp.PyArray_DIM(x, 2))


cdef cnp.ndarray planes_like(cnp.ndarray planes, npy_intp n):
    """A new array of as many planes, of n elements each."""
    cdef npy_intp[3] dims
    dims[0], dims[1], dims[2] = cnp.PyArray_DIM(planes, 0), cnp.PyArray_DIM(planes, 1), n
    return new_array(code_of(planes), 3, dims)


cdef cnp.ndarray gathered(cnp.ndarray x, cnp.ndarray index, cnp.ndarray weights):
    """For each plane and point, the sum of weights times elements of x."""
    cdef cnp.ndarray g = planes_like(x, cnp.PyArray_DIM(index, 1))
    cdef Points p = points_of(x, g, index, weights)
    if cnp.PyArray_SIZE(g):
        parallel_for(gathered_f32 if code_of(x) == FLOAT32 else gathered_f64, &p,
                     cnp.PyArray_DIM(x, 0) * p.channels, 2 * p.points * p.taps)
    return g


cdef cnp.ndarray scattered(cnp.ndarray g, cnp.ndarray index, cnp.ndarray weights, Py_ssize_t n):
    """The transpose of gathered(): planes of n elements."""
    cdef cnp.ndarray x = planes_like(g, n)
    cdef Points p = points_of(x, g, index, weights)
    if cnp.PyArray_SIZE(x):
        parallel_for(scattered_f32 if code_of(g) == FLOAT32 else scattered_f64, &p,
                     cnp.PyArray_DIM(g, 0) * p.channels, n + 2 * p.points * p.taps)
    return x


cdef cnp.ndarray products(cnp.ndarray g, cnp.ndarray x, cnp.ndarray index):
    """For each tap, the sum over channels of g times the element of x: the gradient of its weight."""
    cdef cnp.ndarray weights = new_array(code_of(x), 3, cnp.PyArray_DIMS(index))
    cdef Points p = points_of(x, g, index, weights)
    if cnp.PyArray_SIZE(weights):
        parallel_for(products_f32 if code_of(x) == FLOAT32 else products_f64, &p,
                     cnp.PyArray_DIM(index, 0) * p.points, 2 * p.channels * p.taps)
    return weights


cdef void gathered_f32(void *data, Py_ssize_t first, Py_ssize_t end) noexcept nogil:
    cdef Points *p = <Points *> data
    gathered_part[float](p, <float *> p.x, <float *> p.g, <float *> p.weights, first, end)


cdef void gathered_f64(void *data, Py_ssize_t first, Py_ssize_t end) noexcept nogil:
    cdef Points *p = <Points *> data
    gathered_part[double](p, <double *> p.x, <double *> p.g, <double *> p.weights, first, end)


cdef void scattered_f32(void *data, Py_ssize_t first, Py_ssize_t end) noexcept nogil:
    cdef Points *p = <Points *> data
    scattered_part[float](p, <float *> p.x, <float *> p.g, <float *> p.weights, first, end)


cdef void scattered_f64(void *data, Py_ssize_t first, Py_ssize_t end) noexcept nogil:
    cdef Points *p = <Points *> data
    scattered_part[double](p, <double *> p.x, <double *> p.g, <double *> p.weights, first, end)


cdef void products_f32(void *data, Py_ssize_t first, Py_ssize_t end) noexcept nogil:
    cdef Points *p = <Points *> data
    products_part[float](p, <float *> p.x, <float *> p.g, <float *> p.weights, first, end)


cdef void products_f64(void *data, Py_ssize_t first, Py_ssize_t end) noexcept nogil:
    cdef Points *p = <Points *> data
    products_part[double](p, <double *> p.x, <double *> p.g, <double *> p.weights, first, end)


cdef void gathered_part(const Points *p, const real *x, real *g, const real *weights, npy_intp first,
                        npy_intp end) noexcept nogil:
    cdef npy_intp plane, start, k, tap
    cdef long long i
    cdef real total
    for plane in range(first, end):
        start = plane // p.channels * p.points * p.taps
        for k in range(p.points):
            total = 0
            for tap in range(start + k * p.taps, start + (k + 1) * p.taps):
                i = p.index[tap]
                if i >= 0:
                    total = total + weights[tap] * x[plane * p.n + i]
            g[plane * p.points + k] = total


cdef void scattered_part(const Points *p, real *x, const real *g, const real *weights, npy_intp first,
                         npy_intp end) noexcept nogil:
    cdef npy_intp plane, start, k, tap
    cdef long long i
    for plane in range(first, end):
        start = plane // p.channels * p.points * p.taps
        for k in range(plane * p.n, (plane + 1) * p.n):
            x[k] = 0
        for k in range(p.points):
            for tap in range(start + k * p.taps, start + (k + 1) * p.taps):
                i = p.index[tap]
                if i >= 0:
                    x[plane * p.n + i] += weights[tap] * g[plane * p.points + k]


cdef void products_part(const Points *p, const real *x, const real *g, real *weights, npy_intp first,
                        npy_intp end) noexcept nogil:
    cdef npy_intp point, k, tap, plane, batch
    cdef long long i
    for point in range(first, end):
        batch, k = point // p.points, point % p.points
        for tap in range(point * p.taps, (point + 1) * p.taps):
            i = p.index[tap]
            weights[tap] = 0
            if i < 0:
                continue
            for plane in range(batch * p.channels, (batch + 1) * p.channels):
                weights[tap] += g[plane * p.points + k] * x[plane * p.n + i]
