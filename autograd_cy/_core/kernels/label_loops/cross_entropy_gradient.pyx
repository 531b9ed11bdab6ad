"""The loops of cross_entropy's backward over dense arrays (knows no Tensor): softmax, minus 1 at the target, times a factor.

A sample's factor is its incoming gradient times the weight of its class, over the divisor of the losses.
"""

from autograd_cy._core.arrays.buffers cimport sizes_of
from autograd_cy._core.arrays.dtypes cimport FLOAT32, code_of
from autograd_cy._core.kernels.reduction_loops cimport real
from autograd_cy._core.kernels.softmax_loops cimport WIDTH, exponential
from autograd_cy._core.parallel.threads cimport thresholds
from autograd_cy._core.runtime cimport numpy_api as cnp
from autograd_cy._core.runtime.numpy_api cimport npy_intp


# Declares the float and double versions that Cython generates from fused functions.
cdef extern from *:
    """
    #include "clones.h"
    #undef DECLARE_CLONED
    #define DECLARE_CLONED(real, fuse) \\
        AUTOGRAD_CY_CLONED AUTOGRAD_CY_FLAT static void fuse##autograd_cy_gradient_of_row( \\
            real const *, real, real, real const *, real *, npy_intp); \\
        AUTOGRAD_CY_CLONED static void fuse##autograd_cy_gradient_of_short_rows( \\
            real const *, real const *, real const *, npy_intp const *, real const *, real *, npy_intp, npy_intp); \\
        AUTOGRAD_CY_CLONED static void fuse##autograd_cy_gradient_of_columns( \\
            real const *, real const *, real const *, npy_intp const *, real const *, real *, npy_intp, npy_intp, npy_intp); \\
        AUTOGRAD_CY_CLONED static void fuse##autograd_cy_gradient_at_targets( \\
            real *, real const *, real const *, real const *, npy_intp);
    DECLARE_CLONED(float, __pyx_fuse_0)
    DECLARE_CLONED(double, __pyx_fuse_1)
    """


cdef void gradient_f32(void *samples, Py_ssize_t unit, Py_ssize_t end) noexcept nogil:
    gradient_part(<const Samples *> samples, unit, end, <float> 0)


cdef void gradient_f64(void *samples, Py_ssize_t unit, Py_ssize_t end) noexcept nogil:
    gradient_part(<const Samples *> samples, unit, end, <double> 0)


cdef void gradient_part(const Samples *p, npy_intp unit, npy_intp end, real kind) noexcept nogil:
    cdef npy_intp n = p.layout.classes, k
    cdef real[BLOCK] factors, values
    cdef npy_intp[BLOCK] places
    cdef const real *x
    cdef const real *tops
    cdef const real *addend
    cdef real *out
    cdef Span span
    while unit < end:
        unit = next_span(p.layout, unit, end, &span)
        x, tops, out = <const real *> p.x + span.offset, <const real *> p.tops + span.first, <real *> p.out + span.offset
        addend = moved(<const real *> p.addend, span.offset)
        find_targets(p, &span, x, tops, addend, &places[0], &factors[0], &values[0])
        if p.layout.inner > 1:
            gradient_of_columns(x, tops, &factors[0], &places[0], addend, out, n, p.layout.inner, span.count)
        elif n < thresholds.long_row:
            gradient_of_short_rows(x, tops, &factors[0], &places[0], addend, out, span.count, n)
        else:
            for k in range(span.count):
                if places[k] >= 0:
                    gradient_of_row(x + k * n, tops[k], factors[k], moved(addend, k * n), out + k * n, n)
                else:
                    no_gradient(moved(addend, k * n), out + k * n, n)
        for k in range(span.count):
            if places[k] >= 0:
                out[places[k]] = values[k]


cdef void find_targets(const Samples *p, const Span *span, const real *x, const real *tops, const real *addend,
                       npy_intp *places, real *factors, real *values) noexcept nogil:
    """For each sample of a span: the place of its target, or -1 if it is ignored; the factor of its exps; the value at its
    target, computed before anything is written because the output may overwrite the scores or the addend."""
    cdef const real *g = <const real *> p.g
    cdef const real *weight = <const real *> p.layout.weight
    cdef const real *rests = <const real *> p.rests + span.first
    cdef real[BLOCK] coefficients
    cdef real w = 1
    cdef npy_intp k
    cdef long long t
    for k in range(span.count):
        places[k] = -1
        factors[k] = values[k] = coefficients[k] = 0
        t = p.layout.target[span.first + k]
        if counts(p.layout, t):
            places[k] = k * span.step + t * span.stride
            if weight != NULL:
                w = weight[t]
            coefficients[k] = <real> (w * g[span.first + k if p.each else 0] / p.divisor)
            factors[k] = coefficients[k] / (1 + rests[k])
            values[k] = x[places[k]] - tops[k]
    gradient_at_targets(values, factors, &coefficients[0], rests, span.count)
    if addend != NULL:
        for k in range(span.count):
            if places[k] >= 0:
                values[k] = addend[places[k]] + values[k]


cdef void gradient_at_targets "autograd_cy_gradient_at_targets"(
        real *values, const real *factors, const real *coefficients, const real *rests, npy_intp n) noexcept nogil:
    """From score - largest: (softmax - 1) * coefficient. For the largest score, the others' share gives 1 - softmax."""
    cdef real value
    cdef npy_intp k
    for k in range(n):
        value = exponential(values[k]) * factors[k] - coefficients[k]
        values[k] = -factors[k] * rests[k] if values[k] == 0 else value


cdef inline const real *moved(const real *addend, npy_intp by) noexcept nogil:
    if addend == NULL:
        return NULL
    return addend + by


cdef inline real added(const real *addend, npy_intp j, real value) noexcept nogil:
    return value if addend == NULL else addend[j] + value


cdef inline void no_gradient(const real *addend, real *out, npy_intp n) noexcept nogil:
    cdef npy_intp j
    for j in range(n):
        out[j] = added(addend, j, 0)


cdef void gradient_of_row "autograd_cy_gradient_of_row"(
        const real *x, real top, real factor, const real *addend, real *out, npy_intp n) noexcept nogil:
    cdef npy_intp j
    for j in range(n):
        out[j] = added(addend, j, exponential(x[j] - top) * factor)


cdef void gradient_of_short_rows "autograd_cy_gradient_of_short_rows"(
        const real *x, const real *tops, const real *factors, const npy_intp *places, const real *addend, real *out,
        npy_intp rows, npy_intp n) noexcept nogil:
    """Several rows at once, so that the loop over their elements is worth vectorizing."""
    cdef real[BLOCK] terms
    cdef npy_intp row, j
    for row in range(rows):
        for j in range(n):
            terms[row * n + j] = x[row * n + j] - tops[row] if places[row] >= 0 else 0
    for j in range(rows * n):
        terms[j] = exponential(terms[j])
    for row in range(rows):
        for j in range(n):
            out[row * n + j] = added(addend, row * n + j, terms[row * n + j] * factors[row])


cdef void gradient_of_columns "autograd_cy_gradient_of_columns"(
        const real *x, const real *tops, const real *factors, const npy_intp *places, const real *addend, real *out,
        npy_intp n, npy_intp stride, npy_intp width) noexcept nogil:
    """A few columns of n elements each, `stride` elements apart."""
    cdef real[WIDTH] counted
    cdef real value
    cdef npy_intp i, j
    for j in range(width):
        counted[j] = places[j] >= 0
    for i in range(n):
        if addend == NULL:
            for j in range(width):
                value = exponential(x[i * stride + j] - tops[j]) * factors[j]
                out[i * stride + j] = value if counted[j] != 0 else 0
        else:
            for j in range(width):
                value = exponential(x[i * stride + j] - tops[j]) * factors[j]
                out[i * stride + j] = addend[i * stride + j] + (value if counted[j] != 0 else 0)


cdef int put_gradient(cnp.ndarray g, cnp.ndarray x, cnp.ndarray target, cnp.ndarray weight, long long ignore_index,
                      cnp.ndarray kept, bint each, double divisor, cnp.ndarray addend, cnp.ndarray out) except -1:
    """Write the gradient of x, plus the addend if there is one, to `out`, which may be x or the addend.

    Keeps the GIL if `out` is the addend: it may be a `.grad`, to which other threads may add.
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
