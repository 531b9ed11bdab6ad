"""Sliding windows of images, as columns (knows no Tensor): copied out of the images, or added to them.

A plane has a row for each element of the kernel, with an element of each window. Threads share planes.
"""

from libc.string cimport memset

from autograd_cy._core.arrays.dtypes cimport COMPLEX64, FLOAT32, code_of
from autograd_cy._core.kernels.reduction_loops cimport real
from autograd_cy._core.parallel.threads cimport parallel_for
from autograd_cy._core.runtime cimport numpy_api as cnp
from autograd_cy._core.runtime.numpy_api cimport npy_intp


# Declares the float and double versions that Cython generates from fused functions.
cdef extern from *:
    """
    #include "clones.h"
    #undef DECLARE_CLONED
    #define DECLARE_CLONED(real, fuse) \\
        AUTOGRAD_CY_CLONED AUTOGRAD_CY_FLAT static void fuse##autograd_cy_slide_part( \\
            void const *, real *, real *, npy_intp, npy_intp);
    DECLARE_CLONED(float, __pyx_fuse_0)
    DECLARE_CLONED(double, __pyx_fuse_1)
    """

cdef struct Slide:              # a shared loop
    const Sliding *of
    void *pictures
    void *columns
    bint adding


cdef int slide(const Sliding *of, cnp.ndarray pictures, cnp.ndarray columns, npy_intp planes, bint adding) except -1:
    """columns = the windows of each plane; or, if `adding`, pictures += columns. Both are dense and of one type."""
    cdef Slide sliding = Slide(of, cnp.PyArray_DATA(pictures), cnp.PyArray_DATA(columns), adding)
    cdef int dtype_code = code_of(columns)
    cdef npy_intp work = of.kernel[0] * of.kernel[1] * of.blocks[0] * of.blocks[1] * of.parts
    parallel_for(slide_f32 if dtype_code == FLOAT32 or dtype_code == COMPLEX64 else slide_f64, &sliding, planes, work)
    return 0


cdef void slide_f32(void *data, Py_ssize_t first, Py_ssize_t end) noexcept nogil:
    slide_part(data, <float *> (<Slide *> data).pictures, <float *> (<Slide *> data).columns, first, end)


cdef void slide_f64(void *data, Py_ssize_t first, Py_ssize_t end) noexcept nogil:
    slide_part(data, <double *> (<Slide *> data).pictures, <double *> (<Slide *> data).columns, first, end)


cdef void slide_part "autograd_cy_slide_part"(
        const void *data, real *pictures, real *columns, npy_intp first, npy_intp end) noexcept nogil:
    """Some planes."""
    cdef const Slide *sliding = <const Slide *> data
    cdef const Sliding *of = sliding.of
    cdef npy_intp size = of.size[0] * of.size[1] * of.parts, length = of.blocks[0] * of.blocks[1] * of.parts
    cdef npy_intp plane, i, j
    columns += first * of.kernel[0] * of.kernel[1] * length
    for plane in range(first, end):
        for i in range(of.kernel[0]):
            for j in range(of.kernel[1]):
                slide_row(of, pictures + plane * size, columns, i, j, sliding.adding)
                columns += length


cdef inline void slide_row(const Sliding *of, real *picture, real *row, npy_intp i, npy_intp j, bint adding) noexcept nogil:
    """The pixels of a plane under one element of the kernel."""
    cdef npy_intp left = j * of.dilation[1] - of.padding[1], y, height, width = of.blocks[1] * of.parts
    cdef npy_intp before = min(max((-left + of.stride[1] - 1) // of.stride[1], 0), of.blocks[1])
    cdef npy_intp end = max(min((of.size[1] - left + of.stride[1] - 1) // of.stride[1], of.blocks[1]), before)
    for y in range(of.blocks[0]):
        height = y * of.stride[0] - of.padding[0] + i * of.dilation[0]
        if 0 <= height < of.size[0]:
            if not adding:
                memset(row, 0, before * of.parts * sizeof(real))
                memset(row + end * of.parts, 0, (of.blocks[1] - end) * of.parts * sizeof(real))
            slide_run(picture + (height * of.size[1] + before * of.stride[1] + left) * of.parts, row + before * of.parts,
                      end - before, of.stride[1], of.parts, adding)
        elif not adding:
            memset(row, 0, width * sizeof(real))
        row += width


cdef inline void slide_run(real *picture, real *row, npy_intp n, npy_intp stride, npy_intp parts, bint adding) noexcept nogil:
    """n elements of a line, `stride` apart in the picture, all inside it."""
    cdef npy_intp k, part
    if stride == 1:
        n, stride = n * parts, 1
        parts = 1
    for k in range(n):
        for part in range(parts):
            if adding:
                picture[k * stride * parts + part] = picture[k * stride * parts + part] + row[k * parts + part]
            else:
                row[k * parts + part] = picture[k * stride * parts + part]
