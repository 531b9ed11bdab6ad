"""Allocation of the arrays that hold results (knows no Tensor).

Small arrays are made from spares, large ones from the pool.

NOTE [Spare arrays]
For a few bytes, making and freeing the ndarray costs more than computing its elements. So small result arrays that die
with their Tensor, and gradients that are used up, are put on shelves by type and shape, and are reused for results of that
type and shape. An array is shelved only if nothing else can refer to it: its last reference is being dropped, it owns its
memory, is writable and has no weak references.
"""

import numpy as np

from cpython.object cimport PyObject
from cpython.ref cimport Py_DECREF, Py_INCREF
from cpython.tuple cimport PyTuple_New, PyTuple_SET_ITEM

from autograd_cy._core.arrays.dtypes cimport BOOL, DESCR, ITEMSIZE, as_dtype, code_of, dtype, dtype_of, is_half
from autograd_cy._core.parallel.threads cimport thresholds
from autograd_cy._core.runtime cimport numpy_api as cnp
from autograd_cy._core.runtime.free_threading cimport FREE_THREADED, is_unique, take_over
from autograd_cy._core.runtime.state cimport ARRAYS, declare_store, declared_store, serves_again

cdef extern from "Python.h":
    void *Py_TYPE(PyObject *op)
    int PyTraceMalloc_Track(unsigned int domain, size_t address, size_t size)

cdef extern from "numpy/arrayobject.h":
    object PyArray_NewFromDescr(void *, cnp.dtype, int, const cnp.npy_intp *, void *, void *, int, void *)
    object PyArray_Zeros(int, const cnp.npy_intp *, cnp.dtype, int)
    object PyArray_CastToType(cnp.ndarray, cnp.dtype, int)
    void PyArray_UpdateFlags(cnp.ndarray, int)
    object PyArray_NewCopy(cnp.ndarray, int)
    void *ndarray_type "(&PyArray_Type)"

    ctypedef struct ArrayFields "PyArrayObject_fields":
        int nd
        cnp.npy_intp *dimensions
        PyObject *base
        void *descr
        int flags
        PyObject *weakreflist
        PyObject *mem_handler

cdef extern from *:
    """
    #define array_fields(array) ((PyArrayObject_fields *) (array))
    """
    ArrayFields *array_fields(PyObject *array) noexcept nogil

cdef enum:
    SHELVES = 64
    SHELF_SIZE = 32
    SPARE_DIMS = 2
    DENSE_FLAGS = cnp.NPY_ARRAY_C_CONTIGUOUS | cnp.NPY_ARRAY_ALIGNED | cnp.NPY_ARRAY_WRITEABLE
    OWNED_FLAGS = DENSE_FLAGS | cnp.NPY_ARRAY_OWNDATA
    EITHER_ORDER = cnp.NPY_ARRAY_C_CONTIGUOUS | cnp.NPY_ARRAY_F_CONTIGUOUS

cdef unsigned int NUMPY_DOMAIN = np.lib.tracemalloc_domain

cdef struct Shelf:
    PyObject *arrays[SHELF_SIZE]
    int n

cdef Shelf[SHELVES] shelves     # of all threads; without a GIL, each has its own


cdef inline PyObject *descr_of(int dtype_code) except NULL:
    """NumPy's dtype, borrowed: case 1 of NOTE [bfloat16]."""
    if DESCR[dtype_code] == NULL:
        as_dtype(dtype_of(dtype_code))
    return DESCR[dtype_code]


cdef cnp.ndarray new_array(int dtype_code, int ndim, const cnp.npy_intp *dims):
    """A new C-contiguous array, not initialized."""
    cdef Shelf *shelf
    cdef PyObject *spare
    cdef PyObject *descr = descr_of(dtype_code)
    if ndim <= SPARE_DIMS:
        shelf = shelf_for(descr, ndim, dims)
        if (not FREE_THREADED or shelf != NULL) and shelf.n > 0 and serves_again():
            spare = shelf.arrays[shelf.n - 1]
            if is_alike(spare, descr, ndim, dims):
                shelf.n -= 1
                array = <cnp.ndarray> spare
                Py_DECREF(array)
                return array
    if bytes_of(dtype_code, ndim, dims) >= thresholds.large_bytes and is_on():
        return new_large_array(descr, ndim, dims, bytes_of(dtype_code, ndim, dims))
    Py_INCREF(<object> descr)                    # NumPy steals this reference
    return <cnp.ndarray> PyArray_NewFromDescr(ndarray_type, <cnp.dtype> descr, ndim, dims, NULL, NULL, 0, NULL)


cdef int lay_out(cnp.ndarray array, const int *order) except -1:
    """Reorder the dimensions of a new dense array: their order in memory becomes `order`, or C order if it is NULL."""
    cdef cnp.npy_intp step = cnp.PyArray_ITEMSIZE(array)
    cdef int k, axis
    for k in range(cnp.PyArray_NDIM(array) - 1, -1, -1):
        axis = k if order == NULL else order[k]
        cnp.PyArray_STRIDES(array)[axis] = step
        step *= cnp.PyArray_DIM(array, axis)
    PyArray_UpdateFlags(array, cnp.NPY_ARRAY_C_CONTIGUOUS | cnp.NPY_ARRAY_F_CONTIGUOUS)
    return 0


cdef inline cnp.npy_intp bytes_of(int dtype_code, int ndim, const cnp.npy_intp *dims) noexcept:
    cdef cnp.npy_intp size = ITEMSIZE[dtype_code]
    cdef int axis
    for axis in range(ndim):
        size *= dims[axis]
    return size


cdef cnp.ndarray new_large_array(PyObject *descr, int ndim, const cnp.npy_intp *dims, size_t size):
    """A new array with memory from the pool. NumPy returns the memory to the pool when it frees the array."""
    cdef cnp.ndarray array
    cdef void *memory = take(NULL, size)
    if memory == NULL:
        raise MemoryError(f"Unable to allocate {size} bytes for an array of type {<object> descr}")
    Py_INCREF(<object> descr)
    try:
        array = <cnp.ndarray> PyArray_NewFromDescr(ndarray_type, <cnp.dtype> descr, ndim, dims, NULL, memory,
                                                   cnp.NPY_ARRAY_CARRAY, NULL)
    except BaseException:
        put_back(NULL, memory, size)
        raise
    array_fields(<PyObject *> array).flags |= cnp.NPY_ARRAY_OWNDATA
    array_fields(<PyObject *> array).mem_handler = memory_handler()
    Py_INCREF(<object> memory_handler())
    PyTraceMalloc_Track(NUMPY_DOMAIN, <size_t> memory, size)        # NumPy does the opposite when it frees
    return array


cdef inline Shelf *shelves_here() noexcept:
    return <Shelf *> declared_store(ARRAYS) if FREE_THREADED else shelves


cdef inline Shelf *shelf_for(PyObject *descr, int ndim, const cnp.npy_intp *dims) noexcept:
    cdef size_t key = (<size_t> descr >> 5) + ndim
    if ndim > 0:
        key = key * 31 + <size_t> dims[0]
    if ndim > 1:
        key = key * 31 + <size_t> dims[1]
    cdef Shelf *first = shelves_here()
    return NULL if FREE_THREADED and first == NULL else &first[(key ^ key >> 6) % SHELVES]


cdef inline bint is_alike(PyObject *array, PyObject *descr, int ndim, const cnp.npy_intp *dims) noexcept:
    return (<PyObject *> array_fields(array).descr == descr and array_fields(array).nd == ndim
            and (ndim < 1 or array_fields(array).dimensions[0] == dims[0])
            and (ndim < 2 or array_fields(array).dimensions[1] == dims[1]))


cdef void keep_spare(PyObject *array) noexcept:
    """Called just before the owner of an array (or of any other object) drops its reference: NOTE [Spare arrays]."""
    cdef Shelf *shelf
    if (not is_unique(array) or Py_TYPE(array) != ndarray_type or array_fields(array).nd > SPARE_DIMS
            or not array_fields(array).flags & EITHER_ORDER
            or (array_fields(array).flags | EITHER_ORDER) != (OWNED_FLAGS | EITHER_ORDER)
            or array_fields(array).weakreflist != NULL or array_fields(array).base != NULL
            or cnp.PyArray_NBYTES(<cnp.ndarray> array) > thresholds.spare_bytes):
        return
    shelf = shelf_for(<PyObject *> array_fields(array).descr, array_fields(array).nd, array_fields(array).dimensions)
    if (not FREE_THREADED or shelf != NULL) and shelf.n < SHELF_SIZE:
        if array_fields(array).mem_handler == memory_handler():
            rows_in(cnp.PyArray_DATA(<cnp.ndarray> array)).state = UNKNOWN
        if not array_fields(array).flags & cnp.NPY_ARRAY_C_CONTIGUOUS:
            lay_out(<cnp.ndarray> array, NULL)
        if FREE_THREADED:
            take_over(array, 1)
        Py_INCREF(<object> array)
        shelf.arrays[shelf.n] = array
        shelf.n += 1


def drop_shelves():
    """drop_shelves(): free the spare small arrays (without a GIL, only this thread's)."""
    if shelves_here() != NULL:
        empty_store(shelves_here())


cdef void empty_store(void *store) noexcept:
    cdef Shelf *shelf
    cdef PyObject *array
    cdef int k
    for k in range(SHELVES):
        shelf = &(<Shelf *> store)[k]
        while shelf.n > 0:
            shelf.n -= 1
            array = shelf.arrays[shelf.n]
            Py_DECREF(<object> array)


declare_store(ARRAYS, SHELVES * sizeof(Shelf), empty_store)


cdef cnp.ndarray new_zeros(int dtype_code, int ndim, const cnp.npy_intp *dims):
    cdef PyObject *descr = descr_of(dtype_code)
    Py_INCREF(<object> descr)
    return <cnp.ndarray> PyArray_Zeros(ndim, dims, <cnp.dtype> descr, 0)


cdef cnp.ndarray cast(cnp.ndarray array, int dtype_code):
    """A new array with the values in another type. From complex to real, it takes the real part (to bool: whether != 0)."""
    if cnp.PyArray_ISCOMPLEX(array) and dtype_code != BOOL and not (<dtype> dtype_of(dtype_code)).is_complex:
        array = array.real
    cdef PyObject *descr = descr_of(dtype_code)
    Py_INCREF(<object> descr)
    if not is_half(dtype_code):
        return <cnp.ndarray> PyArray_CastToType(array, <cnp.dtype> descr, 0)
    with np.errstate(over="ignore", under="ignore", invalid="ignore"):      # 16 bits overflow to infinity or 0
        return <cnp.ndarray> PyArray_CastToType(array, <cnp.dtype> descr, 0)


cdef cnp.ndarray dense_copy(cnp.ndarray array):
    """A C-contiguous, aligned copy."""
    cdef cnp.ndarray copy
    if cnp.PyArray_NBYTES(array) < thresholds.large_bytes or not is_on():
        return <cnp.ndarray> PyArray_NewCopy(array, cnp.NPY_CORDER)
    copy = new_large_array(<PyObject *> array_fields(<PyObject *> array).descr, cnp.PyArray_NDIM(array),
                           cnp.PyArray_DIMS(array), cnp.PyArray_NBYTES(array))
    cnp.PyArray_CopyInto(copy, array)
    return copy


cdef cnp.ndarray dense(cnp.ndarray array):
    """The array in C order and aligned, for a loop over pointers; a copy if needed (ascontiguousarray doesn't align)."""
    return array if is_flat(array) else dense_copy(array)


cdef cnp.ndarray flat(cnp.ndarray array, int dtype_code):
    """The array as kernels need it: dense, of type `dtype_code`."""
    return dense(in_type(array, dtype_code))


cdef cnp.ndarray in_type(cnp.ndarray array, int dtype_code):
    return array if code_of(array) == dtype_code else cast(array, dtype_code)


cdef cnp.ndarray strided_view(cnp.ndarray base, char *data, int ndim, const cnp.npy_intp *dims,
                              const cnp.npy_intp *strides):
    """A view of an array's memory with sizes and strides of its own, as writable as the array."""
    return typed_view(base, data, base.descr, ndim, dims, strides)


cdef cnp.ndarray typed_view(cnp.ndarray base, char *data, cnp.dtype descr, int ndim, const cnp.npy_intp *dims,
                            const cnp.npy_intp *strides):
    """A view of an array's memory as elements of another type, as writable as the array."""
    cdef int flags = cnp.NPY_ARRAY_WRITEABLE if cnp.PyArray_ISWRITEABLE(base) else 0
    cdef cnp.ndarray view
    Py_INCREF(descr)
    view = <cnp.ndarray> PyArray_NewFromDescr(ndarray_type, descr, ndim, dims, <void *> strides, data, flags, NULL)
    cnp.set_array_base(view, base)
    if ndim == 0:       # else NumPy has done that already
        PyArray_UpdateFlags(view, cnp.NPY_ARRAY_UPDATE_ALL)
    return view


cdef tuple sizes_of(cnp.ndarray array):
    """The shape as a tuple."""
    cdef int axis, ndim = cnp.PyArray_NDIM(array)
    cdef tuple sizes = PyTuple_New(ndim)
    cdef object size
    for axis in range(ndim):
        size = cnp.PyArray_DIM(array, axis)
        Py_INCREF(size)                 # the tuple steals this reference
        PyTuple_SET_ITEM(sizes, axis, size)
    return sizes


cdef bint is_owned(PyObject *array) noexcept:
    """Whether the caller's reference is the only one to this memory; see NOTE [Gradient ownership].

    Takes a pointer because Cython would hold a reference of its own to an object argument.
    """
    return (is_unique(array) and Py_TYPE(array) == ndarray_type and array_fields(array).base == NULL
            and array_fields(array).weakreflist == NULL
            and array_fields(array).flags & OWNED_FLAGS == OWNED_FLAGS)


cdef bint is_ours(PyObject *array) noexcept:
    """Whether nothing else refers to this memory: the array is owned, or is a dense view of an owned array."""
    return is_owned(array) or (
        is_unique(array) and Py_TYPE(array) == ndarray_type and array_fields(array).base != NULL
        and array_fields(array).weakreflist == NULL and array_fields(array).flags & DENSE_FLAGS == DENSE_FLAGS
        and is_owned(array_fields(array).base))


cdef bint is_large(cnp.ndarray array) noexcept:
    """Whether memory for such an array comes from the pool, so that reusing an array pays."""
    return cnp.PyArray_NBYTES(array) >= thresholds.large_bytes
