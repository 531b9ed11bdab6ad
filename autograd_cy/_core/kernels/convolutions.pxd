"""Loops of convolutions over planes, and of the columns of their windows."""

from autograd_cy._core.kernels.reduction_loops cimport real
from autograd_cy._core.runtime cimport numpy_api as cnp
from autograd_cy._core.runtime.numpy_api cimport npy_intp

# in patches.pyx

cdef struct Geometry:               # of a convolution; missing dimensions come first, with a size of 1
    npy_intp batch, groups
    npy_intp channels, filters      # of each group: channels of the images, and of the result
    npy_intp[3] size, out           # of an image, and of the result
    npy_intp[3] kernel, stride, padding, dilation
    npy_intp pixels, places, taps   # the products of size, out and kernel

cdef struct Block:                  # places of the result: parts of some lines of an image, or all of some images
    npy_intp image, images          # the first image, and how many
    npy_intp line, lines            # the first line, counted through the depths of an image, and how many of each image
    npy_intp place, width           # the first place of each line, and how many
    npy_intp places                 # of the block ...
    npy_intp step                   # ... and the distance of its rows, in elements

cdef void gather(const Geometry *of, const Block *block, const real *images, npy_intp channel, npy_intp end,
                 real *rows) noexcept nogil
cdef void scatter(const Geometry *of, const Block *block, real *images, npy_intp channel, npy_intp end,
                  real *rows) noexcept nogil

# in plane_convolutions.pyx
cdef bint suits_planes(const Geometry *of) noexcept
cdef int convolve_planes(const Geometry *of, cnp.ndarray x, cnp.ndarray weight, cnp.ndarray y) except -1
cdef int convolve_planes_back(const Geometry *of, cnp.ndarray g, cnp.ndarray weight, cnp.ndarray x) except -1
cdef int correlate_planes(const Geometry *of, cnp.ndarray x, cnp.ndarray g, cnp.ndarray weight) except -1

# in convolutions.pyx
cdef int convolve(const Geometry *of, cnp.ndarray x, cnp.ndarray weight, cnp.ndarray bias, cnp.ndarray y) except -1
cdef int convolve_back(const Geometry *of, cnp.ndarray g, cnp.ndarray weight, cnp.ndarray x) except -1
cdef int correlate(const Geometry *of, cnp.ndarray x, cnp.ndarray g, cnp.ndarray weight) except -1
cdef int sum_filters(cnp.ndarray g, cnp.ndarray bias) except -1
cdef int add_filters(cnp.ndarray bias, cnp.ndarray y) except -1

# in sliding.pyx

cdef struct Sliding:
    npy_intp[2] size, blocks                    # of a picture, and the number of windows along each side
    npy_intp[2] kernel, dilation, padding, stride
    npy_intp parts                              # real numbers in an element: 2 if complex

cdef int slide(const Sliding *of, cnp.ndarray pictures, cnp.ndarray columns, npy_intp planes, bint adding) except -1
