"""Loops of losses by label, and of alignments of labels."""

from autograd_cy._core.runtime cimport numpy_api as cnp
from autograd_cy._core.runtime.numpy_api cimport npy_intp

# in nll_loops.pyx

cdef struct Totals:
    double loss
    double weight

cdef struct Layout:         # an array viewed as (n, classes, inner), its targets and weights
    npy_intp n, classes, inner
    long long ignore_index              # targets with this value don't count
    const long long *target             # n * inner
    const void *weight                  # of each class; NULL: all 1

cdef inline bint counts(const Layout *p, long long t) noexcept nogil:
    """Whether a target is a class and not ignored."""
    return t != p.ignore_index and 0 <= t < p.classes

cdef cnp.ndarray picked(cnp.ndarray x, cnp.ndarray target, cnp.ndarray weight, long long ignore_index, bint each,
                        Totals *totals, cnp.ndarray logs=*)
cdef cnp.ndarray spread(cnp.ndarray g, tuple sizes, cnp.ndarray target, cnp.ndarray weight, long long ignore_index,
                        bint each, double divisor)

# in cross_entropy_loops.pyx

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

cdef cnp.ndarray log_probabilities(cnp.ndarray x, cnp.ndarray target, long long ignore_index, cnp.ndarray kept)

# in cross_entropy_gradient.pyx
cdef int put_gradient(cnp.ndarray g, cnp.ndarray x, cnp.ndarray target, cnp.ndarray weight, long long ignore_index,
                      cnp.ndarray kept, bint each, double divisor, cnp.ndarray addend, cnp.ndarray out) except -1

# in ctc_loops.pyx

cdef struct Alignments:
    npy_intp samples, classes, blank
    npy_intp longest            # of the targets
    npy_intp steps
    const long long *targets    # (samples, longest)
    const long long *input_lengths
    const long long *target_lengths

cdef cnp.ndarray forward_sums(cnp.ndarray logs, Alignments *p, cnp.ndarray losses)
cdef cnp.ndarray gradient_of_sums(cnp.ndarray g, cnp.ndarray logs, cnp.ndarray alpha, cnp.ndarray losses, Alignments *p,
                                  bint zero_infinity)
