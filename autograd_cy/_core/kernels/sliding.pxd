"""Windows that slide over pictures, as columns."""

from autograd_cy._core.runtime cimport numpy_api as cnp
from autograd_cy._core.runtime.numpy_api cimport npy_intp

cdef struct Sliding:
    npy_intp[2] size, blocks                    # of a picture, and how many windows there are along each side
    npy_intp[2] kernel, dilation, padding, stride
    npy_intp parts                              # numbers of which an element consists: 2 of a complex one

cdef int slide(const Sliding *of, cnp.ndarray pictures, cnp.ndarray columns, npy_intp planes, bint adding) except -1
