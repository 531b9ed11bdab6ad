"""The elements of an array at the target classes: their sums, and the transpose."""

from autograd_cy._core.runtime cimport numpy_api as cnp
from autograd_cy._core.runtime.numpy_api cimport npy_intp

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

cdef Layout layout_of(cnp.ndarray x, cnp.ndarray target, cnp.ndarray weight, long long ignore_index) except *
cdef int check_gradient(const Layout *p, cnp.ndarray g, bint each) except -1
cdef cnp.ndarray picked(cnp.ndarray x, cnp.ndarray target, cnp.ndarray weight, long long ignore_index, bint each,
                        Totals *totals, cnp.ndarray logs=*)
cdef cnp.ndarray spread(cnp.ndarray g, tuple sizes, cnp.ndarray target, cnp.ndarray weight, long long ignore_index,
                        bint each, double divisor)
