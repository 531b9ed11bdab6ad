"""Dropout: a key and an element's number decide whether it is dropped or scaled (knows no Tensor).

So there is no mask to save: backward recomputes it, which takes as long as reading one. An element's random bits are its
number in C order after two rounds of a 32-bit hash, each with half of the key. They don't depend on the number of threads.

Source: C. Wellons, "Prospecting for hash functions" (2018), with T. IronBorn's constants of 2022: the bias is below 2**-22.
"""

from cython cimport floating

from autograd_cy._core.arrays.buffers cimport copy_in_order, flat, in_type, new_array
from autograd_cy._core.arrays.dtypes cimport FLOAT32, code_of, kernel_code
from autograd_cy._core.parallel.threads cimport parallel_for
from autograd_cy._core.runtime cimport numpy_api as cnp

cdef extern from *:
    """
    #include "clones.h"
    AUTOGRAD_CY_CLONED AUTOGRAD_CY_FLAT static void autograd_cy_drop_f32(void *, Py_ssize_t, Py_ssize_t);
    AUTOGRAD_CY_CLONED AUTOGRAD_CY_FLAT static void autograd_cy_drop_f64(void *, Py_ssize_t, Py_ssize_t);
    """

cdef struct Drop:
    const void *x
    void *out
    unsigned long long key
    unsigned int least          # an element stays if its bits are not less
    double scale


cdef inline unsigned int mixed(unsigned int bits) noexcept nogil:
    bits = (bits ^ (bits >> 16)) * <unsigned int> 0x21F0AAAD
    bits = (bits ^ (bits >> 15)) * <unsigned int> 0x735A2D97
    return bits ^ (bits >> 15)


cdef inline void drop(const floating *x, floating *out, const Drop *p, Py_ssize_t first, Py_ssize_t end) noexcept nogil:
    cdef unsigned int low = <unsigned int> p.key, high = <unsigned int> (p.key >> 32), least = p.least, bits
    cdef floating scale = <floating> p.scale
    cdef Py_ssize_t i, start = first, stop
    while start < end:                      # each pass: numbers with the same upper half
        stop = min(end, ((start >> 32) + 1) << 32)
        high = <unsigned int> (p.key >> 32) + <unsigned int> (start >> 32) * <unsigned int> 0x9E3779B9
        for i in range(start, stop):
            bits = mixed(mixed((<unsigned int> i) ^ low) + high)
            out[i] = x[i] * (scale if bits >= least else 0)
        start = stop


cdef void drop_f32 "autograd_cy_drop_f32"(void *data, Py_ssize_t first, Py_ssize_t end) noexcept nogil:
    cdef Drop *p = <Drop *> data
    drop(<const float *> p.x, <float *> p.out, p, first, end)


cdef void drop_f64 "autograd_cy_drop_f64"(void *data, Py_ssize_t first, Py_ssize_t end) noexcept nogil:
    cdef Drop *p = <Drop *> data
    drop(<const double *> p.x, <double *> p.out, p, first, end)


cdef cnp.ndarray dropped(cnp.ndarray x, unsigned long long key, double p):
    """A new array in which each element is 0 with probability p (below 1), else x / (1 - p), in the memory order of x."""
    cdef int own = code_of(x), dtype_code = kernel_code(x)
    cdef cnp.ndarray dense = flat(x, dtype_code), ordered
    cdef cnp.ndarray out = new_array(dtype_code, cnp.PyArray_NDIM(x), cnp.PyArray_DIMS(x))
    cdef Drop job
    job.x, job.out, job.key = cnp.PyArray_DATA(dense), cnp.PyArray_DATA(out), key
    job.least, job.scale = <unsigned int> min(p * 4294967296.0, 4294967295.0), 1 / (1 - p)
    if dtype_code == FLOAT32:
        parallel_for(drop_f32, &job, cnp.PyArray_SIZE(x), 1, 64)
    else:
        parallel_for(drop_f64, &job, cnp.PyArray_SIZE(x), 2, 64)
    out = in_type(out, own)
    if cnp.PyArray_IS_C_CONTIGUOUS(x):
        return out
    ordered = copy_in_order(x, own)
    cnp.PyArray_CopyInto(ordered, out)
    return ordered
