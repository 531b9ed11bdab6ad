"""The inner loops of ufuncs, by type (knows no Tensor).

NOTE [Borrowed loops]
A ufunc's inner loop costs some 10 ns for 16 elements, the ufunc around it 250. So the loops are looked up once, at
import, and called here. The rules:
  1. the first match of a signature is the loop that NumPy uses (some are listed twice and differ in bits);
  2. operands are aligned and of native byte order; an unaligned one is copied first;
  3. results are written in contiguous runs (NumPy 2.4's isinf and isfinite are wrong for strided ones);
  4. loops never warn, ufuncs do: all layouts go through the loops, so that no warning depends on strides;
  5. bfloat16, for which NumPy has no loops, gets a loop that calls float32's block by block.
"""

from cpython.object cimport PyObject

from autograd_cy._core.arrays.dtypes cimport BFLOAT16, BOOL, FLOAT32, NCODES, TYPE_NUM
from autograd_cy._core.runtime.numpy_api cimport npy_intp

cdef extern from "numpy/ufuncobject.h":
    ctypedef struct UfuncObject "PyUFuncObject":
        int nargs
        int ntypes
        Loop *functions
        void **data
        const char *types

cdef extern from *:
    """
    #include "clones.h"
    AUTOGRAD_CY_FLAT_KERNEL(autograd_cy_widened_1)
    AUTOGRAD_CY_FLAT_KERNEL(autograd_cy_widened_2)
    AUTOGRAD_CY_FLAT_KERNEL(autograd_cy_widened_test_1)
    AUTOGRAD_CY_FLAT_KERNEL(autograd_cy_widened_test_2)
    """

cdef extern from "bfloat16.h" nogil:
    void widen "autograd_cy_widen"(float *to, const char *source, npy_intp stride, npy_intp n) noexcept
    void narrow "autograd_cy_narrow"(char *to, npy_intp stride, const float *source, npy_intp n) noexcept
    unsigned short next_to "autograd_cy_nextafter_bf16"(unsigned short a, unsigned short b) noexcept

cdef enum:
    WIDE = 512              # elements that are computed in float32 at a time


cdef inline void call_widened(char **args, npy_intp n, const npy_intp *strides, Kernel *kernel, int operands,
                              bint tests) noexcept nogil:
    """Call a float32 loop for bfloat16 operands. Results are bools if `tests`, else they are rounded.

    A result that is also the first operand, with stride 0, belongs to a reduction: it is kept in float32 until the end.
    """
    cdef float[3][WIDE] blocks
    cdef char *own[3]
    cdef npy_intp[3] steps
    cdef npy_intp start = 0, size
    cdef bint reducing = not tests and args[0] == args[operands] and strides[operands] == 0
    cdef int k
    for k in range(operands + 1):
        steps[k] = sizeof(float)
    if reducing:
        widen(&blocks[0][0], args[0], 0, 1)
        steps[0] = steps[operands] = 0
    if tests:
        steps[operands] = strides[operands]
    while start < n:
        size = min(n - start, <npy_intp> WIDE)
        for k in range(operands + 1):           # for each block: SciPy's loops move the pointers that they are given
            own[k] = <char *> &blocks[0 if reducing and k == operands else k][0]
        for k in range(reducing, operands):
            widen(&blocks[k][0], args[k] + start * strides[k], strides[k], size)
        if tests:
            own[operands] = args[operands] + start * strides[operands]
        kernel.loop(own, &size, steps, kernel.data)
        if not tests and not reducing:
            narrow(args[operands] + start * strides[operands], strides[operands], &blocks[operands][0], size)
        start += size
    if reducing:
        narrow(args[operands], sizeof(short), &blocks[0][0], 1)


cdef void widened_1 "autograd_cy_widened_1"(char **args, const npy_intp *dims, const npy_intp *strides,
                                            void *data) noexcept nogil:
    call_widened(args, dims[0], strides, <Kernel *> data, 1, False)


cdef void widened_2 "autograd_cy_widened_2"(char **args, const npy_intp *dims, const npy_intp *strides,
                                            void *data) noexcept nogil:
    call_widened(args, dims[0], strides, <Kernel *> data, 2, False)


cdef void widened_test_1 "autograd_cy_widened_test_1"(char **args, const npy_intp *dims, const npy_intp *strides,
                                                      void *data) noexcept nogil:
    call_widened(args, dims[0], strides, <Kernel *> data, 1, True)


cdef void widened_test_2 "autograd_cy_widened_test_2"(char **args, const npy_intp *dims, const npy_intp *strides,
                                                      void *data) noexcept nogil:
    call_widened(args, dims[0], strides, <Kernel *> data, 2, True)


cdef Loop widened(int operands, bint tests) noexcept:
    """The bfloat16 loop around a float32 kernel, which is its data."""
    if tests:
        return widened_test_1 if operands == 1 else widened_test_2
    return widened_1 if operands == 1 else widened_2


cdef int borrow(Kernel *kernels, object ufunc, object result_code_of) except -1:
    """Fill a table, indexed by dtype code, with a ufunc's loops from that type to the type `result_code_of(code)`.

    Types for which the ufunc has no such loop keep their entry.
    """
    cdef UfuncObject *u = <UfuncObject *> <PyObject *> ufunc
    cdef int dtype_code, i, k, wanted
    cdef bint tests = <int> result_code_of(FLOAT32) == BOOL
    for dtype_code in range(NCODES):
        for i in range(u.ntypes):
            for k in range(u.nargs):
                wanted = TYPE_NUM[dtype_code] if k < u.nargs - 1 else TYPE_NUM[<int> result_code_of(dtype_code)]
                if u.types[i * u.nargs + k] != wanted:
                    break
            else:
                kernels[dtype_code] = Kernel(u.functions[i], u.data[i])
                break
    if kernels[FLOAT32].loop != NULL and ufunc.signature is None and u.nargs <= 3:
        kernels[BFLOAT16] = Kernel(widened(u.nargs - 1, tests), &kernels[FLOAT32])
    return 0


cdef void nextafter_bf16(char **args, const npy_intp *dims, const npy_intp *strides, void *data) noexcept nogil:
    """Needs its own loop: rounding float32's next number would give the number itself."""
    cdef npy_intp i
    for i in range(dims[0]):
        (<unsigned short *> (args[2] + i * strides[2]))[0] = next_to(
            (<unsigned short *> (args[0] + i * strides[0]))[0], (<unsigned short *> (args[1] + i * strides[1]))[0])
