"""Convolutions of arrays whose channels lie last in memory, and their gradients, by products of matrices (knows no Tensor).

Images are (N, ..., C) in C order: pixels are rows of a matrix. The patch under the kernel at one place is a row as well: all
taps with all their channels, copied in runs of neighbouring pixels. Some hundred patches are multiplied at once
(NOTE [Convolutions in blocks] says why). A pointwise kernel needs no copy. Threads share blocks of places or, for the
weight's gradient, slices of the blocks. Larger kernels mostly read images in place (channel_places.pyx), gradients line by
line (channel_taps.pyx).
"""

from libc.stdlib cimport free, malloc
from libc.string cimport memset

import numpy as np

from autograd_cy._core.arrays.buffers cimport new_array
from autograd_cy._core.arrays.dtypes cimport FLOAT32, FLOAT64, code_of
from autograd_cy._core.kernels.convolutions cimport Geometry
from autograd_cy._core.kernels.gemm cimport multiply_by_panels
from autograd_cy._core.kernels.norm_loops cimport add_moments, room_of
from autograd_cy._core.kernels.planes cimport Planes
from autograd_cy._core.kernels.reduction_loops cimport real
from autograd_cy._core.parallel.threads cimport Task, parallel_for
from autograd_cy._core.runtime cimport numpy_api as cnp
from autograd_cy._core.runtime.numpy_api cimport npy_intp

cnp.import_array()

# Declares the float and double versions that Cython generates from fused functions.
cdef extern from *:
    """
    #include "runs.h"
    #undef DECLARE_CLONED
    #define DECLARE_CLONED(real, fuse) \\
        AUTOGRAD_CY_CLONED AUTOGRAD_CY_FLAT static void fuse##autograd_cy_walk_places( \\
            void const *, real *, npy_intp, npy_intp, npy_intp, real *);
    DECLARE_CLONED(float, __pyx_fuse_0)
    DECLARE_CLONED(double, __pyx_fuse_1)
    """
    void copy_run(void *out, const void *x, npy_intp bytes) noexcept nogil

cdef enum:
    PLACES = 256            # at most in a block ...
    PATCHES = 1 << 18       # ... whose patches have at most so many elements ...
    FEWEST = 64             # ... but never fewer places than this: each block reads the weight or its gradient again
    LINE = 16               # elements of float32 in a cache line
    SLICES = 16             # at most, of blocks, each with its own sums for the weight's gradient ...
    TOTALS = 1 << 17        # ... and elements of all these sums together
    TO_AN_ELEMENT = 8       # multiplications that take as long as one element of an elementwise loop

cdef struct Pass:           # a shared loop
    const Geometry *of
    const void *x           # images; one of x, matrices and y is written
    const void *matrices    # of each group
    const void *bias
    const void *y
    void *totals            # of the weight's gradient, for each slice
    int dtype_code
    npy_intp length         # of a patch ...
    npy_intp step           # ... and the distance to the next one in memory
    npy_intp block, blocks  # places of a block, and blocks of each group
    npy_intp slices
    bint turned             # matrices are transposed
    bint by_taps            # matrices are of single taps, reversed
    bint failed             # there was no memory for a block


cdef Pass pass_of(const Geometry *of, const void *x, const void *matrices, const void *y, int dtype_code,
                  npy_intp places) noexcept:
    """`places`: the number of places to divide into blocks."""
    cdef Pass p
    p.of, p.x, p.matrices, p.bias, p.y, p.totals, p.dtype_code = of, x, matrices, NULL, y, NULL, dtype_code
    p.length, p.slices, p.turned, p.by_taps, p.failed = of.taps * of.channels, 1, False, False, False
    p.step = step_of(of)
    p.block = min(max(PATCHES // p.length, <npy_intp> FEWEST), <npy_intp> PLACES)
    p.blocks = (places + p.block - 1) // p.block
    return p


cdef inline npy_intp step_of(const Geometry *of) noexcept nogil:
    """The distance between patches in memory: an odd number of cache lines."""
    return (of.taps * of.channels + LINE - 1) // LINE * LINE | LINE


cdef int share(Task task, Pass *p, npy_intp n) except -1:
    cdef const Geometry *of = p.of
    cdef npy_intp multiplications = of.batch * of.groups * of.places * of.filters * p.length
    parallel_for(task, p, n, max(multiplications // n // TO_AN_ELEMENT, 1))
    if p.failed:
        raise MemoryError("convolution: not enough memory for a block of patches")
    return 0


cdef real *take_memory(Pass *p, real kind) noexcept nogil:
    """Room for a block's patches, and for its results if they have to be transposed."""
    cdef real *memory = <real *> malloc(p.block * (p.step + (p.of.filters if p.turned else 0)) * sizeof(real))
    if memory == NULL:
        p.failed = True
    return memory


cdef bint is_pointwise(const Geometry *of) noexcept nogil:
    """Whether patches are pixels."""
    cdef int k
    for k in range(3):
        if of.stride[k] != 1 or of.padding[k] != 0:
            return False
    return of.taps == 1


# patches

cdef void walk_places "autograd_cy_walk_places"(
        const void *geometry, real *images, npy_intp group, npy_intp first, npy_intp end, real *rows) noexcept nogil:
    """Copy the patches of some places, counted through all images."""
    cdef Geometry of = (<const Geometry *> geometry)[0]         # a copy: no write can alias it
    cdef npy_intp step = step_of(&of), run = of.kernel[2] * of.channels, apart = of.groups * of.channels, i, j, line
    cdef npy_intp image = first // of.places, rest = first % of.places, lines = of.out[1], width = of.out[2]
    cdef npy_intp x = rest % width, y = rest // width % lines, z = rest // width // lines, _place
    cdef real *row
    images += image * of.pixels * apart + group * of.channels
    for _place in range(first, end):
        row = rows
        for i in range(of.kernel[0]):
            for j in range(of.kernel[1]):
                line = line_of(&of, z, y, i, j)
                walk_line(&of, images + max(line, <npy_intp> 0) * apart, x * of.stride[2] - of.padding[2], line < 0, row)
                row += run
        rows += step
        x += 1
        if x == width:
            x, y = 0, y + 1
            if y == lines:
                y, z = 0, z + 1
                if z == of.out[0]:
                    z = 0
                    images += of.pixels * apart


cdef inline npy_intp line_of(const Geometry *of, npy_intp z, npy_intp y, npy_intp i, npy_intp j) noexcept nogil:
    """The first pixel of the image line that taps i and j see from a place; -1 outside of the image."""
    cdef npy_intp depth = z * of.stride[0] - of.padding[0] + i * of.dilation[0]
    cdef npy_intp height = y * of.stride[1] - of.padding[1] + j * of.dilation[1]
    if not (0 <= depth < of.size[0] and 0 <= height < of.size[1]):
        return -1
    return (depth * of.size[1] + height) * of.size[2]


cdef inline void walk_line(const Geometry *of, real *line, npy_intp left, bint beside, real *row) noexcept nogil:
    """The taps along a line. The first one sees pixel `left`; if `beside`, all see zeros."""
    cdef npy_intp n = of.channels, taps = of.kernel[2], k, first, end
    if beside:
        zero(row, taps * n)
    elif of.groups == 1 and of.dilation[2] == 1 and left >= 0 and left + taps <= of.size[2]:
        copy_run(row, line + left * n, taps * n * sizeof(real))
    elif of.groups == 1 and of.dilation[2] == 1:
        first, end = min(max(-left, <npy_intp> 0), taps), max(min(of.size[2] - left, taps), <npy_intp> 0)
        if first >= end:
            zero(row, taps * n)
            return
        zero(row, first * n)
        zero(row + end * n, (taps - end) * n)
        copy_run(row + first * n, line + (left + first) * n, (end - first) * n * sizeof(real))
    else:
        for k in range(taps):
            if 0 <= left + k * of.dilation[2] < of.size[2]:
                copy_run(row + k * n, line + (left + k * of.dilation[2]) * of.groups * n, n * sizeof(real))
            else:
                zero(row + k * n, n)


cdef inline void zero(real *row, npy_intp n) noexcept nogil:
    if n > 0:
        memset(row, 0, n * sizeof(real))


# forward

cdef int convolve_channels(const Geometry *of, cnp.ndarray x, cnp.ndarray matrices, cnp.ndarray bias, cnp.ndarray y,
                           bint turned) except -1:
    """y = the convolution of x, plus the bias (or None). `matrices`: (groups, taps and channels, filters); or, if `turned`,
    (groups, filters, taps and channels): then results are transposed instead, which pays for few places."""
    cdef int dtype_code = code_of(y)
    cdef Pass p = pass_of(of, cnp.PyArray_DATA(x), cnp.PyArray_DATA(matrices), cnp.PyArray_DATA(y), dtype_code,
                          of.batch * of.places)
    p.bias, p.turned = NULL if bias is None else cnp.PyArray_DATA(bias), turned
    return share(forward_f32 if dtype_code == FLOAT32 else forward_f64, &p, p.blocks * of.groups)


cdef int convolve_channels_back(const Geometry *of, cnp.ndarray g, cnp.ndarray weight, cnp.ndarray x) except -1:
    """x = the convolution of g by the reversed taps of a weight (groups, channels, taps, filters), which is not copied."""
    cdef int dtype_code = code_of(x)
    cdef Pass p = pass_of(of, cnp.PyArray_DATA(g), cnp.PyArray_DATA(weight), cnp.PyArray_DATA(x), dtype_code,
                          of.batch * of.places)
    p.by_taps = True
    return share(forward_f32 if dtype_code == FLOAT32 else forward_f64, &p, p.blocks * of.groups)


cdef void forward_f32(void *data, Py_ssize_t first, Py_ssize_t end) noexcept nogil:
    forward(<Pass *> data, first, end, <float> 0)


cdef void forward_f64(void *data, Py_ssize_t first, Py_ssize_t end) noexcept nogil:
    forward(<Pass *> data, first, end, <double> 0)


cdef inline void forward(Pass *p, npy_intp number, npy_intp end, real kind) noexcept nogil:
    """Some blocks, counted through groups."""
    cdef const Geometry *of = p.of
    cdef npy_intp size = sizeof(real), row = of.groups * of.filters, group, place, last
    cdef real *memory = take_memory(p, kind)
    cdef real *y
    cdef const char *bias
    if memory == NULL:
        return
    while number < end:
        group, place = number // p.blocks, number % p.blocks * p.block
        last = min(place + p.block, of.batch * of.places)
        y = <real *> p.y + place * row + group * of.filters
        bias = NULL if p.bias == NULL else <const char *> (<const real *> p.bias + group * of.filters)
        multiply_patches(p, group, place, last, memory, <const char *> (<const real *> p.matrices
                         + group * p.length * of.filters), of.filters, bias, <char *> y, row * size)
        number += 1
    free(memory)


cdef inline void multiply_patches(Pass *p, npy_intp group, npy_intp place, npy_intp last, real *memory, const char *matrix,
                                  npy_intp columns, const char *bias, char *y, npy_intp row) noexcept nogil:
    """y = the patches of some places times a matrix, plus the bias (or NULL)."""
    cdef const Geometry *of = p.of
    cdef npy_intp size = sizeof(real), patch = p.step, places = last - place, tap
    cdef real *patches = memory
    cdef real *results = memory + p.block * p.step
    if is_pointwise(of):
        patch = of.groups * of.channels
        patches = <real *> p.x + place * patch + group * of.channels
    else:
        walk_places(of, <real *> p.x, group, place, last, memory)
    if p.turned:
        multiply_by_panels(p.dtype_code, matrix, p.length * size, size, <const char *> patches, size, patch * size,
                           <char *> results, places * size, columns, p.length, places, NULL, 0)
        turn_results(results, places, columns, <const real *> bias, <real *> y, row // size)
        return
    if p.by_taps:
        for tap in range(of.taps):
            multiply_by_panels(p.dtype_code, <const char *> (patches + (of.taps - 1 - tap) * of.channels), patch * size, size,
                               matrix + tap * columns * size, of.taps * columns * size, size, y, row, places, of.channels,
                               columns, y if tap > 0 else NULL, row)
        return
    multiply_by_panels(p.dtype_code, <const char *> patches, patch * size, size, matrix, columns * size, size, y, row,
                       places, p.length, columns, bias, 0)


cdef inline void turn_results(const real *results, npy_intp places, npy_intp filters, const real *bias, real *y,
                              npy_intp row) noexcept nogil:
    cdef npy_intp place, f
    for place in range(places):
        for f in range(filters):
            y[f] = results[f * places + place] + (0 if bias == NULL else bias[f])
        y += row


# backward

cdef int correlate_channels(const Geometry *of, cnp.ndarray x, cnp.ndarray g, cnp.ndarray weight) except -1:
    """weight = its gradient, (groups * filters, taps and channels): the sum over all places of a filter's incoming gradient
    times the patch there."""
    cdef int dtype_code = code_of(g)
    cdef Pass p = pass_of(of, cnp.PyArray_DATA(x), NULL, cnp.PyArray_DATA(g), dtype_code, of.batch * of.places)
    cdef npy_intp n = of.groups * of.filters * p.length
    cdef npy_intp[2] sizes
    p.slices = min(max(TOTALS // n, <npy_intp> 2), <npy_intp> SLICES, p.blocks)
    sizes[0], sizes[1] = p.slices, n
    cdef cnp.ndarray totals = weight if p.slices == 1 else new_array(dtype_code, 2, sizes)
    p.totals = cnp.PyArray_DATA(totals)
    share(correlate_f32 if dtype_code == FLOAT32 else correlate_f64, &p, p.slices * of.groups)
    if p.slices > 1:
        np.add.reduce(totals, 0, out=weight.reshape(-1))
    return 0


cdef void correlate_f32(void *data, Py_ssize_t first, Py_ssize_t end) noexcept nogil:
    correlate(<Pass *> data, first, end, <float> 0)


cdef void correlate_f64(void *data, Py_ssize_t first, Py_ssize_t end) noexcept nogil:
    correlate(<Pass *> data, first, end, <double> 0)


cdef inline void correlate(Pass *p, npy_intp number, npy_intp end, real kind) noexcept nogil:
    """Some slices, counted through groups."""
    cdef const Geometry *of = p.of
    cdef npy_intp size = sizeof(real), row = of.groups * of.filters, group, slice, block, place, last, patch
    cdef real *memory = take_memory(p, kind)
    cdef real *patches
    cdef char *total
    if memory == NULL:
        return
    while number < end:
        group, slice = number // p.slices, number % p.slices
        total = <char *> (<real *> p.totals + (slice * row + group * of.filters) * p.length)
        for block in range(p.blocks * slice // p.slices, p.blocks * (slice + 1) // p.slices):
            place, patch, patches = block * p.block, p.step, memory
            last = min(place + p.block, of.batch * of.places)
            if is_pointwise(of):
                patch = of.groups * of.channels
                patches = <real *> p.x + place * patch + group * of.channels
            else:
                walk_places(of, <real *> p.x, group, place, last, memory)
            multiply_by_panels(p.dtype_code, <const char *> (<const real *> p.y + place * row + group * of.filters), size,
                               row * size, <const char *> patches, patch * size, size, total, p.length * size, of.filters,
                               last - place, p.length,
                               total if block > p.blocks * slice // p.slices else NULL, p.length * size)
        number += 1
    free(memory)


cdef int sum_channels(cnp.ndarray g, cnp.ndarray bias) except -1:
    """bias = its gradient: each filter's sum of the incoming gradient."""
    cdef npy_intp n = cnp.PyArray_SIZE(bias), pairs
    cdef Planes planes = Planes(cnp.PyArray_SIZE(g), 1, n, 1, n)
    pairs = 2 * room_of(&planes)
    cdef cnp.ndarray sums = new_array(FLOAT64, 1, &pairs), centers = new_array(code_of(g), 1, &n)
    centers.fill(0)
    add_moments(code_of(g), cnp.PyArray_DATA(g), &planes, cnp.PyArray_DATA(centers), <double *> cnp.PyArray_DATA(sums))
    bias[...] = sums[:2 * n:2]
    return 0
