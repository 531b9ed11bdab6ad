"""The loops of cross_entropy's backward over dense arrays (knows no Tensor): softmax, less 1 at the target, times a factor.

The factor is a sample's own: the incoming gradient times the weight of its class, by what the losses were divided by.
"""

cimport numpy as cnp
from numpy cimport npy_intp

from autograd_cy._core.arrays.buffers cimport sizes_of
from autograd_cy._core.arrays.dtypes cimport FLOAT32, code_of
from autograd_cy._core.kernels.borrowed cimport matrix, real
from autograd_cy._core.kernels.cross_entropy_loops cimport (
    BLOCK, Samples, Span, columns_of, each_of, next_span, samples_of, scores_of, share_samples)
from autograd_cy._core.kernels.nll_loops cimport Layout, check_gradient, counts, layout_of
from autograd_cy._core.kernels.softmax_loops cimport WIDTH, exponential
from autograd_cy._core.runtime.thresholds cimport thresholds

cnp.import_array()

cdef extern from *:
    """
    #include "clones.h"
    AUTOGRAD_CY_FLAT_TASK(autograd_cy_gradient_f32)
    AUTOGRAD_CY_FLAT_TASK(autograd_cy_gradient_f64)
    """

cdef enum:
    IGNORED = -1            # in place of a target


cdef void gradient_f32 "autograd_cy_gradient_f32"(void *samples, Py_ssize_t unit, Py_ssize_t end) noexcept nogil:
    gradient_part(<const Samples *> samples, unit, end, <float> 0)


cdef void gradient_f64 "autograd_cy_gradient_f64"(void *samples, Py_ssize_t unit, Py_ssize_t end) noexcept nogil:
    gradient_part(<const Samples *> samples, unit, end, <double> 0)


cdef inline void gradient_part(const Samples *p, npy_intp unit, npy_intp end, real kind) noexcept nogil:
    cdef real[BLOCK] factors, values
    cdef long long[BLOCK] targets
    cdef Span span
    while unit < end:
        unit = next_span(p.layout, unit, end, &span)
        find_targets(p, &span, scores_of(p.x, kind, p, &span), each_of(p.tops, kind, &span), each_of(p.sums, kind, &span),
                     scores_of(p.addend, kind, p, &span), targets, factors, values)
        if p.layout.inner > 1:
            gradient_of_columns(columns_of(p.x, kind, p, &span), each_of(p.tops, kind, &span), factors, targets,
                                columns_of(p.addend, kind, p, &span), columns_of(p.out, kind, p, &span))
        elif p.layout.classes < thresholds.long_row:
            gradient_of_short_rows(rows_of(p.x, kind, p, &span), each_of(p.tops, kind, &span), factors, targets,
                                   rows_of(p.addend, kind, p, &span), rows_of(p.out, kind, p, &span))
        else:
            gradient_of_rows(rows_of(p.x, kind, p, &span), each_of(p.tops, kind, &span), factors, targets,
                             rows_of(p.addend, kind, p, &span), rows_of(p.out, kind, p, &span))
        put_values(scores_of(p.out, kind, p, &span), targets, values)


cdef inline real[:, ::1] rows_of(const void *data, real kind, const Samples *p, const Span *span) noexcept nogil:
    """The scores [sample, class] of a span where inner is 1, or what goes with them; none without data."""
    return matrix(<const real *> data + span.offset, 0 if data == NULL else span.count, p.layout.classes)


cdef inline void find_targets(
        const Samples *p, const Span *span, const real[:, :] x, const real[::1] tops, const real[::1] sums,
        const real[:, :] addend, long long *targets, real *factors, real *values) noexcept nogil:
    """Of each sample of a span: its target, or IGNORED; the factor of its exps; what is to stand at the target, which is
    computed before anything is written, for that may be over the scores or the addend."""
    cdef const real *g = <const real *> p.g
    cdef const real *weight = <const real *> p.layout.weight
    cdef real[BLOCK] coefficients
    cdef real w = 1
    cdef npy_intp k
    cdef long long t
    for k in range(span.count):
        targets[k] = IGNORED
        factors[k] = values[k] = coefficients[k] = 0
        t = p.layout.target[span.first + k]
        if counts(p.layout, t):
            targets[k] = t
            if weight != NULL:
                w = weight[t]
            coefficients[k] = <real> (w * g[span.first + k if p.each else 0] / p.divisor)
            factors[k] = coefficients[k] / sums[k]
            values[k] = x[k, t] - tops[k]
    for k in range(span.count):
        values[k] = exponential(values[k]) * factors[k] - coefficients[k]
    if addend.shape[0] > 0:
        for k in range(span.count):
            if targets[k] != IGNORED:
                values[k] = addend[k, targets[k]] + values[k]


cdef inline void put_values(real[:, :] out, const long long *targets, const real *values) noexcept nogil:
    cdef npy_intp k
    for k in range(out.shape[0]):
        if targets[k] != IGNORED:
            out[k, targets[k]] = values[k]


cdef inline real added(const real[:, ::1] addend, npy_intp row, npy_intp j, real value) noexcept nogil:
    return addend[row, j] + value if addend.shape[0] > 0 else value


cdef inline void gradient_of_rows(const real[:, ::1] x, const real[::1] tops, const real *factors, const long long *targets,
                                  const real[:, ::1] addend, real[:, ::1] out) noexcept nogil:
    cdef npy_intp row, j
    for row in range(x.shape[0]):
        if targets[row] == IGNORED:
            for j in range(x.shape[1]):
                out[row, j] = added(addend, row, j, 0)
        else:
            for j in range(x.shape[1]):
                out[row, j] = added(addend, row, j, exponential(x[row, j] - tops[row]) * factors[row])


cdef inline void gradient_of_short_rows(
        const real[:, ::1] x, const real[::1] tops, const real *factors, const long long *targets,
        const real[:, ::1] addend, real[:, ::1] out) noexcept nogil:
    """So many rows that the loop over all their elements is worth vectorizing."""
    cdef real[BLOCK] terms
    cdef npy_intp row, j, n = x.shape[1]
    for row in range(x.shape[0]):
        for j in range(n):
            terms[row * n + j] = x[row, j] - tops[row] if targets[row] != IGNORED else 0
    for j in range(x.shape[0] * n):
        terms[j] = exponential(terms[j])
    for row in range(x.shape[0]):
        for j in range(n):
            out[row, j] = added(addend, row, j, terms[row * n + j] * factors[row])


cdef inline void gradient_of_columns(
        const real[:, ::1] x, const real[::1] tops, const real *factors, const long long *targets,
        const real[:, ::1] addend, real[:, ::1] out) noexcept nogil:
    """At most WIDTH columns."""
    cdef real[WIDTH] counted
    cdef real value
    cdef npy_intp i, j, width = x.shape[1]
    for j in range(width):
        counted[j] = targets[j] != IGNORED
    for i in range(x.shape[0]):
        for j in range(width):
            value = exponential(x[i, j] - tops[j]) * factors[j]
            out[i, j] = added(addend, i, j, value if counted[j] != 0 else 0)


cdef int put_gradient(cnp.ndarray g, cnp.ndarray x, cnp.ndarray target, cnp.ndarray weight, long long ignore_index,
                      cnp.ndarray kept, bint each, double divisor, cnp.ndarray addend, cnp.ndarray out) except -1:
    """Write the gradient for x, plus the addend if there is one, to `out`, which may be x or the addend.

    That may be a `.grad`, to which other threads may add, too: the GIL is kept then.
    """
    cdef Layout layout = layout_of(x, target, weight, ignore_index)
    cdef Samples samples = samples_of(&layout, x, kept)
    if layout.n * layout.inner != cnp.PyArray_DIM(kept, 1):
        raise RuntimeError(f"cross_entropy: the memory of a saved tensor was resized, to {list(sizes_of(x))}")
    check_gradient(&layout, g, each)
    samples.g, samples.each, samples.divisor = cnp.PyArray_DATA(g), each, divisor
    samples.addend = NULL if addend is None else cnp.PyArray_DATA(addend)
    samples.out = cnp.PyArray_DATA(out)
    share_samples(gradient_f32 if code_of(x) == FLOAT32 else gradient_f64, &samples, out is addend)
    return 0
