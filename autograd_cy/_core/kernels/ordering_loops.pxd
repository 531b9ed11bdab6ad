"""Loops that compare elements in order: top elements, keys of sorting, scans."""

from autograd_cy._core.runtime cimport numpy_api as cnp

# in selection.pyx

cdef enum:
    FEW = 32                # elements kept sorted while a row is read, at most

cdef cnp.ndarray few_extreme_places(cnp.ndarray rows, Py_ssize_t count, bint largest)

# in sorting_keys.pyx
cdef cnp.ndarray sorting_keys(cnp.ndarray rows, bint descending)
cdef cnp.ndarray places_of_keys(cnp.ndarray keys)
cdef bint has_equals(cnp.ndarray rows) noexcept

# in scan_loops.pyx
cdef cnp.ndarray accumulated(cnp.ndarray array, int dim, int how, bint backwards)
cdef cnp.ndarray product_gradient(cnp.ndarray x, cnp.ndarray g, int dim)
cdef tuple running_extremes(cnp.ndarray array, int dim, bint largest)
cdef cnp.ndarray sums_at(cnp.ndarray g, cnp.ndarray places, int dim)
cdef cnp.ndarray running_logsumexp(cnp.ndarray array, int dim)
cdef cnp.ndarray logsumexp_gradient(cnp.ndarray x, cnp.ndarray y, cnp.ndarray g, int dim)
