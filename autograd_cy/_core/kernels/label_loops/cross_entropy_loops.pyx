"""The loops of cross_entropy's forward over dense arrays, and helpers that its backward shares (knows no Tensor).

An array is viewed as (n, classes, inner), as in nll_loops: n * inner samples with a score for each class. Forward saves two
numbers per sample, its largest score and the sum of exp(score - largest) over the others. Backward computes softmax from
them, so the gradient is the only array of the input's size that is written. If inner is 1 a sample is a row; else it is a
column, and WIDTH columns are processed together. Threads share rows, or blocks of columns. The scores of ignored samples
have no effect.
"""

from autograd_cy._core.arrays.buffers cimport new_array
from autograd_cy._core.arrays.dtypes cimport FLOAT32, code_of
from autograd_cy._core.kernels.reduction_loops cimport real
from autograd_cy._core.kernels.softmax_loops cimport WIDTH, blocks_of, exponential, logs_of_sums, rests_of_rows
from autograd_cy._core.parallel.threads cimport Task, parallel_for
from autograd_cy._core.runtime cimport numpy_api as cnp
from autograd_cy._core.runtime.numpy_api cimport npy_intp


# Declares the float and double versions that Cython generates from fused functions.
cdef extern from *:
    """
    #include "clones.h"
    #undef DECLARE_CLONED
    #define DECLARE_CLONED(real, fuse) \\
        AUTOGRAD_CY_CLONED static void fuse##autograd_cy_sum_columns( \\
            real const *, real *, real *, npy_intp, npy_intp, npy_intp);
    DECLARE_CLONED(float, __pyx_fuse_0)
    DECLARE_CLONED(double, __pyx_fuse_1)
    """

# samples

cdef npy_intp next_span(const Layout *p, npy_intp unit, npy_intp end, Span *span) noexcept nogil:
    """The span from a unit (a row, or a block of columns) on. Returns the unit after it."""
    cdef npy_intp blocks = blocks_of(p.inner), start
    if p.inner == 1:
        span[0] = Span(unit, min(end - unit, max(BLOCK // p.classes, 1)), unit * p.classes, p.classes, 1)
        return unit + span.count
    start = unit % blocks * WIDTH
    span[0] = Span(unit // blocks * p.inner + start, min(p.inner - start, <npy_intp> WIDTH),
                   unit // blocks * p.classes * p.inner + start, 1, p.inner)
    return unit + 1


cdef void share_samples(Task part, Samples *samples, bint keep_gil) noexcept nogil:
    cdef const Layout *p = samples.layout
    if p.n == 0 or p.classes == 0 or p.inner == 0:
        return
    if p.inner == 1:
        parallel_for(part, samples, p.n, p.classes, 1, keep_gil)
    else:
        parallel_for(part, samples, p.n * blocks_of(p.inner), p.classes * WIDTH, 1, keep_gil)


cdef Samples samples_of(const Layout *layout, cnp.ndarray x, cnp.ndarray kept) noexcept:
    cdef char *tops = cnp.PyArray_BYTES(kept)
    return Samples(layout, cnp.PyArray_DATA(x), tops, tops + cnp.PyArray_STRIDE(kept, 0), NULL, NULL, False, 1, NULL, NULL)


# forward

cdef void normalize_f32(void *samples, Py_ssize_t unit, Py_ssize_t end) noexcept nogil:
    normalize_part(<const Samples *> samples, unit, end, <float> 0)


cdef void normalize_f64(void *samples, Py_ssize_t unit, Py_ssize_t end) noexcept nogil:
    normalize_part(<const Samples *> samples, unit, end, <double> 0)


cdef void normalize_part(const Samples *p, npy_intp unit, npy_intp end, real kind) noexcept nogil:
    cdef const Layout *layout = p.layout
    cdef const real *x
    cdef real *tops
    cdef real *rests
    cdef real *logs
    cdef Span span
    cdef npy_intp k
    cdef long long t
    while unit < end:
        unit = next_span(layout, unit, end, &span)
        x = <const real *> p.x + span.offset
        tops, rests, logs = <real *> p.tops + span.first, <real *> p.rests + span.first, <real *> p.logs + span.first
        if layout.inner == 1:
            rests_of_rows(x, tops, rests, span.count, layout.classes, False)
        else:
            sum_columns(x, tops, rests, layout.classes, layout.inner, span.count)
        logs_of_sums(rests, logs, span.count)
        for k in range(span.count):
            t = layout.target[span.first + k]
            if counts(layout, t):
                logs[k] = x[k * span.step + t * span.stride] - tops[k] - logs[k]


cdef void sum_columns "autograd_cy_sum_columns"(
        const real *x, real *tops, real *rests, npy_intp n, npy_intp stride, npy_intp width) noexcept nogil:
    """A few columns of n elements each, `stride` elements apart."""
    cdef real[WIDTH] top, total, rest
    cdef real term
    cdef npy_intp i, j
    for j in range(width):
        top[j] = x[j]
        total[j] = rest[j] = 0
    for i in range(1, n):
        for j in range(width):
            top[j] = x[i * stride + j] if x[i * stride + j] > top[j] else top[j]
    for i in range(n):
        for j in range(width):
            term = exponential(x[i * stride + j] - top[j])
            total[j] = total[j] + term
            rest[j] = rest[j] + (0 if term == 1 else term)
    for j in range(width):
        tops[j] = top[j]
        rests[j] = rest[j] if total[j] < 2 else total[j] - 1


# arrays

cdef cnp.ndarray log_probabilities(cnp.ndarray x, cnp.ndarray target, long long ignore_index, cnp.ndarray kept):
    """The logarithm of each target's probability under softmax(x); undefined if the target is ignored or no class.

    Fills `kept`, (2, samples) of x's type (float32 or float64), for the gradient.
    """
    cdef int dtype_code = code_of(x)
    cdef npy_intp count = cnp.PyArray_DIM(kept, 1)
    cdef cnp.ndarray logs = new_array(dtype_code, 1, &count)
    cdef Layout layout = layout_of(x, target, None, ignore_index)
    cdef Samples samples = samples_of(&layout, x, kept)
    samples.logs = cnp.PyArray_DATA(logs)
    share_samples(normalize_f32 if dtype_code == FLOAT32 else normalize_f64, &samples, False)
    return logs
