"""Rows of an array: views, gather by number, and scatter by addition."""

from autograd_cy._core.runtime cimport numpy_api as cnp

cdef cnp.ndarray selected(cnp.ndarray array, int axis, Py_ssize_t i)
cdef cnp.ndarray sliced(cnp.ndarray array, int axis, Py_ssize_t start, Py_ssize_t length, Py_ssize_t step)
cdef cnp.ndarray numbers_of(cnp.ndarray rows)
cdef cnp.ndarray zeros(tuple sizes, int dtype_code)
cdef cnp.ndarray take_rows(cnp.ndarray array, int axis, cnp.ndarray rows)
cdef cnp.ndarray add_rows(cnp.ndarray values, tuple sizes, Py_ssize_t outer, Py_ssize_t n, cnp.ndarray rows)
cdef cnp.ndarray combined(list rows, list sizes)
cdef cnp.ndarray positions(cnp.ndarray rows, int axis, Py_ssize_t size)
cdef bint all_inside(cnp.ndarray rows, Py_ssize_t size)
cdef int add_at(cnp.ndarray array, tuple places, object values) except -1
