"""Orthogonal polynomials of degree n at one point, by recurrence; 0 if the degree is negative, NaN if it is beyond LIMIT."""

from libc.math cimport NAN

ctypedef fused Real:
    float
    double

cdef enum:
    LIMIT = 1048576         # a degree that would take seconds


cdef inline Py_ssize_t degree(Real n) noexcept nogil:
    """The degree, truncated; -1 if it is negative."""
    return <Py_ssize_t> n if n > -1 and n <= LIMIT else LIMIT + 1 if n > LIMIT else -1


cdef inline Real chebyshev(Real x, Real n, Real first) noexcept nogil:
    """The four kinds differ by `first`, the polynomial of degree 1."""
    cdef Real p = 1, q = first, r
    cdef Py_ssize_t _k, m = degree(n)
    if m <= 0 or m > LIMIT:
        return 0 if m < 0 else 1 if m == 0 else <Real> NAN
    for _k in range(1, m):
        r = 2 * x * q - p
        p, q = q, r
    return q


cdef inline Real hermite(Real first, Real n, Real scale) noexcept nogil:
    """The polynomial of degree 1 is `first`; `scale` is 2 for physicists, 1 for probability."""
    cdef Real p = 1, q = first, r
    cdef Py_ssize_t k, m = degree(n)
    if m <= 0 or m > LIMIT:
        return 0 if m < 0 else 1 if m == 0 else <Real> NAN
    for k in range(1, m):
        r = first * q - scale * <Real> k * p
        p, q = q, r
    return q


cdef inline Real laguerre(Real x, Real n) noexcept nogil:
    cdef Real p = 1, q = 1 - x, r
    cdef Py_ssize_t k, m = degree(n)
    if m <= 0 or m > LIMIT:
        return 0 if m < 0 else 1 if m == 0 else <Real> NAN
    for k in range(1, m):
        r = (((2 * k + 1) - x) * q - <Real> k * p) / <Real> (k + 1)
        p, q = q, r
    return q


cdef inline Real legendre(Real x, Real n) noexcept nogil:
    cdef Real p = 1, q = x, r
    cdef Py_ssize_t k, m = degree(n)
    if m <= 0 or m > LIMIT:
        return 0 if m < 0 else 1 if m == 0 else <Real> NAN
    for k in range(1, m):
        r = (<Real> (2 * k + 1) * x * q - <Real> k * p) / <Real> (k + 1)
        p, q = q, r
    return q
