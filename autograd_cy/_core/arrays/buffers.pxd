"""Allocation of the arrays that hold results."""

from cpython.object cimport PyObject

from autograd_cy._core.runtime cimport numpy_api as cnp

cdef cnp.ndarray new_array(int dtype_code, int ndim, const cnp.npy_intp *dims)
cdef int lay_out(cnp.ndarray array, const int *order) except -1
cdef void keep_spare(PyObject *array) noexcept
cdef cnp.ndarray new_zeros(int dtype_code, int ndim, const cnp.npy_intp *dims)
cdef cnp.ndarray cast(cnp.ndarray array, int dtype_code)
cdef cnp.ndarray dense_copy(cnp.ndarray array)
cdef cnp.ndarray dense(cnp.ndarray array)
cdef cnp.ndarray flat(cnp.ndarray array, int dtype_code)
cdef cnp.ndarray in_type(cnp.ndarray array, int dtype_code)
cdef tuple sizes_of(cnp.ndarray array)
cdef bint is_owned(PyObject *array) noexcept
cdef bint is_ours(PyObject *array) noexcept
cdef bint is_large(cnp.ndarray array) noexcept
cdef cnp.ndarray strided_view(cnp.ndarray base, char *data, int ndim, const cnp.npy_intp *dims, const cnp.npy_intp *strides)
cdef cnp.ndarray typed_view(cnp.ndarray base, char *data, cnp.dtype descr, int ndim, const cnp.npy_intp *dims,
                            const cnp.npy_intp *strides)

cdef inline bint is_flat(cnp.ndarray array) noexcept:
    """Whether a loop can run through an array from its first byte to its last: in C order, aligned."""
    return cnp.PyArray_CHKFLAGS(array, cnp.NPY_ARRAY_C_CONTIGUOUS | cnp.NPY_ARRAY_ALIGNED)
