"""Sliding windows of images, as columns."""

from autograd_cy._core.runtime cimport numpy_api as cnp
from autograd_cy._core.runtime.numpy_api cimport npy_intp

cdef struct Sliding:
    npy_intp[2] size, blocks                    # of a picture, and the number of windows along each side
    npy_intp[2] kernel, dilation, padding, stride
    npy_intp parts                              # real numbers in an element: 2 if complex

cdef int slide(const Sliding *of, cnp.ndarray pictures, cnp.ndarray columns, npy_intp planes, bint adding) except -1
