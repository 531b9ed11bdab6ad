"""The elements of an array that stand for a class: summed up, and spread over zeros (knows no Tensor).

An array (classes,), (n, classes) or (n, classes, inner, ...) goes with a target of class numbers, of that shape without
the classes, and perhaps a weight for each class.
"""

from cython cimport floating
cimport numpy as cnp
from numpy cimport npy_intp

from autograd_cy._core.buffers cimport new_array, new_zeros
from autograd_cy._core.dtypes cimport FLOAT32, INT64, code_of
from autograd_cy._core.losses cimport flat, in_type, kernel_code

cnp.import_array()

cdef struct Layout:
    npy_intp n, classes, inner
    long long ignore_index              # of the targets that count for nothing
    const long long *target             # n * inner
    const void *weight                  # of each class; NULL: all 1


cdef Layout layout_of(cnp.ndarray x, cnp.ndarray target, cnp.ndarray weight, long long ignore_index) noexcept:
    cdef int ndim = cnp.PyArray_NDIM(x), axis
    cdef Layout p
    p.n = cnp.PyArray_DIM(x, 0) if ndim > 1 else 1
    p.classes = cnp.PyArray_DIM(x, 1 if ndim > 1 else 0)
    p.inner = 1
    for axis in range(2, ndim):
        p.inner *= cnp.PyArray_DIM(x, axis)
    p.ignore_index = ignore_index
    p.target = <const long long *> cnp.PyArray_DATA(target)
    p.weight = NULL if weight is None else cnp.PyArray_DATA(weight)
    return p


cdef npy_intp pick(const Layout *p, const floating *x, floating *losses, Totals *totals) noexcept nogil:
    """Sum up -weight * x at the targets, and the weights; write each loss to `losses`, unless that is NULL.

    Returns the position of the first target that is no class, or -1.
    """
    cdef npy_intp i, j, k = 0
    cdef long long t
    cdef floating w = 1, loss
    cdef const floating *weight = <const floating *> p.weight
    totals[0] = Totals(0, 0)
    for i in range(p.n):
        for j in range(p.inner):
            t = p.target[k]
            loss = 0
            if t != p.ignore_index:
                if t < 0 or t >= p.classes:
                    return k
                if weight != NULL:
                    w = weight[t]
                loss = -w * x[(i * p.classes + t) * p.inner + j]
                totals.loss += loss
                totals.weight += w
            if losses != NULL:
                losses[k] = loss
            k += 1
    return -1


cdef void put(const Layout *p, const floating *g, bint each, double divisor, floating *out) noexcept nogil:
    """out = -weight * g / divisor at the targets; `each` of them has a g of its own, or one is for all."""
    cdef npy_intp i, j, k = 0
    cdef long long t
    cdef floating w = 1
    cdef const floating *weight = <const floating *> p.weight
    for i in range(p.n):
        for j in range(p.inner):
            t = p.target[k]
            if t != p.ignore_index and 0 <= t < p.classes:     # somebody may have written to the array since
                if weight != NULL:
                    w = weight[t]
                out[(i * p.classes + t) * p.inner + j] = <floating> (-w * g[k if each else 0] / divisor)
            k += 1


cdef cnp.ndarray picked(cnp.ndarray x, cnp.ndarray target, cnp.ndarray weight, long long ignore_index, bint each,
                        Totals *totals):
    """The sums of -weight * x at the targets and of the weights, in `totals`; with `each` the array of the single ones."""
    cdef int own = code_of(x), code = kernel_code(x)
    x, target = flat(x, code), flat(target, INT64)
    if weight is not None:
        weight = flat(weight, code)
    cdef Layout layout = layout_of(x, target, weight, ignore_index)
    cdef cnp.ndarray out = None
    cdef void *losses = NULL
    cdef npy_intp wrong
    if each:
        out = new_array(code, cnp.PyArray_NDIM(target) if cnp.PyArray_NDIM(x) > 1 else 0, cnp.PyArray_DIMS(target))
        losses = cnp.PyArray_DATA(out)
    if code == FLOAT32:
        wrong = pick(&layout, <float *> cnp.PyArray_DATA(x), <float *> losses, totals)
    else:
        wrong = pick(&layout, <double *> cnp.PyArray_DATA(x), <double *> losses, totals)
    if wrong >= 0:
        raise IndexError(f"Target {layout.target[wrong]} is out of bounds.")
    return in_type(out, own) if each else None


cdef cnp.ndarray spread(cnp.ndarray g, tuple sizes, cnp.ndarray target, cnp.ndarray weight, long long ignore_index,
                        bint each, double divisor):
    """The transposed operation: zeros of those sizes, with -weight * g / divisor at the targets."""
    cdef int own = code_of(g), code = kernel_code(g), axis, ndim = len(sizes)
    cdef npy_intp[4] dims
    for axis in range(ndim):
        dims[axis] = sizes[axis]
    cdef cnp.ndarray out = new_zeros(code, ndim, dims)
    g, target = flat(g, code), flat(target, INT64)
    if weight is not None:
        weight = flat(weight, code)
    cdef Layout layout = layout_of(out, target, weight, ignore_index)
    if code == FLOAT32:
        put(&layout, <float *> cnp.PyArray_DATA(g), each, divisor, <float *> cnp.PyArray_DATA(out))
    else:
        put(&layout, <double *> cnp.PyArray_DATA(g), each, divisor, <double *> cnp.PyArray_DATA(out))
    return in_type(out, own)
