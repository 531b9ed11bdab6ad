"""Elementwise loops over strided arrays, NumPy's and ours: the walk that calls them, copies, sums into an array, choices."""

from cpython.object cimport PyObject

from autograd_cy._core.arrays.buffers cimport MAX_DIMS
from autograd_cy._core.runtime cimport numpy_api as cnp
from autograd_cy._core.runtime.numpy_api cimport npy_intp

# in loops.pyx
# NumPy's signature of an inner loop: `dims[0]` elements; one pointer and one stride (in bytes) per operand
ctypedef void (*Loop)(char **args, const npy_intp *dims, const npy_intp *strides, void *data) noexcept nogil

cdef struct Kernel:
    Loop loop
    void *data

ctypedef fused Word:                # elements of 1, 2, 4, 8 and 16 bytes, whatever they mean
    signed char
    short
    int
    long long
    double complex

cdef enum:
    MAX_OPERANDS = 6

cdef struct Walk:                   # the operands of a loop and their strides during iteration
    int ndim
    npy_intp[MAX_DIMS] shape
    char *data[MAX_OPERANDS]
    npy_intp[MAX_OPERANDS][MAX_DIMS] strides

ctypedef void (*Part)(Walk *walk, int n, void *data) noexcept nogil

cdef cnp.ndarray evaluate(Kernel *kernel, PyObject **arrays, int n, int dtype_code, cnp.ndarray out, bint keep_gil=*)
cdef void coalesce(Walk *walk, int n) noexcept nogil
cdef void call_part(Walk *walk, int n, void *called) noexcept nogil
cdef void share(Walk *walk, int n, Part part, void *data, bint keep_gil=*) noexcept nogil
cdef int broadcast_shape(Walk *walk, PyObject **arrays, int n) except -1
cdef list set_operands(Walk *walk, PyObject **arrays, int n)
cdef void set_operand(Walk *walk, int k, cnp.ndarray array) noexcept
cdef void call_flattened(Loop loop, char **args, npy_intp n, const npy_intp *strides, int operands,
                         npy_intp itemsize) noexcept nogil
cdef void copy_strided "autograd_cy_copy_strided"(char *to, npy_intp to_stride, const char *source, npy_intp stride,
                                                  npy_intp n, npy_intp itemsize) noexcept nogil

# in ufunc_loops.pyx
cdef int borrow(Kernel *kernels, object ufunc, object result_code_of) except -1
cdef void nextafter_bf16(char **args, const npy_intp *dims, const npy_intp *strides, void *data) noexcept nogil

# in copies.pyx
cdef cnp.ndarray copied(cnp.ndarray array)
cdef cnp.ndarray reversed_rows(cnp.ndarray array)
cdef int copy_triangles(unsigned char[:, ::1] result, const unsigned char[:, ::1] array, Py_ssize_t rows, Py_ssize_t diagonal,
                        Py_ssize_t itemsize, bint lower) noexcept nogil

# in adding.pyx
cdef int add_into(cnp.ndarray total, cnp.ndarray array) except -1
cdef Kernel *adding_kernel(int dtype_code) noexcept
cdef int add_row(cnp.ndarray y, cnp.ndarray row) except -1

# in choice_loops.pyx
cdef cnp.ndarray chosen(cnp.ndarray condition, cnp.ndarray x, cnp.ndarray y, int dtype_code)
