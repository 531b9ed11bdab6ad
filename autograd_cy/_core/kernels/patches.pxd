"""What a convolution slides over: sizes, and loops between images and the patches that its kernel sees."""

from autograd_cy._core.kernels.plane_loops cimport real
from autograd_cy._core.runtime.numpy_api cimport npy_intp

cdef struct Geometry:               # of a convolution; dimensions that it lacks come first, with a size of 1
    npy_intp batch, groups
    npy_intp channels, filters      # of each group: of the images, and of what is computed from them
    npy_intp[3] size, out           # of an image, and of the result
    npy_intp[3] kernel, stride, padding, dilation
    npy_intp pixels, places, taps   # the products of size, out and kernel

cdef struct Block:                  # places of one image, or all places of some images
    npy_intp image, images          # the first image, and how many
    npy_intp place, places          # the first place, and how many of each image

cdef void gather(const Geometry *of, const Block *block, const real *pixels, real *patches) noexcept nogil
cdef void scatter(const Geometry *of, const Block *block, real *pixels, const real *patches) noexcept nogil
cdef void turn(const real *x, npy_intp x_step, npy_intp x_row, real *y, npy_intp y_step, npy_intp y_row,
               npy_intp count, npy_intp rows, npy_intp columns) noexcept nogil
