"""Which tensors are sparse: their elements are not in their array."""

from cpython.object cimport PyObject

cdef PyObject *sparse_type      # the class of sparse tensors; NULL until its module is loaded

cdef object sparse_gradient(object indices, object values, tuple sizes)
cdef object sparse_rows(object numbers, object rows, Py_ssize_t n)


cdef extern from "Python.h":
    PyObject *Py_TYPE "(PyObject *) Py_TYPE"(object) noexcept


cdef inline bint is_sparse(object x) noexcept:
    """Whether `x` is a sparse tensor: see NOTE [Sparse tensors]."""
    return Py_TYPE(x) == sparse_type
