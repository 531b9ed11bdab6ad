"""The loops of cross_entropy's forward over dense arrays, and what those of its backward share with them."""

cimport numpy as cnp
from numpy cimport npy_intp

from autograd_cy._core.kernels.borrowed cimport plane, real, rows_apart, run
from autograd_cy._core.kernels.nll_loops cimport Layout
from autograd_cy._core.runtime.threads cimport Task

cdef enum:
    BLOCK = 1024            # elements that are worked on in the L1 cache, and the most samples of a span

cdef struct Samples:        # the arrays of a loop that is shared
    const Layout *layout
    const void *x
    void *tops              # of each sample the largest score ...
    void *sums              # ... and the sum of exp(score - largest)
    void *logs              # forward's result: of each sample the logarithm of its target's probability
    const void *g           # `each` sample has one of its own, or one is for all
    bint each
    double divisor          # of the gradients
    const void *addend      # what is added to them, or NULL
    void *out

cdef struct Span:           # samples that are worked on together
    npy_intp first, count
    npy_intp offset         # of the first sample's first score
    npy_intp step, stride   # from sample to sample, and from score to score


cdef inline real[::1] each_of(const void *data, real kind, const Span *span) noexcept nogil:
    """A number for each sample of a span."""
    return run(<const real *> data + span.first, span.count)


cdef inline real[:, :] scores_of(const void *data, real kind, const Samples *p, const Span *span) noexcept nogil:
    """The scores [sample, class] of a span, or what goes with them; none without data."""
    return plane(<const real *> data + span.offset, 0 if data == NULL else span.count,
                 span.step * <npy_intp> sizeof(real), p.layout.classes, span.stride * <npy_intp> sizeof(real))


cdef inline real[:, ::1] columns_of(const void *data, real kind, const Samples *p, const Span *span) noexcept nogil:
    """The same, [class, sample], where inner is not 1."""
    return rows_apart(<const real *> data + span.offset, 0 if data == NULL else p.layout.classes,
                      p.layout.inner * <npy_intp> sizeof(real), span.count)


cdef npy_intp next_span(const Layout *p, npy_intp unit, npy_intp end, Span *span) noexcept nogil
cdef void share_samples(Task part, Samples *samples, bint keep_gil) noexcept nogil
cdef Samples samples_of(const Layout *layout, cnp.ndarray x, cnp.ndarray kept) noexcept
cdef cnp.ndarray log_probabilities(cnp.ndarray x, cnp.ndarray target, long long ignore_index, cnp.ndarray kept)
