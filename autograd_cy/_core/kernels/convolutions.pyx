"""Convolutions of dense arrays and their gradients, by products of matrices (knows no Tensor).

NOTE [Convolutions in blocks]
The patches that the kernel sees, as rows of a matrix, times the weights are the result. There is never a matrix of all
patches: some hundred are written, multiplied while the cache has them, and overwritten by the next.
  1. A block is a part of one image or some whole images, of about PATCHES elements. Blocks and the order of their sums
     depend on sizes alone: the bits are the same for any number of threads.
  2. Channels come last in patches and images (patches.pyx). What comes and goes has them first: both are turned block by
     block, an image at a time.
  3. Of gradients, one image is a matrix as it lies in memory; only where a block has several, they are turned as well.
  4. Groups are convolutions of their own, one after the other.
"""

from libc.string cimport memset

from autograd_cy._core.arrays.buffers cimport new_array
from autograd_cy._core.arrays.dtypes cimport FLOAT32, code_of
from autograd_cy._core.kernels.gemm cimport Matrix, multiply
from autograd_cy._core.kernels.patches cimport Block, Geometry, gather, scatter, turn
from autograd_cy._core.kernels.plane_loops cimport real, row_total
from autograd_cy._core.runtime cimport numpy_api as cnp
from autograd_cy._core.runtime.numpy_api cimport npy_intp
from autograd_cy._core.runtime.threads cimport parallel_for

cnp.import_array()

# The functions that Cython makes of those of `real` numbers: of float and of double.
cdef extern from *:
    """
    #include "clones.h"
    #define DECLARE_CLONED(real, fuse) \\
        AUTOGRAD_CY_CLONED static void fuse##autograd_cy_add_rows(real const *, real *, npy_intp, npy_intp, npy_intp);
    DECLARE_CLONED(float, __pyx_fuse_0)
    DECLARE_CLONED(double, __pyx_fuse_1)
    """

cdef enum:
    PATCHES = 1 << 17       # elements of a block's patches: half of a cache of the second level
    FEW = 256               # rows of a block, at least: products of fewer are slow ...
    MOST = 1 << 22          # ... unless patches are so long that they take more elements than this


cdef class Workspace:
    """What a convolution needs besides its arrays, for one group and one block."""
    cdef npy_intp images, places    # of a block, at most
    cdef int dtype_code
    cdef npy_intp itemsize
    cdef cnp.ndarray weights        # (filters, taps, channels)
    cdef cnp.ndarray pixels         # (images, pixels, channels)
    cdef cnp.ndarray patches        # (images * places, taps, channels), or None: they are the pixels
    cdef cnp.ndarray results        # (images * places, filters)


cdef Workspace workspace_for(const Geometry *of, int dtype_code):
    cdef Workspace space = Workspace.__new__(Workspace)
    cdef npy_intp length = of.taps * of.channels
    cdef npy_intp rows = max(min(max(PATCHES // length, FEW), MOST // length), 1), blocks
    space.images = max(min(rows // of.places, of.batch), 1)
    blocks = (of.places + rows - 1) // rows
    space.places = of.places if space.images > 1 else (of.places + blocks - 1) // blocks
    space.dtype_code, space.itemsize = dtype_code, 4 if dtype_code == FLOAT32 else 8
    space.weights = scratch(dtype_code, of.filters * length)
    space.pixels = scratch(dtype_code, space.images * of.pixels * of.channels)
    space.patches = None if is_pointwise(of) else scratch(dtype_code, space.images * space.places * length)
    space.results = scratch(dtype_code, space.images * space.places * of.filters)
    return space


cdef cnp.ndarray scratch(int dtype_code, npy_intp n):
    return new_array(dtype_code, 1, &n)


cdef bint is_pointwise(const Geometry *of) noexcept:
    """Whether patches are pixels."""
    cdef int k
    for k in range(3):
        if of.stride[k] != 1 or of.padding[k] != 0:
            return False
    return of.taps == 1


cdef bint next_block(const Geometry *of, Workspace space, Block *block) noexcept:
    """Go on to the next block, from one without images to the first; False after the last."""
    block.place += block.places
    if block.images == 0 or block.place == of.places:
        block.image, block.place = block.image + block.images, 0
    block.images = min(space.images, of.batch - block.image)
    block.places = min(space.places, of.places - block.place)
    return block.images > 0


cdef void *data_of(cnp.ndarray array) noexcept:
    return NULL if array is None else cnp.PyArray_DATA(array)


cdef Matrix matrix(const void *data, npy_intp rows, npy_intp columns, npy_intp row_stride, npy_intp column_stride) noexcept:
    return Matrix(<char *> data, 1, rows, columns, 0, row_stride, column_stride)


cdef int multiplied(Workspace space, Matrix a, Matrix b, char *out, npy_intp itemsize) except -1:
    """Of copies, which a product may exchange."""
    multiply(space.dtype_code, &a, &b, out, itemsize)
    return 0


# what all three have in common

cdef void turn_weights(const Geometry *of, const real *weight, real *turned) noexcept:
    """Of one group, channels last."""
    cdef npy_intp length = of.taps * of.channels
    turn(weight, length, of.taps, turned, length, of.channels, of.filters, of.channels, of.taps)


cdef void turn_images(const Geometry *of, const Block *block, npy_intp group, const real *x, real *pixels) noexcept:
    """Of a block and one group, channels last."""
    cdef npy_intp size = of.channels * of.pixels
    x += (block.image * of.groups + group) * size
    turn(x, of.groups * size, of.pixels, pixels, size, of.channels, block.images, of.channels, of.pixels)


cdef real *patches_of(const Geometry *of, const Block *block, npy_intp group, const real *x, Workspace space) noexcept:
    """The patches of a block, as rows."""
    cdef real *pixels = <real *> data_of(space.pixels)
    cdef real *patches = <real *> data_of(space.patches)
    if block.place == 0:
        turn_images(of, block, group, x, pixels)
    if patches == NULL:
        return pixels + block.place * of.channels
    gather(of, block, pixels, patches)
    return patches


cdef Matrix results_of(const Geometry *of, const Block *block, npy_intp group, const real *g, real *turned) noexcept:
    """What comes back for a block, as rows of all filters of a group: (3) of the note."""
    cdef npy_intp size = of.filters * of.places, rows = block.images * block.places
    g += (block.image * of.groups + group) * size + block.place
    if block.images == 1:
        return matrix(g, rows, of.filters, sizeof(real), of.places * sizeof(real))
    turn(g, of.groups * size, of.places, turned, size, of.filters, block.images, of.filters, of.places)
    return matrix(turned, rows, of.filters, of.filters * sizeof(real), sizeof(real))


cdef void add_rows "autograd_cy_add_rows"(
        const real *x, real *out, npy_intp step, npy_intp rows, npy_intp columns) noexcept nogil:
    """Add rows, `step` elements apart, to dense ones."""
    cdef npy_intp _row, j
    for _row in range(rows):
        for j in range(columns):
            out[j] = out[j] + x[j]
        x += step
        out += columns


# forward

cdef int convolve(const Geometry *of, cnp.ndarray x, cnp.ndarray weight, cnp.ndarray bias, cnp.ndarray y) except -1:
    """y = the convolution of x, plus the bias (or None)."""
    cdef Workspace space = workspace_for(of, code_of(x))
    cdef npy_intp group
    for group in range(of.groups):
        if space.dtype_code == FLOAT32:
            convolve_group(of, group, space, <float *> data_of(x), <float *> data_of(weight), <float *> data_of(bias),
                           <float *> data_of(y))
        else:
            convolve_group(of, group, space, <double *> data_of(x), <double *> data_of(weight), <double *> data_of(bias),
                           <double *> data_of(y))
    return 0


cdef int convolve_group(const Geometry *of, npy_intp group, Workspace space, const real *x, const real *weight,
                        const real *bias, real *y) except -1:
    cdef Block block = Block(0, 0, 0, 0)
    cdef npy_intp length = of.taps * of.channels, size = of.filters * of.places, rows
    cdef real *weights = <real *> data_of(space.weights)
    cdef real *results = <real *> data_of(space.results)
    cdef Matrix a, b = matrix(weights, length, of.filters, sizeof(real), length * sizeof(real))
    turn_weights(of, weight + group * of.filters * length, weights)
    while next_block(of, space, &block):
        rows = block.images * block.places
        a = matrix(patches_of(of, &block, group, x, space), rows, length, length * sizeof(real), sizeof(real))
        multiplied(space, a, b, <char *> results, sizeof(real))
        if bias != NULL:
            add_rows(bias + group * of.filters, results, 0, rows, of.filters)
        turn(results, block.places * of.filters, of.filters,
             y + (block.image * of.groups + group) * size + block.place, of.groups * size, of.places,
             block.images, block.places, of.filters)
    return 0


# backward

cdef int convolve_back(const Geometry *of, cnp.ndarray g, cnp.ndarray weight, cnp.ndarray x) except -1:
    """x = the gradient for what was convolved, from that for the result: each place adds to all that its kernel saw."""
    cdef Workspace space = workspace_for(of, code_of(g))
    cdef npy_intp group
    for group in range(of.groups):
        if space.dtype_code == FLOAT32:
            convolve_group_back(of, group, space, <float *> data_of(g), <float *> data_of(weight), <float *> data_of(x))
        else:
            convolve_group_back(of, group, space, <double *> data_of(g), <double *> data_of(weight), <double *> data_of(x))
    return 0


cdef int convolve_group_back(const Geometry *of, npy_intp group, Workspace space, const real *g, const real *weight,
                             real *x) except -1:
    cdef Block block = Block(0, 0, 0, 0)
    cdef npy_intp length = of.taps * of.channels, size = of.channels * of.pixels
    cdef real *weights = <real *> data_of(space.weights)
    cdef real *pixels = <real *> data_of(space.pixels)
    cdef real *patches = <real *> data_of(space.patches)
    cdef Matrix a, b = matrix(weights, of.filters, length, length * sizeof(real), sizeof(real))
    turn_weights(of, weight + group * of.filters * length, weights)
    while next_block(of, space, &block):
        a = results_of(of, &block, group, g, <real *> data_of(space.results))
        if patches == NULL:
            multiplied(space, a, b, <char *> (pixels + block.place * of.channels), sizeof(real))
        else:
            if block.place == 0:
                memset(pixels, 0, block.images * size * sizeof(real))
            multiplied(space, a, b, <char *> patches, sizeof(real))
            scatter(of, &block, pixels, patches)
        if block.place + block.places == of.places:
            turn(pixels, size, of.channels, x + (block.image * of.groups + group) * size, of.groups * size, of.pixels,
                 block.images, of.pixels, of.channels)
    return 0


cdef int correlate(const Geometry *of, cnp.ndarray x, cnp.ndarray g, cnp.ndarray weight) except -1:
    """weight = its gradient: the sum over all places of what comes back for a filter times what the kernel saw there."""
    cdef Workspace space = workspace_for(of, code_of(x))
    cdef cnp.ndarray products = scratch(space.dtype_code, of.filters * of.taps * of.channels)
    cdef npy_intp group
    for group in range(of.groups):
        if space.dtype_code == FLOAT32:
            correlate_group(of, group, space, <float *> data_of(x), <float *> data_of(g), <float *> data_of(products),
                            <float *> data_of(weight))
        else:
            correlate_group(of, group, space, <double *> data_of(x), <double *> data_of(g), <double *> data_of(products),
                            <double *> data_of(weight))
    return 0


cdef int correlate_group(const Geometry *of, npy_intp group, Workspace space, const real *x, const real *g, real *products,
                         real *weight) except -1:
    cdef Block block = Block(0, 0, 0, 0)
    cdef npy_intp length = of.taps * of.channels, rows
    cdef bint is_first = True
    cdef real *totals = <real *> data_of(space.weights)
    cdef Matrix a, b
    while next_block(of, space, &block):
        rows = block.images * block.places
        a = results_of(of, &block, group, g, <real *> data_of(space.results))
        a = matrix(a.data, of.filters, rows, a.column_stride, a.row_stride)
        b = matrix(patches_of(of, &block, group, x, space), rows, length, length * sizeof(real), sizeof(real))
        multiplied(space, a, b, <char *> (totals if is_first else products), sizeof(real))
        if not is_first:
            add_rows(products, totals, 0, 1, of.filters * length)
        is_first = False
    turn(totals, length, of.channels, weight + group * of.filters * length, length, of.taps, of.filters, of.taps, of.channels)
    return 0


# the bias

cdef struct Planes:         # of an array (images, filters, places)
    const void *g
    void *bias
    npy_intp images, filters, places


cdef int sum_filters(cnp.ndarray g, cnp.ndarray bias) except -1:
    """bias = its gradient: the sum of what comes back for each filter."""
    cdef Planes planes = Planes(data_of(g), data_of(bias), cnp.PyArray_DIM(g, 0), cnp.PyArray_DIM(g, 1), 1)
    cdef int axis
    for axis in range(2, cnp.PyArray_NDIM(g)):
        planes.places *= cnp.PyArray_DIM(g, axis)
    parallel_for(sum_f32 if code_of(g) == FLOAT32 else sum_f64, &planes, planes.filters, planes.images * planes.places)
    return 0


cdef void sum_f32(void *data, Py_ssize_t first, Py_ssize_t end) noexcept nogil:
    sum_planes(<Planes *> data, <float *> (<Planes *> data).g, <float *> (<Planes *> data).bias, first, end)


cdef void sum_f64(void *data, Py_ssize_t first, Py_ssize_t end) noexcept nogil:
    sum_planes(<Planes *> data, <double *> (<Planes *> data).g, <double *> (<Planes *> data).bias, first, end)


cdef void sum_planes(const Planes *of, const real *g, real *bias, npy_intp first, npy_intp end) noexcept nogil:
    cdef npy_intp image, f
    cdef double total
    for f in range(first, end):
        total = 0
        for image in range(of.images):
            total += row_total(g + (image * of.filters + f) * of.places, of.places)
        bias[f] = <real> total


cdef int add_filters(cnp.ndarray bias, cnp.ndarray y) except -1:
    """y += the bias of each filter."""
    y += bias.reshape((-1,) + (1,) * (cnp.PyArray_NDIM(y) - 2))
    return 0
