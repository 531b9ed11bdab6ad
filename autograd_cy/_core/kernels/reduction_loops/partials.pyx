"""Reductions split along a reduced dimension into partial results, which are then reduced (knows no Tensor).

A long dimension with distinct results is split by `share`. If the outermost dimension is reduced, splitting another one
would take each thread through all rows, most of them in another thread's cache. So the outermost one is split into PARTS,
each reduced on its own. Their number doesn't depend on the number of threads, so neither do the bits.
"""

from libc.string cimport memcpy

from autograd_cy._core.arrays.buffers cimport new_array
from autograd_cy._core.arrays.dtypes cimport ITEMSIZE
from autograd_cy._core.kernels.loops cimport Walk, coalesce, share
from autograd_cy._core.parallel.threads cimport parallel_for, thresholds
from autograd_cy._core.runtime cimport numpy_api as cnp
from autograd_cy._core.runtime.numpy_api cimport npy_intp

cdef enum:
    PARTS = 16              # or as many as there are rows

cdef struct Parts:
    Walk *walk
    int n
    Reduction *reduction
    npy_intp count
    char *results
    npy_intp nbytes         # of one part's results


cdef int share_reduction(Walk *walk, int n, Reduction *reduction) except -1:
    """Call the reduction's part on a walk of n operands. The last one (and any with its address) is the result."""
    cdef Parts parts = Parts(walk, n, reduction, 0, NULL, ITEMSIZE[reduction.dtype_code])
    cdef Walk last
    cdef cnp.ndarray results
    cdef npy_intp[2] dims
    coalesce(walk, n)
    if not is_cut(walk, n):
        share(walk, n, reduction.part, reduction.data)
        return 0
    parts.count = min(walk.shape[0], <npy_intp> PARTS)
    dims[0], dims[1] = parts.count, 1
    if walk.ndim == 2 and walk.strides[n - 1][1] != 0:
        dims[1] = walk.shape[1]
        parts.nbytes *= dims[1]
    results = new_array(reduction.dtype_code, 2, dims)
    parts.results = cnp.PyArray_BYTES(results)
    fill(results, reduction.identity, ITEMSIZE[reduction.dtype_code])
    parallel_for(reduce_parts, &parts, parts.count, walk.shape[0] * (walk.shape[1] if walk.ndim == 2 else 1) // parts.count)
    last.ndim, last.shape[0], last.shape[1] = 2, parts.count, dims[1]
    last.data[0] = last.data[2] = walk.data[n - 1]
    last.data[1] = parts.results
    last.strides[0][0] = last.strides[2][0] = 0
    last.strides[0][1] = last.strides[2][1] = walk.strides[n - 1][1] if walk.ndim == 2 else 0
    last.strides[1][0], last.strides[1][1] = parts.nbytes, ITEMSIZE[reduction.dtype_code]
    coalesce(&last, 3)
    reduction.last(&last, 3, reduction.last_data)
    return 0


cdef bint is_cut(Walk *walk, int n) noexcept:
    """Whether a coalesced walk is a long one over rows or elements that are reduced to one."""
    if walk.ndim < 1 or walk.ndim > 2 or walk.strides[n - 1][0] != 0 or walk.shape[0] < thresholds.partial_rows:
        return False
    return walk.shape[0] * (walk.shape[1] if walk.ndim == 2 else 1) >= thresholds.partial_work


cdef void reduce_parts(void *data, Py_ssize_t first, Py_ssize_t end) noexcept nogil:
    cdef Parts *parts = <Parts *> data
    cdef Walk walk
    cdef npy_intp k, start
    cdef int j, n = parts.n
    for k in range(first, end):
        walk = parts.walk[0]
        start = walk.shape[0] * k // parts.count
        walk.shape[0] = walk.shape[0] * (k + 1) // parts.count - start
        for j in range(n):
            if parts.walk.data[j] == parts.walk.data[n - 1]:
                walk.data[j] = parts.results + k * parts.nbytes
                walk.strides[j][1] = ITEMSIZE[parts.reduction.dtype_code] if walk.strides[j][1] != 0 else 0
            else:
                walk.data[j] += start * walk.strides[j][0]
        parts.reduction.part(&walk, n, parts.reduction.data)


cdef void fill(cnp.ndarray array, const char *item, int itemsize) noexcept:
    """Set each element of a dense array."""
    cdef char *data = cnp.PyArray_BYTES(array)
    cdef npy_intp total, done
    if cnp.PyArray_NDIM(array) == 0:
        memcpy(data, item, itemsize)
        return
    total = cnp.PyArray_NBYTES(array)
    done = min(<npy_intp> itemsize, total)
    memcpy(data, item, done)
    while done < total:
        memcpy(data + done, data, min(done, total - done))
        done = min(2 * done, total)
