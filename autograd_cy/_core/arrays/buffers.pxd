"""Arrays of results: memory from the pool, spare arrays, conversions, orders and regions of memory."""

from cpython.object cimport PyObject
from libc.stdint cimport int64_t

from autograd_cy._core.runtime cimport numpy_api as cnp
from autograd_cy._core.runtime.numpy_api cimport npy_intp

# in conversions.pyx
cdef cnp.ndarray converted(object number, int dtype_code)
cdef cnp.ndarray fitting(object number, int dtype_code)
cdef cnp.ndarray assigned(object number, int dtype_code)
cdef int check_depth(int depth) except -1
cdef object number_behind(cnp.ndarray array)

# in pool.pyx

cdef enum RowState:                 # see NOTE [Rows]
    UNKNOWN
    NOTED
    KNOWN
    ZERO_ELSEWHERE

cdef packed struct Rows:            # what a block records about its rows
    int64_t *numbers                # rows that may differ from 0, each once; or NULL
    size_t n
    unsigned int size               # of a row, in bytes
    int state

# in buffers.pyx
cdef cnp.ndarray new_array(int dtype_code, int ndim, const cnp.npy_intp *dims)
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

# in orders.pyx

cdef enum:
    MAX_DIMS = 64

cdef bint find_order(int ndim, const npy_intp *sizes, const npy_intp *strides, int n, int *order) noexcept nogil
cdef cnp.ndarray new_array_in_order(int dtype_code, int ndim, const npy_intp *sizes, const int *order)
cdef cnp.ndarray copy_in_order(cnp.ndarray array, int dtype_code)

# in region.pyx

cdef class Region:
    cdef tuple base_sizes           # of the base; strides and offsets in bytes, offsets from the base's lowest byte
    cdef tuple base_strides
    cdef Py_ssize_t base_offset
    cdef Py_ssize_t extent          # from the base's first byte to its last
    cdef object base_type           # NumPy dtypes
    cdef bint dense                 # the base is dense and in order
    cdef readonly tuple sizes       # of the view
    cdef readonly tuple strides
    cdef readonly Py_ssize_t offset
    cdef object type

    cdef cnp.ndarray taken(self, cnp.ndarray whole)
    cdef cnp.ndarray embedded(self, cnp.ndarray part)
    cdef cnp.ndarray replaced(self, cnp.ndarray whole, cnp.ndarray part)
    cdef tuple copied(self, cnp.ndarray whole)
    cdef cnp.ndarray part_of(self, cnp.ndarray memory)
    cdef Region of_each(self, Py_ssize_t n)


cdef Region region_of(cnp.ndarray base, cnp.ndarray view)
cdef bint lies_inside(cnp.ndarray base, cnp.ndarray view) noexcept
cdef int measure(cnp.ndarray array, Py_ssize_t *below, Py_ssize_t *above) noexcept
cdef bint repeats_places(cnp.ndarray array) noexcept
cdef bint is_dense(cnp.ndarray array) noexcept
cdef bint spans_meet(cnp.ndarray a, cnp.ndarray b) noexcept
cdef bint share_memory(cnp.ndarray a, cnp.ndarray b) noexcept
cdef bint overlaps_in_part(cnp.ndarray a, cnp.ndarray b) noexcept
cdef bint may_meet(cnp.ndarray array, size_t address, tuple sizes, tuple strides, object type)

# in row_zeros.pyx
cdef cnp.ndarray new_row_zeros(int dtype_code, cnp.npy_intp n, cnp.npy_intp inner, const int64_t *numbers, cnp.npy_intp count)
cdef void expect_rows() noexcept
cdef void confirm_rows(object made) noexcept
cdef void forget_rows(cnp.ndarray array) noexcept
cdef Rows *known_rows(cnp.ndarray array) noexcept

# in channels.pyx

cdef enum:
    NARROW = 4          # channels: up to this many, copies to C order and back beat vectors that are mostly empty

cdef bint has_channels_last(cnp.ndarray x) noexcept
cdef cnp.ndarray in_format(cnp.ndarray array, bint channels_last)
cdef cnp.ndarray in_c_order(cnp.ndarray array, int dtype_code)
cdef cnp.ndarray channels_at_end(cnp.ndarray array)
cdef cnp.ndarray channels_second(cnp.ndarray array)
cdef int show_channels_last(cnp.ndarray array) except -1
cdef cnp.ndarray new_in_format(int dtype_code, tuple sizes, bint channels_last)
cdef cnp.ndarray in_type_and_order(cnp.ndarray array, int dtype_code)
