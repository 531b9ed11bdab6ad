"""Loops between images and the patches under a convolution's kernel (knows no Tensor).

The patches of a block of places are a matrix. A row for each channel and tap, in the weight's order, holds the pixel that the
tap sees from each place. If the stride is 1, neighbouring places see neighbouring pixels, so whole runs are copied: of a
line, or of all lines if a line of the result is as long as a line of the image. Padding is not stored: a tap outside of the
image sees zeros.

Runs are short, so loops take pointers: a memoryview would cost as much as a run.
"""

from libc.string cimport memset

from autograd_cy._core.kernels.reduction_loops cimport real
from autograd_cy._core.runtime.numpy_api cimport npy_intp

# Declares the float and double versions that Cython generates from fused functions.
cdef extern from *:
    """
    #include "runs.h"
    #undef DECLARE_CLONED
    #define DECLARE_CLONED(real, fuse) \\
        AUTOGRAD_CY_CLONED AUTOGRAD_CY_FLAT static void fuse##autograd_cy_gather_rows( \\
            void const *, void const *, real *, npy_intp, npy_intp, real *); \\
        AUTOGRAD_CY_CLONED AUTOGRAD_CY_FLAT static void fuse##autograd_cy_scatter_rows( \\
            void const *, void const *, real *, npy_intp, npy_intp, real *);
    DECLARE_CLONED(float, __pyx_fuse_0)
    DECLARE_CLONED(double, __pyx_fuse_1)
    """
    void copy_run(void *out, const void *x, npy_intp bytes) noexcept nogil
    void add_run_f32(float *out, const float *x, npy_intp n) noexcept nogil
    void add_run_f64(double *out, const double *x, npy_intp n) noexcept nogil

cdef struct Lines:              # the pixels that one tap sees from a block's lines in one depth of the result
    npy_intp first, end         # the lines for which the tap is inside the image ...
    npy_intp left, right        # ... and the places of each line
    npy_intp pixel, step        # the pixel that the first of these places sees, and the distance to the next line


cdef void gather(const Geometry *of, const Block *block, const real *images, npy_intp channel, npy_intp end,
                 real *rows) noexcept nogil:
    """Write the rows of some channels of a group; `images` points to that group's channels of the first image."""
    gather_rows(of, block, <real *> images, channel, end, rows)


cdef void scatter(const Geometry *of, const Block *block, real *images, npy_intp channel, npy_intp end,
                  real *rows) noexcept nogil:
    """Add the rows of some channels to the pixels that they come from: the transpose of `gather`."""
    scatter_rows(of, block, images, channel, end, rows)


cdef void gather_rows "autograd_cy_gather_rows"(
        const void *of, const void *block, real *images, npy_intp channel, npy_intp end, real *rows) noexcept nogil:
    walk_rows(<const Geometry *> of, <const Block *> block, images, channel, end, rows, False)


cdef void scatter_rows "autograd_cy_scatter_rows"(
        const void *of, const void *block, real *images, npy_intp channel, npy_intp end, real *rows) noexcept nogil:
    walk_rows(<const Geometry *> of, <const Block *> block, images, channel, end, rows, True)


cdef inline void walk_rows(const Geometry *given, const Block *block, real *images, npy_intp channel, npy_intp end, real *row,
                           bint adding) noexcept nogil:
    """Go by taps and depths, so that offsets are computed once for all channels and images."""
    cdef Geometry of = given[0]                 # a copy: no write can alias it
    cdef npy_intp i, j, k, line, y, depth, count, last = block.line + block.lines
    cdef Lines lines
    for i in range(of.kernel[0]):
        for j in range(of.kernel[1]):
            for k in range(of.kernel[2]):
                line = block.line
                while line < last:
                    y = line % of.out[1]
                    depth = line // of.out[1] * of.stride[0] - of.padding[0] + i * of.dilation[0]
                    count = min(of.out[1] - y, last - line)
                    lines = lines_of(&of, block, y, count, j, k)
                    if 0 <= depth < of.size[0]:
                        lines.pixel += depth * of.size[1] * of.size[2]
                    else:
                        lines.end = lines.first
                    walk_channels(&of, block, &lines, images, channel, end, row + (line - block.line) * block.width, count,
                                  adding)
                    line += count
                row += block.step


cdef inline void walk_channels(const Geometry *of, const Block *block, const Lines *lines, real *images, npy_intp channel,
                               npy_intp end, real *row, npy_intp count, bint adding) noexcept nogil:
    """Process one tap for all channels and images of a block, in lines of one depth."""
    cdef npy_intp image, size = of.groups * of.channels * of.pixels, places = block.lines * block.width
    while channel < end:
        for image in range(block.images):
            walk_lines(of, lines, images + image * size + channel * of.pixels, row + image * places, count, block.width,
                       adding)
        row += of.taps * block.step
        channel += 1


cdef inline Lines lines_of(const Geometry *of, const Block *block, npy_intp y, npy_intp count, npy_intp j,
                           npy_intp k) noexcept nogil:
    cdef npy_intp top = y * of.stride[1] - of.padding[1] + j * of.dilation[1]
    cdef npy_intp left = block.place * of.stride[2] - of.padding[2] + k * of.dilation[2]
    cdef Lines lines
    lines.first, lines.end = inside(top, of.stride[1], of.size[1], count)
    lines.left, lines.right = inside(left, of.stride[2], of.size[2], block.width)
    lines.pixel = (top + lines.first * of.stride[1]) * of.size[2] + left + lines.left * of.stride[2]
    lines.step = of.stride[1] * of.size[2]
    if lines.left == lines.right:
        lines.end = lines.first
    return lines


cdef inline (npy_intp, npy_intp) inside(npy_intp start, npy_intp stride, npy_intp size, npy_intp n) noexcept nogil:
    """The range of k in 0..n with 0 <= start + k * stride < size."""
    cdef npy_intp first = 0 if start >= 0 else min((stride - 1 - start) // stride, n)
    cdef npy_intp end = 0 if start >= size else min((size - 1 - start) // stride + 1, n)
    return first, max(first, end)


cdef inline void walk_lines(const Geometry *of, const Lines *lines, real *image, real *row, npy_intp count, npy_intp width,
                            bint adding) noexcept nogil:
    cdef npy_intp y, x, n = lines.right - lines.left, height = lines.end - lines.first, stride = of.stride[2]
    cdef npy_intp before = lines.first * width + lines.left, run = (height - 1) * width + n
    cdef real *pixel = image + lines.pixel
    if height == 0:
        if not adding:
            memset(row, 0, count * width * sizeof(real))
        return
    if not adding:
        zero_run(row, before)
        zero_run(row + before + run, count * width - before - run)
    row += before
    if stride == 1 and lines.step == width:         # one run; the gaps between lines are zeroed
        if not adding:
            move(pixel, row, run, False)
        for y in range(height - 1 if n < width else 0):
            zero_run(row + y * width + n, width - n)
        if adding:
            move(pixel, row, run, True)
        return
    for y in range(height):
        if y > 0 and not adding:
            zero_run(row + n - width, width - n)
        if stride == 1:
            move(pixel, row, n, adding)
        elif adding:
            for x in range(n):
                pixel[x * stride] += row[x]
        else:
            for x in range(n):
                row[x] = pixel[x * stride]
        pixel += lines.step
        row += width


cdef inline void zero_run(real *row, npy_intp n) noexcept nogil:
    if n == 1:                                      # the most frequent case: the padding of a 3x3 kernel
        row[0] = 0
    elif n > 0:
        memset(row, 0, n * sizeof(real))


cdef inline void move(real *pixels, real *row, npy_intp n, bint adding) noexcept nogil:
    if not adding:
        copy_run(row, pixels, n * sizeof(real))
    elif real is float:
        add_run_f32(pixels, row, n)
    else:
        add_run_f64(pixels, row, n)
