"""The elements of an array at the target classes: their sums, and the transpose (knows no Tensor).

The array is (classes,), (n, classes) or (n, classes, inner, ...). The target holds class numbers and has the same shape
without the classes. There may be a weight for each class.
"""

from cython cimport floating

from autograd_cy._core.arrays.buffers cimport MAX_DIMS, flat, in_type, new_array, new_zeros, sizes_of
from autograd_cy._core.arrays.dtypes cimport FLOAT32, INT64, code_of, kernel_code
from autograd_cy._core.runtime cimport numpy_api as cnp
from autograd_cy._core.runtime.numpy_api cimport npy_intp


cdef Layout layout_of(cnp.ndarray x, cnp.ndarray target, cnp.ndarray weight, long long ignore_index) except *:
    """For dense arrays of the loops' types. RuntimeError if ndarray.resize() changed one since it was saved."""
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
    if cnp.PyArray_SIZE(target) != p.n * p.inner or (weight is not None and cnp.PyArray_SIZE(weight) != p.classes):
        raise RuntimeError("nll_loss: the memory of a saved target or weight was resized")
    return p


cdef int check_gradient(const Layout *p, cnp.ndarray g, bint each) except -1:
    """Refuse a gradient unless it has one element, or one per target if `each`."""
    cdef npy_intp count = p.n * p.inner if each else 1
    if cnp.PyArray_SIZE(g) != count:
        raise RuntimeError(f"nll_loss: expected a gradient of {count} elements, got one of shape {list(sizes_of(g))}")
    return 0


cdef npy_intp pick(const Layout *p, const floating *x, bint picked, floating *losses, Totals *totals) noexcept nogil:
    """Sum -weight * x at the targets, and the weights; write each loss to `losses` unless that is NULL.

    `picked`: x holds only the elements at the targets. Returns the position of the first target that is no class, or -1.
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
                loss = -w * x[k if picked else (i * p.classes + t) * p.inner + j]
                totals.loss += loss
                totals.weight += w
            if losses != NULL:
                losses[k] = loss
            k += 1
    return -1


cdef void put(const Layout *p, const floating *g, bint each, double divisor, floating *out) noexcept nogil:
    """out = -weight * g / divisor at the targets, with one g for `each` target or one for all."""
    cdef npy_intp i, j, k = 0
    cdef long long t
    cdef floating w = 1
    cdef const floating *weight = <const floating *> p.weight
    for i in range(p.n):
        for j in range(p.inner):
            t = p.target[k]
            if counts(p, t):            # the target may have been overwritten since
                if weight != NULL:
                    w = weight[t]
                out[(i * p.classes + t) * p.inner + j] = <floating> (-w * g[k if each else 0] / divisor)
            k += 1


cdef cnp.ndarray picked(cnp.ndarray x, cnp.ndarray target, cnp.ndarray weight, long long ignore_index, bint each,
                        Totals *totals, cnp.ndarray logs=None):
    """The sums of -weight * x at the targets and of the weights, in `totals`; with `each`, returns the array of losses.

    `logs` gives the elements at the targets, in x's computing type; then only the sizes of x matter.
    """
    cdef int own = code_of(x), dtype_code = kernel_code(x)
    x, target = flat(x, dtype_code), flat(target, INT64)
    if weight is not None:
        weight = flat(weight, dtype_code)
    cdef Layout layout = layout_of(x, target, weight, ignore_index)
    cdef cnp.ndarray out = None
    cdef void *data = cnp.PyArray_DATA(x if logs is None else logs)
    cdef void *losses = NULL
    cdef npy_intp wrong
    if each:
        out = new_array(dtype_code, cnp.PyArray_NDIM(target) if cnp.PyArray_NDIM(x) > 1 else 0, cnp.PyArray_DIMS(target))
        losses = cnp.PyArray_DATA(out)
    if dtype_code == FLOAT32:
        wrong = pick(&layout, <float *> data, logs is not None, <float *> losses, totals)
    else:
        wrong = pick(&layout, <double *> data, logs is not None, <double *> losses, totals)
    if wrong >= 0:
        raise IndexError(f"Target {layout.target[wrong]} is out of bounds.")
    return in_type(out, own) if each else None


cdef cnp.ndarray spread(cnp.ndarray g, tuple sizes, cnp.ndarray target, cnp.ndarray weight, long long ignore_index,
                        bint each, double divisor):
    """The transpose: zeros of these sizes, with -weight * g / divisor at the targets."""
    cdef int own = code_of(g), dtype_code = kernel_code(g), axis, ndim = len(sizes)
    cdef npy_intp[MAX_DIMS] dims
    for axis in range(ndim):
        dims[axis] = sizes[axis]
    cdef cnp.ndarray out = new_zeros(dtype_code, ndim, dims)
    g, target = flat(g, dtype_code), flat(target, INT64)
    if weight is not None:
        weight = flat(weight, dtype_code)
    cdef Layout layout = layout_of(out, target, weight, ignore_index)
    check_gradient(&layout, g, each)
    if dtype_code == FLOAT32:
        put(&layout, <float *> cnp.PyArray_DATA(g), each, divisor, <float *> cnp.PyArray_DATA(out))
    else:
        put(&layout, <double *> cnp.PyArray_DATA(g), each, divisor, <double *> cnp.PyArray_DATA(out))
    return in_type(out, own)
