"""The part of NumPy's C API that the core uses.

NumPy's own declarations are thirty times as large. Each module that cimports them takes 0.2 seconds longer to translate, and
looks up twenty classes of NumPy when it is imported.
"""

from cpython.ref cimport Py_INCREF, PyObject

cdef extern from "numpy/arrayobject.h" nogil:
    ctypedef Py_ssize_t npy_intp

    enum:
        NPY_BOOL, NPY_UINT8, NPY_INT64
        NPY_CORDER, NPY_RAISE
        NPY_ARRAY_ALIGNED, NPY_ARRAY_OWNDATA, NPY_ARRAY_WRITEABLE
        NPY_ARRAY_C_CONTIGUOUS, NPY_ARRAY_F_CONTIGUOUS
        NPY_ARRAY_CARRAY, NPY_ARRAY_CARRAY_RO
        NPY_ARRAY_UPDATE_ALL

    ctypedef class numpy.dtype [object PyArray_Descr, check_size ignore]:
        pass

    ctypedef class numpy.ndarray [object PyArrayObject, check_size ignore]:
        @property
        cdef inline int ndim(self) noexcept nogil:
            return PyArray_NDIM(self)

        @property
        cdef inline npy_intp size(self) noexcept nogil:
            return PyArray_SIZE(self)

        @property
        cdef inline npy_intp *shape(self) noexcept nogil:
            return PyArray_DIMS(self)

        @property
        cdef inline dtype descr(self):
            return <dtype> PyArray_DESCR(self)

    int import_array "_import_array"() except -1

    int PyArray_NDIM(ndarray)
    int PyArray_TYPE(ndarray)
    npy_intp PyArray_DIM(ndarray, size_t)
    npy_intp PyArray_STRIDE(ndarray, size_t)
    npy_intp *PyArray_DIMS(ndarray)
    npy_intp *PyArray_STRIDES(ndarray)
    npy_intp PyArray_SIZE(ndarray)
    npy_intp PyArray_NBYTES(ndarray)
    npy_intp PyArray_ITEMSIZE(ndarray)
    void *PyArray_DATA(ndarray)
    char *PyArray_BYTES(ndarray)

    int PyArray_FLAGS(ndarray)
    bint PyArray_CHKFLAGS(ndarray, int)
    void PyArray_ENABLEFLAGS(ndarray, int)
    void PyArray_CLEARFLAGS(ndarray, int)
    bint PyArray_SAMESHAPE(ndarray, ndarray)
    bint PyArray_ISALIGNED(ndarray)
    bint PyArray_ISBEHAVED(ndarray)
    bint PyArray_ISCARRAY(ndarray)
    bint PyArray_ISCARRAY_RO(ndarray)
    bint PyArray_ISCOMPLEX(ndarray)
    bint PyArray_ISFLOAT(ndarray)
    bint PyArray_ISNOTSWAPPED(ndarray)
    bint PyArray_ISWRITEABLE(ndarray)
    bint PyArray_IS_C_CONTIGUOUS(ndarray)

cdef extern from "numpy/arrayobject.h":
    void *PyArray_DESCR(ndarray) nogil
    PyObject *PyArray_BASE(ndarray) nogil
    int PyArray_CopyInto(ndarray, ndarray) except -1
    int PyArray_SetBaseObject(ndarray, PyObject *) except -1
    object PyArray_Transpose(ndarray, void *)
    object PyArray_ZEROS(int, npy_intp *, int, int)


cdef inline object get_array_base(ndarray array):
    return None if PyArray_BASE(array) is NULL else <object> PyArray_BASE(array)


cdef inline int set_array_base(ndarray array, object base) except -1:
    Py_INCREF(base)             # the array steals the reference even if the call fails
    return PyArray_SetBaseObject(array, <PyObject *> base)
