"""Sizes of a convolution, and loops between images and the patches under its kernel."""

from autograd_cy._core.kernels.reduction_loops cimport real
from autograd_cy._core.runtime.numpy_api cimport npy_intp

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
