"""The loops of cross_entropy's forward over dense arrays, and what those of its backward share with them."""

from autograd_cy._core.kernels.nll_loops cimport Layout
from autograd_cy._core.runtime cimport numpy_api as cnp
from autograd_cy._core.runtime.numpy_api cimport npy_intp
from autograd_cy._core.runtime.threads cimport Task

cdef enum:
    BLOCK = 1024            # elements that are worked on in the L1 cache, and the most samples of a span

cdef struct Samples:        # the arrays of a loop that is shared
    const Layout *layout
    const void *x
    void *tops              # of each sample the largest score ...
    void *rests             # ... and the sum of exp(score - largest) without that score
    void *logs              # forward's result: of each sample the logarithm of its target's probability
    const void *g           # `each` sample has one of its own, or one is for all
    bint each
    double divisor          # of the gradients
    const void *addend      # what is added to them, or NULL
    void *out

cdef struct Span:           # samples that are worked on together: the k-th's score for class t lies at k * step + t * stride
    npy_intp first, count
    npy_intp offset         # of the first sample's first score
    npy_intp step, stride

cdef npy_intp next_span(const Layout *p, npy_intp unit, npy_intp end, Span *span) noexcept nogil
cdef void share_samples(Task part, Samples *samples, bint keep_gil) noexcept nogil
cdef Samples samples_of(const Layout *layout, cnp.ndarray x, cnp.ndarray kept) noexcept
cdef cnp.ndarray log_probabilities(cnp.ndarray x, cnp.ndarray target, long long ignore_index, cnp.ndarray kept)
