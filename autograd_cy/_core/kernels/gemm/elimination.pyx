"""LU decompositions with partial pivoting: narrow panels of columns by a loop, the rest by NumPy's products.

As in LAPACK, pivots count from 1 and are chosen by |re| + |im|.

Source: S. Toledo, "Locality of reference in LU decomposition with partial pivoting" (1997).
"""

import numpy as np

from libc.math cimport fabs

from autograd_cy._core.arrays.buffers cimport dense
from autograd_cy._core.runtime cimport numpy_api as cnp
from autograd_cy._core.runtime.numpy_api cimport npy_intp


# Declares the float and double versions that Cython generates from fused functions.
cdef extern from *:
    """
    #include "clones.h"
    #undef DECLARE_CLONED
    #define DECLARE_CLONED(real, fuse) \\
        AUTOGRAD_CY_CLONED static void fuse##autograd_cy_eliminate(real *, int *, int *, npy_intp, npy_intp, npy_intp);
    DECLARE_CLONED(float, __pyx_fuse_0)
    DECLARE_CLONED(double, __pyx_fuse_1)
    """

cdef enum:
    PANEL = 16          # columns eliminated one by one


cdef tuple eliminated(object array):
    """(L and U in one array, pivots, info) of matrices; info is the number of the first zero on U's diagonal, or 0."""
    cdef Py_ssize_t m, n, k
    *sizes, m, n = array.shape
    k = min(m, n)
    lu, pivots, info = np.array(array, order="C"), np.zeros((*sizes, k), np.int32), np.zeros(sizes, np.int32)
    if lu.size:
        a, places = lu.reshape(-1, m, n), pivots.reshape(-1, k)
        with np.errstate(all="ignore"):
            factor(a, places, info.reshape(-1), 0, k)
            if n > k:
                beyond(a, places, 0, k, n)
    return lu, pivots, info


cdef int factor(object a, object pivots, object info, Py_ssize_t first, Py_ssize_t last) except -1:
    """Factor the columns from `first` to `last` in place, below the finished rows."""
    cdef Py_ssize_t half = first + (last - first) // 2
    if last - first <= PANEL:
        return one_panel(a, pivots, info, first, last)
    factor(a, pivots, info, first, half)
    beyond(a, pivots, first, half, last)
    a[:, half:, half:last] -= a[:, half:, first:half] @ a[:, first:half, half:last]
    factor(a, pivots, info, half, last)
    return swap(a[:, :, first:half], pivots[:, half:last], half, False)


cdef int beyond(object a, object pivots, Py_ssize_t first, Py_ssize_t half, Py_ssize_t last) except -1:
    """Compute rows `first` to `half` of U in the columns from `half` to `last`."""
    swap(a[:, :, half:last], pivots[:, first:half], first, False)
    return substitute(a[:, first:half, first:half], a[:, first:half, half:last], False, True)


cdef object solved_eliminated(object lu, object pivots, object b, bint turned):
    """Solve A @ X = b, or A.mH @ X = b if `turned`, for matrices that eliminated() decomposed; batches are broadcast."""
    cdef Py_ssize_t n, columns
    cdef tuple own = lu.shape[:-2], others = b.shape[:-2], sizes = own
    *_, n, columns = b.shape
    if others and own != others:
        sizes = np.broadcast_shapes(own, others)
    x = np.empty(sizes + (n, columns), b.dtype)
    x[...] = b
    if not x.size:
        return x
    if own != sizes:
        lu, pivots = np.broadcast_to(lu, sizes + (n, n)), np.broadcast_to(pivots, sizes + (n,))
    a, places, rows = lu.reshape(-1, n, n), dense(pivots.reshape(-1, n)), x.reshape(-1, n, columns)
    with np.errstate(all="ignore"):
        if turned:
            a = np.conj(a).swapaxes(-2, -1)
            substitute(a, rows, False, False)
            substitute(a, rows, True, True)
            swap(rows, places, 0, True)
        else:
            swap(rows, places, 0, False)
            substitute(a, rows, False, True)
            substitute(a, rows, True, False)
    return x


cdef object signs_of(object pivots):
    """1 or -1: the sign of the permutation of rows."""
    *sizes, columns = pivots.shape
    cdef cnp.ndarray signs = np.ones(sizes, np.int8), places = dense(pivots)
    cdef const int *row = <const int *> cnp.PyArray_DATA(places)
    cdef signed char *sign = <signed char *> cnp.PyArray_DATA(signs)
    cdef npy_intp count = columns, matrix, k
    for matrix in range(cnp.PyArray_SIZE(signs)):
        for k in range(count):
            sign[matrix] = sign[matrix] if row[matrix * count + k] == k + 1 else -sign[matrix]
    return signs


cdef object row_order(object pivots, Py_ssize_t rows):
    """The row of the matrix that each row of L @ U equals (int64)."""
    *sizes, count = pivots.shape
    order = np.empty((*sizes, rows), np.int64)
    order[...] = np.arange(rows)
    if pivots.size:
        exchange(order.reshape(-1, rows), dense(pivots.reshape(-1, count)))
    return order


cdef void exchange(long long[:, ::1] order, const int[:, :] pivots) noexcept nogil:
    cdef Py_ssize_t matrix, k
    cdef long long row
    for matrix in range(order.shape[0]):
        for k in range(pivots.shape[1]):
            row = order[matrix, k]
            order[matrix, k] = order[matrix, pivots[matrix, k] - 1]
            order[matrix, pivots[matrix, k] - 1] = row


# the loops for each type

cdef int one_panel(object a, object pivots, object info, Py_ssize_t first, Py_ssize_t last) except -1:
    """Factor a few columns from their diagonal down, in a transposed copy, so that columns are contiguous."""
    cdef cnp.ndarray columns = dense(np.swapaxes(a[:, first:, first:last], 1, 2))
    cdef npy_intp count, width, rows
    cdef void *p = cnp.PyArray_DATA(columns)
    count, width, rows = (<object> columns).shape
    cdef cnp.ndarray chosen = np.empty((count, width), np.int32), failed = np.empty((count,), np.int32)
    cdef int *q = <int *> cnp.PyArray_DATA(chosen)
    cdef int *r = <int *> cnp.PyArray_DATA(failed)
    kind = a.dtype.char
    if kind == "f":
        eliminate(<float *> p, q, r, count, width, rows)
    elif kind == "d":
        eliminate(<double *> p, q, r, count, width, rows)
    elif kind == "F":
        eliminate(<complex64 *> p, q, r, count, width, rows)
    else:
        eliminate(<complex128 *> p, q, r, count, width, rows)
    a[:, first:, first:last] = np.swapaxes(columns, 1, 2)
    pivots[:, first:last] = chosen + np.int32(first + 1)
    if failed.any():
        info[...] = np.where((info == 0) & (failed > 0), failed + first, info)
    return 0


cdef int swap(object a, object pivots, Py_ssize_t first, bint back) except -1:
    """Exchange the rows from `first` on with the rows that the pivots name, or undo it."""
    kind = a.dtype.char
    if kind == "f":
        swapped[float](a, pivots, first, back)
    elif kind == "d":
        swapped[double](a, pivots, first, back)
    elif kind == "F":
        swapped[complex64](a, pivots, first, back)
    else:
        swapped[complex128](a, pivots, first, back)
    return 0


cdef void swapped(number[:, :, :] a, const int[:, :] pivots, Py_ssize_t first, bint back) noexcept nogil:
    cdef Py_ssize_t matrix, step, k, c, row, other, count = pivots.shape[1]
    cdef number x
    for matrix in range(a.shape[0]):
        for step in range(count):
            k = count - 1 - step if back else step
            row, other = first + k, pivots[matrix, k] - 1
            if row != other:
                for c in range(a.shape[2]):
                    x = a[matrix, row, c]
                    a[matrix, row, c] = a[matrix, other, c]
                    a[matrix, other, c] = x


cdef void eliminate "autograd_cy_eliminate"(
        number *columns, int *pivots, int *failed, npy_intp count, npy_intp width, npy_intp rows) noexcept nogil:
    """Eliminate column by column. Takes pointers because it is compiled for each instruction set.

    `failed` receives the number of the first column without a pivot, or 0.
    """
    cdef npy_intp matrix, i, j, k, row
    cdef number factor, pivot
    cdef number *column
    cdef number *other
    for matrix in range(count):
        failed[matrix] = 0
        for k in range(width):
            column = columns + k * rows
            row = largest(column, k, rows)
            pivots[k] = <int> row
            pivot = column[row]
            if pivot == 0:
                failed[matrix] = failed[matrix] or <int> (k + 1)
                continue
            if row != k:
                for j in range(width):
                    factor = columns[j * rows + k]
                    columns[j * rows + k] = columns[j * rows + row]
                    columns[j * rows + row] = factor
            for i in range(k + 1, rows):
                column[i] = column[i] / pivot
            for j in range(k + 1, width):
                other = columns + j * rows
                factor = other[k]
                for i in range(k + 1, rows):
                    other[i] = other[i] - factor * column[i]
        columns += width * rows
        pivots += width


cdef inline npy_intp largest(const number *column, npy_intp first, npy_intp rows) noexcept nogil:
    """The position of the largest element from `first` on."""
    cdef npy_intp i, row = first
    cdef double size = magnitude(column[first]), other
    for i in range(first + 1, rows):
        other = magnitude(column[i])
        if other > size:
            row, size = i, other
    return row


cdef inline double magnitude(const number x) noexcept nogil:
    if number is float or number is double:
        return fabs(x)
    else:
        return fabs(x.real) + fabs(x.imag)
