"""Convolutions of dense arrays and their gradients, by products of matrices (knows no Tensor).

NOTE [Convolutions in blocks]
The result is the weights times the patches under the kernel, a column for each place. There is never a matrix of all
patches: the patches of some hundred places are copied, multiplied while in the cache, and overwritten by the next.
  1. Channels come first everywhere: patches are copied in runs of a line, and products read the gradient and write the
     result in place. Only if images have few places does a block take several images; then gradients and results are
     copied.
  2. Products use panels (panels.pyx), which accept operands of any layout. The order of each element's sum depends only on
     sizes, so the bits are the same for any number of threads.
  3. Threads share blocks of the result. For the images' gradient they share images, or channels of few images. For the
     weight's gradient they share slices of the blocks, whose sums are added at the end, or channels of a large weight. The
     sums are transposed, since patches are rows, unless there is a single block: then its product is the gradient.
  4. Groups are separate convolutions. A kernel as large as the image makes one product of all images.
"""

from libc.stdlib cimport free, malloc
from libc.string cimport memcpy

from autograd_cy._core.arrays.dtypes cimport FLOAT32, code_of
from autograd_cy._core.kernels.gemm cimport Matrix, multiply, multiply_by_panels
from autograd_cy._core.kernels.reduction_loops cimport real
from autograd_cy._core.parallel.threads cimport Task, parallel_for
from autograd_cy._core.runtime cimport numpy_api as cnp
from autograd_cy._core.runtime.numpy_api cimport npy_intp

cdef enum:
    PLACES = 256            # of a block, about ...
    PATCHES = 1 << 18       # ... whose patches have about so many elements, to fit into the L2 cache ...
    FEWEST = 32             # ... but never fewer places than a panel has columns
    LINE_BYTES = 64         # of the cache
    LINE = 16               # elements of float32 in a cache line
    PARTS = 4               # of the channels, at most
    SLICES = 16             # of the blocks, at most, each with its own sums for the weight's gradient ...
    SMALL_TOTALS = 1 << 17  # ... if the weight has no more elements
    TO_AN_ELEMENT = 8       # multiplications that take as long as one element of an elementwise loop

cdef struct Shape:          # of all blocks
    npy_intp images         # of a block: 1, or as many as fit
    npy_intp lines, width   # of each image, at most
    npy_intp stacks         # groups of images that share a block
    npy_intp rows, columns  # of blocks in a stack
    npy_intp step           # elements between the rows of a block: an odd number of cache lines

cdef struct Pass:           # a shared loop
    const Geometry *of
    Shape shape
    const void *x           # images; one of x, weight and y is written
    const void *weight
    const void *bias
    const void *y
    void *totals            # of the weight's gradient: a row for each channel and tap, a column for each filter
    int dtype_code
    npy_intp slices         # of the blocks
    npy_intp parts          # of the channels
    bint turned             # there are no totals: the weight's gradient is written as it lies
    bint failed             # there was no memory for a block

cdef struct Rows:           # of a matrix, each contiguous
    char *data
    npy_intp row            # bytes


# blocks

cdef Shape shape_of(const Geometry *of) noexcept:
    cdef Shape shape
    cdef npy_intp most = PATCHES // (of.taps * of.channels) // FEWEST * FEWEST, lines = of.out[0] * of.out[1]
    most = min(max(most, <npy_intp> FEWEST), <npy_intp> PLACES)
    shape.images = max(min(most // of.places, of.batch), 1)
    shape.stacks = parts_of(of.batch, shape.images)
    shape.columns = parts_of(of.out[2], most)
    shape.width = min(parts_of(parts_of(of.out[2], shape.columns), FEWEST) * FEWEST, of.out[2])
    shape.lines = min(lines_of_shape(shape.width, most), lines)
    shape.rows = parts_of(lines, shape.lines)
    shape.step = parts_of(shape.images * shape.lines * shape.width, LINE) * LINE | LINE
    return shape


cdef npy_intp lines_of_shape(npy_intp width, npy_intp most) noexcept:
    """The number of lines, at least 1, with at most so many places, that leaves the least of a vector (LINE) unused."""
    cdef npy_intp lines = most // width, best = max(lines, 1), least = LINE, unused
    while lines > 0 and 2 * lines >= most // width:
        unused = (LINE - lines * width % LINE) % LINE
        if unused < least:
            best, least = lines, unused
        lines -= 1
    return best


cdef inline npy_intp parts_of(npy_intp n, npy_intp size) noexcept nogil:
    """n / size, rounded up."""
    return (n + size - 1) // size


cdef Block block_of(const Geometry *of, const Shape *shape, npy_intp stack, npy_intp number) noexcept nogil:
    cdef Block block
    block.image = stack * shape.images
    block.images = min(shape.images, of.batch - block.image)
    block.line = number // shape.columns * shape.lines
    block.lines = min(shape.lines, of.out[0] * of.out[1] - block.line)
    block.place = number % shape.columns * shape.width
    block.width = min(shape.width, of.out[2] - block.place)
    block.places, block.step = block.images * block.lines * block.width, shape.step
    return block


cdef inline bint is_pointwise(const Geometry *of) noexcept nogil:
    """Whether patches are pixels."""
    cdef int k
    for k in range(3):
        if of.stride[k] != 1 or of.padding[k] != 0:
            return False
    return of.taps == 1


cdef bint sees_all(const Geometry *of) noexcept:
    """Whether the kernel covers the whole image: images are then rows of a matrix."""
    cdef int k
    for k in range(3):
        if of.out[k] != 1 or of.size[k] != of.kernel[k] or of.padding[k] != 0 or of.dilation[k] != 1:
            return False
    return of.groups == 1


cdef Matrix matrix_of(cnp.ndarray array) noexcept:
    """The array as a matrix, with a row for each index of the first dimension."""
    cdef npy_intp rows = cnp.PyArray_DIM(array, 0), size = cnp.PyArray_ITEMSIZE(array), n = cnp.PyArray_SIZE(array) // rows
    return Matrix(cnp.PyArray_BYTES(array), 1, rows, n, 0, n * size, size)


cdef Matrix transposed(Matrix m) noexcept:
    return Matrix(m.data, 1, m.columns, m.rows, 0, m.column_stride, m.row_stride)


cdef int multiply_into(Matrix a, Matrix b, cnp.ndarray out) except -1:
    multiply(code_of(out), &a, &b, cnp.PyArray_BYTES(out), cnp.PyArray_ITEMSIZE(out))
    return 0


cdef void *data_of(cnp.ndarray array) noexcept:
    return NULL if array is None else cnp.PyArray_DATA(array)


cdef Pass pass_of(const Geometry *of, cnp.ndarray x, cnp.ndarray weight, cnp.ndarray bias, cnp.ndarray y) noexcept:
    return Pass(of, shape_of(of), data_of(x), data_of(weight), data_of(bias), data_of(y), NULL, code_of(y), 1, 1, False,
                False)


cdef int share(Task task, Pass *shared, npy_intp n) except -1:
    """Call the task on 0..n, in parts on several threads. MemoryError if there is no memory for a block."""
    cdef const Geometry *of = shared.of
    cdef npy_intp multiplications = of.batch * of.groups * of.places * of.filters * of.channels * of.taps
    parallel_for(task, shared, n, max(multiplications // n // TO_AN_ELEMENT, 1))
    if shared.failed:
        raise MemoryError("convolution: not enough memory for a block of patches")
    return 0


# common to all three

cdef inline real *images_of(const Pass *p, const real *x, const Block *block, npy_intp group) noexcept nogil:
    """A group's channels of the first image of a block."""
    return <real *> x + (block.image * p.of.groups + group) * p.of.channels * p.of.pixels


cdef inline real *places_of(const Pass *p, const real *y, npy_intp image, const Block *block, npy_intp group) noexcept nogil:
    """The first place of a block in the result of an image, for the first filter of a group."""
    return (<real *> y + (image * p.of.groups + group) * p.of.filters * p.of.places + block.line * p.of.out[2] + block.place)


cdef void copy_places(const Pass *p, const Block *block, npy_intp group, real *y, real *rows, bint to_rows) noexcept nogil:
    """Copy between images with few places and rows, one for each filter, with the places of all images of a block."""
    cdef npy_intp image, f, places = p.of.places
    cdef real *place
    for image in range(block.images):
        place = places_of(p, y, block.image + image, block, group)
        for f in range(p.of.filters):
            if to_rows:
                memcpy(rows + f * block.step + image * places, place + f * places, places * sizeof(real))
            else:
                memcpy(place + f * places, rows + f * block.step + image * places, places * sizeof(real))


cdef real *take_memory(Pass *p, npy_intp rows, real kind) noexcept nogil:
    """Room for so many rows of a block, and for a row of each filter if they are copied; NULL if there is none."""
    cdef npy_intp all_rows = rows + (p.of.filters if p.shape.images > 1 else 0)
    cdef real *memory = <real *> malloc(all_rows * p.shape.step * sizeof(real) + LINE_BYTES)
    if memory == NULL:
        p.failed = True
    return memory


cdef inline real *at_line(real *memory) noexcept nogil:
    """Align to a cache line: a vector across two lines takes twice as long."""
    return <real *> (<char *> memory + LINE_BYTES - <size_t> memory % LINE_BYTES)


cdef inline Rows seen(const Pass *p, const real *x, const Block *block, npy_intp group, npy_intp channel, npy_intp end,
                      real *patches) noexcept nogil:
    """The patches of some channels."""
    cdef real *images = images_of(p, x, block, group)
    if p.shape.images == 1 and is_pointwise(p.of):
        images += channel * p.of.pixels + block.line * p.of.out[2] + block.place
        return Rows(<char *> images, p.of.pixels * sizeof(real))
    gather(p.of, block, images, channel, end, patches)
    return Rows(<char *> patches, block.step * sizeof(real))


cdef inline Rows came_back(const Pass *p, const real *g, const Block *block, npy_intp group, real *rows) noexcept nogil:
    """The incoming gradient of a block, a row for each filter."""
    if p.shape.images == 1:
        return Rows(<char *> places_of(p, g, block.image, block, group), p.of.places * sizeof(real))
    copy_places(p, block, group, <real *> g, rows, True)
    return Rows(<char *> rows, block.step * sizeof(real))


# forward

cdef int convolve(const Geometry *of, cnp.ndarray x, cnp.ndarray weight, cnp.ndarray bias, cnp.ndarray y) except -1:
    """y = the convolution of x, plus the bias (or None)."""
    if sees_all(of):
        multiply_into(matrix_of(x), transposed(matrix_of(weight)), y)
        return 0 if bias is None else add_filters(bias, y)
    cdef Pass shared = pass_of(of, x, weight, bias, y)
    cdef npy_intp blocks = of.groups * shared.shape.stacks * shared.shape.rows * shared.shape.columns
    return share(forward_f32 if shared.dtype_code == FLOAT32 else forward_f64, &shared, blocks)


cdef void forward_f32(void *data, Py_ssize_t first, Py_ssize_t end) noexcept nogil:
    cdef Pass *p = <Pass *> data
    forward(p, <const float *> p.x, <const float *> p.weight, <const float *> p.bias, <float *> p.y, first, end)


cdef void forward_f64(void *data, Py_ssize_t first, Py_ssize_t end) noexcept nogil:
    cdef Pass *p = <Pass *> data
    forward(p, <const double *> p.x, <const double *> p.weight, <const double *> p.bias, <double *> p.y, first, end)


cdef void forward(Pass *p, const real *x, const real *weight, const real *bias, real *y, npy_intp number,
                  npy_intp end) noexcept nogil:
    """Some blocks, counted through stacks and groups."""
    cdef npy_intp size = sizeof(real), filters = p.of.filters, length = p.of.channels * p.of.taps
    cdef npy_intp of_stack = p.shape.rows * p.shape.columns, stack, group
    cdef real *memory = take_memory(p, length, <real> 0)
    cdef Block block
    cdef Rows patches, result
    cdef real *rows
    if memory == NULL:
        return
    rows = at_line(memory)
    while number < end:
        stack, group = number // of_stack % p.shape.stacks, number // of_stack // p.shape.stacks
        block = block_of(p.of, &p.shape, stack, number % of_stack)
        patches = seen(p, x, &block, group, 0, p.of.channels, rows)
        if p.shape.images == 1:
            result = Rows(<char *> places_of(p, y, block.image, &block, group), p.of.places * size)
        else:
            result = Rows(<char *> (rows + length * p.shape.step), block.step * size)
        if bias != NULL:
            fill_rows(<real *> result.data, result.row // size, block.places, bias + group * filters, filters)
        multiply_by_panels(p.dtype_code, <const char *> (weight + group * filters * length), length * size, size,
                           patches.data, patches.row, size, result.data, result.row, filters, length, block.places,
                           result.data if bias != NULL else NULL, result.row)
        if p.shape.images > 1:
            copy_places(p, &block, group, y, <real *> result.data, False)
        number += 1
    free(memory)


cdef void fill_rows(real *out, npy_intp row, npy_intp columns, const real *values, npy_intp rows) noexcept nogil:
    cdef npy_intp i, j
    for i in range(rows):
        for j in range(columns):
            out[i * row + j] = values[i]
