"""The choice between two arrays by a third: without branches, which cost most where the truth values have no order."""

from cpython.object cimport PyObject
cimport numpy as cnp
from numpy cimport npy_intp

from autograd_cy._core.arrays.dtypes cimport ITEMSIZE
from autograd_cy._core.kernels.loops cimport Bits, Kernel, Loop, evaluate

cnp.import_array()

cdef extern from *:
    """
    #include "clones.h"
    AUTOGRAD_CY_CLONED_KERNEL(autograd_cy_choose_1)
    AUTOGRAD_CY_CLONED_KERNEL(autograd_cy_choose_2)
    AUTOGRAD_CY_CLONED_KERNEL(autograd_cy_choose_4)
    AUTOGRAD_CY_CLONED_KERNEL(autograd_cy_choose_8)
    """


cdef inline void choose(char **args, npy_intp n, const npy_intp *strides, Bits kind) noexcept nogil:
    """Contiguous operands, or one of x and y a number; else any."""
    cdef const signed char *c = <const signed char *> args[0]
    cdef const Bits *x = <const Bits *> args[1]
    cdef const Bits *y = <const Bits *> args[2]
    cdef Bits *out = <Bits *> args[3]
    cdef Bits a = x[0], b = y[0]
    cdef bint flat = strides[0] == 1 and strides[3] == sizeof(Bits)
    cdef npy_intp i
    if flat and strides[1] == sizeof(Bits) and strides[2] == sizeof(Bits):
        for i in range(n):
            a, b = x[i], y[i]
            out[i] = a if c[i] else b
    elif flat and strides[1] == 0 and strides[2] == sizeof(Bits):
        for i in range(n):
            b = y[i]
            out[i] = a if c[i] else b
    elif flat and strides[1] == sizeof(Bits) and strides[2] == 0:
        for i in range(n):
            a = x[i]
            out[i] = a if c[i] else b
    else:
        for i in range(n):
            a, b = (<const Bits *> (args[1] + i * strides[1]))[0], (<const Bits *> (args[2] + i * strides[2]))[0]
            (<Bits *> (args[3] + i * strides[3]))[0] = a if (args[0] + i * strides[0])[0] else b


cdef void choose_1 "autograd_cy_choose_1"(char **args, const npy_intp *dims, const npy_intp *strides,
                                          void *data) noexcept nogil:
    choose(args, dims[0], strides, <signed char> 0)


cdef void choose_2 "autograd_cy_choose_2"(char **args, const npy_intp *dims, const npy_intp *strides,
                                          void *data) noexcept nogil:
    choose(args, dims[0], strides, <short> 0)


cdef void choose_4 "autograd_cy_choose_4"(char **args, const npy_intp *dims, const npy_intp *strides,
                                          void *data) noexcept nogil:
    choose(args, dims[0], strides, <int> 0)


cdef void choose_8 "autograd_cy_choose_8"(char **args, const npy_intp *dims, const npy_intp *strides,
                                          void *data) noexcept nogil:
    choose(args, dims[0], strides, <long long> 0)


cdef void choose_16(char **args, const npy_intp *dims, const npy_intp *strides, void *data) noexcept nogil:
    """Two halves: a complex128."""
    cdef const long long *source
    cdef long long *out
    cdef npy_intp i
    cdef int chosen
    for i in range(dims[0]):
        chosen = 1 if (args[0] + i * strides[0])[0] else 2
        source = <const long long *> (args[chosen] + i * strides[chosen])
        out = <long long *> (args[3] + i * strides[3])
        out[0], out[1] = source[0], source[1]


cdef cnp.ndarray chosen(cnp.ndarray condition, cnp.ndarray x, cnp.ndarray y, int dtype_code):
    """x where the condition is true, else y, all broadcast; x and y are of type `dtype_code`.

    RuntimeError where shapes don't broadcast.
    """
    cdef int size = ITEMSIZE[dtype_code]
    cdef Loop loop = (choose_1 if size == 1 else choose_2 if size == 2 else choose_4 if size == 4 else
                      choose_8 if size == 8 else choose_16)
    cdef Kernel kernel = Kernel(loop, NULL)
    cdef PyObject *arrays[3]
    arrays[0], arrays[1], arrays[2] = <PyObject *> condition, <PyObject *> x, <PyObject *> y
    return evaluate(&kernel, arrays, 3, dtype_code, None)
