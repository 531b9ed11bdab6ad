"""Random numbers, and dropout."""

from cython cimport floating
from libc.stdint cimport int64_t, uint32_t, uint64_t

from autograd_cy._core.runtime cimport numpy_api as cnp

# in random_loops.pyx

cdef enum Kind:
    UNIFORM
    NORMAL

ctypedef fused Drawn:
    int64_t
    double

cdef bint can_fill(cnp.ndarray out) except -1
cdef int fill(cnp.ndarray out, Kind kind, uint64_t key, double a, double b) except -1
cdef int fill_integers(cnp.ndarray out, uint64_t key, int64_t least, uint32_t n) except -1
cdef void narrow(const Drawn *x, float *y, Py_ssize_t n) noexcept nogil
cdef void keep_below(double *x, Py_ssize_t n, double p) noexcept nogil
cdef void divide(double *x, Py_ssize_t n, double divisor) noexcept nogil
cdef void scale_and_shift(double *x, Py_ssize_t n, double scale, double offset) noexcept nogil
cdef bint are_chances(const floating *p, Py_ssize_t n) noexcept nogil
cdef void compare(const double *numbers, const floating *p, floating *result, Py_ssize_t n) noexcept nogil

# in dropout_loops.pyx
cdef cnp.ndarray dropped(cnp.ndarray x, unsigned long long key, double p)
