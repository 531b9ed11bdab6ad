"""Convolutions over images with the channels last, tap by tap along lines."""

from libc.string cimport memcpy

from autograd_cy._core.kernels.convolutions cimport Geometry
from autograd_cy._core.kernels.reduction_loops cimport real
from autograd_cy._core.runtime cimport numpy_api as cnp
from autograd_cy._core.runtime.numpy_api cimport npy_intp

# in channel_lines.pyx

cdef extern from "runs.h":
    void copy_run(void *out, const void *x, npy_intp bytes) noexcept nogil

cdef enum:
    LANE_BYTES = 64             # of the channels that a loop processes at once

cdef struct Pass:               # a shared loop
    const Geometry *of
    bint back                   # the gradient for the images
    bint dense                  # sums are products of matrices: a slab is a group, whose channels lie side by side
    int dtype_code
    npy_intp sources, results   # channels per group of the source, and of the result
    npy_intp read, written      # the same for all groups together
    npy_intp[3] size, out       # of the source, and of the result
    npy_intp phases, results_phases     # along a line ...
    npy_intp spacing            # ... or the distance between the pixels that neighbouring places see
    npy_intp line_phases        # lines of the result until one has the same taps again
    npy_intp left, columns      # of a line of the copy: zeros before the image, and all pixels of a phase
    npy_intp lines, slots       # of a block: lines of the result, and the source lines that one depth of the kernel sees
    npy_intp blocks             # of each depth of the result
    npy_intp slab, slabs        # channels of a slab
    npy_intp lanes
    npy_intp slices
    const void *x
    const void *weight          # (filters, taps, channels of a group); of products: (groups, panels, taps and sources, `row`)
    npy_intp row                # of a panel: results, and zeros behind them up to whole vectors
    const void *bias
    void *y
    double *totals              # of the gradient of the weight, for each slice: (taps, sources, filters) ...
    void *sums                  # ... or, of products: (filters, taps and sources) ...
    bint by_filters             # ... or (taps and sources, filters)
    bint failed                 # there was no memory for a copy

cdef struct Slab:
    npy_intp first, width       # channels of the copy
    npy_intp out                # the first channel of the result
    npy_intp times, period      # the number of pixels that make whole vectors, and their elements
    npy_intp seen               # pairs of vectors that a vector of the copy is picked from, at most

cdef struct Space:              # a thread's working memory
    char *lines                 # the copy: (depths of the kernel, slots, sources, phases, columns, channels of the slab)
    char *line                  # of the result, or of the incoming gradient
    char *weight                # (taps, sources, period)
    char *bias
    double *totals
    npy_intp *channels          # for each source, the channel that each element of a slab is copied from ...
    void *lanes                 # ... and for each vector and source, the same from the vector's first on
    npy_intp *offsets           # of each tap and source in the copy ...
    npy_intp *weights           # ... and in the weight
    npy_intp *segments          # of products: places in both matrices, in bytes


cdef inline npy_intp parts_of(npy_intp n, npy_intp size) noexcept nogil:
    return (n + size - 1) // size


cdef inline void copy_pixels(real *out, npy_intp out_step, const real *x, npy_intp step, npy_intp width,
                             npy_intp n) noexcept nogil:
    cdef npy_intp j
    if step == width and out_step == width:
        memcpy(out, x, n * width * sizeof(real))
        return
    for j in range(n):
        copy_run(out + j * out_step, x + j * step, width * sizeof(real))


cdef Pass pass_of(const Geometry *of, int dtype_code, bint back, bint dense) noexcept
cdef Slab slab_of(const Pass *p, npy_intp number) noexcept nogil
cdef char *take_space(Pass *p, Space *space) noexcept nogil
cdef void prepare(const Pass *p, const Slab *slab, Space *space, real kind) noexcept nogil
cdef void copy_lines(const Pass *p, const Slab *slab, const Space *space, npy_intp image, npy_intp depth, npy_intp line,
                     real kind) noexcept nogil
cdef npy_intp find_taps(const Pass *p, const Slab *slab, const Space *space, npy_intp depth, npy_intp line, npy_intp first,
                        npy_intp phase) noexcept nogil
cdef npy_intp to_next_line(const Pass *p, const Slab *slab) noexcept nogil

# in channel_taps.pyx
cdef int convolve_taps(const Geometry *of, cnp.ndarray x, cnp.ndarray weight, cnp.ndarray bias, cnp.ndarray y) except -1
cdef int convolve_taps_back(const Geometry *of, cnp.ndarray g, cnp.ndarray weight, cnp.ndarray x) except -1
cdef int correlate_taps(const Geometry *of, cnp.ndarray x, cnp.ndarray g, cnp.ndarray weight) except -1
cdef int convolve_lines_back(const Geometry *of, cnp.ndarray g, cnp.ndarray panels, cnp.ndarray x) except -1
cdef int correlate_lines(const Geometry *of, cnp.ndarray x, cnp.ndarray g, cnp.ndarray weight) except -1
