"""The loops of cross_entropy's forward over dense arrays, and helpers that its backward shares."""

from autograd_cy._core.kernels.nll_loops cimport Layout
from autograd_cy._core.parallel.threads cimport Task
from autograd_cy._core.runtime cimport numpy_api as cnp
from autograd_cy._core.runtime.numpy_api cimport npy_intp

cdef enum:
    BLOCK = 1024            # elements processed while in the L1 cache, and the most samples of a span

cdef struct Samples:        # the arrays of a shared loop
    const Layout *layout
    const void *x
    void *tops              # each sample's largest score ...
    void *rests             # ... and its sum of exp(score - largest) over the other scores
    void *logs              # forward's result: the logarithm of the target's probability for each sample
    const void *g           # one for `each` sample, or one for all
    bint each
    double divisor          # of the gradients
    const void *addend      # to add to the gradients, or NULL
    void *out

cdef struct Span:           # samples processed together: the score of sample k for class t is at k * step + t * stride
    npy_intp first, count
    npy_intp offset         # of the first sample's first score
    npy_intp step, stride

cdef npy_intp next_span(const Layout *p, npy_intp unit, npy_intp end, Span *span) noexcept nogil
cdef void share_samples(Task part, Samples *samples, bint keep_gil) noexcept nogil
cdef Samples samples_of(const Layout *layout, cnp.ndarray x, cnp.ndarray kept) noexcept
cdef cnp.ndarray log_probabilities(cnp.ndarray x, cnp.ndarray target, long long ignore_index, cnp.ndarray kept)
