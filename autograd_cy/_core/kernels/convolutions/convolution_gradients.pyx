"""The gradients of convolutions by blocks: NOTE [Convolutions in blocks] in convolutions.pyx."""

from libc.stdlib cimport free
from libc.string cimport memset

from autograd_cy._core.arrays.buffers cimport new_array
from autograd_cy._core.arrays.dtypes cimport FLOAT32, code_of
from autograd_cy._core.kernels.gemm cimport multiply_by_panels
from autograd_cy._core.kernels.reduction_loops cimport real, row_total
from autograd_cy._core.parallel.threads cimport parallel_for
from autograd_cy._core.runtime cimport numpy_api as cnp
from autograd_cy._core.runtime.numpy_api cimport npy_intp


cdef int convolve_back(const Geometry *of, cnp.ndarray g, cnp.ndarray weight, cnp.ndarray x) except -1:
    """x = the gradient of the images: each place adds to the pixels under its kernel."""
    if sees_all(of):
        return multiply_into(matrix_of(g), matrix_of(weight), x)
    cdef Pass shared = pass_of(of, x, weight, None, g)
    cdef npy_intp stacks = of.groups * shared.shape.stacks
    shared.parts = 1 if stacks >= SLICES * 2 else min(<npy_intp> PARTS, of.channels)
    return share(back_f32 if shared.dtype_code == FLOAT32 else back_f64, &shared, stacks * shared.parts)


cdef void back_f32(void *data, Py_ssize_t first, Py_ssize_t end) noexcept nogil:
    cdef Pass *p = <Pass *> data
    back(p, <const float *> p.y, <const float *> p.weight, <float *> p.x, first, end)


cdef void back_f64(void *data, Py_ssize_t first, Py_ssize_t end) noexcept nogil:
    cdef Pass *p = <Pass *> data
    back(p, <const double *> p.y, <const double *> p.weight, <double *> p.x, first, end)


cdef void back(Pass *p, const real *g, const real *weight, real *x, npy_intp number, npy_intp end) noexcept nogil:
    """Some parts of the channels of some stacks of images."""
    cdef npy_intp each = parts_of(p.of.channels, p.parts), part, stack, group
    cdef real *memory = take_memory(p, each * p.of.taps, <real> 0)
    if memory == NULL:
        return
    while number < end:
        part, stack = number % p.parts, number // p.parts % p.shape.stacks
        group = number // p.parts // p.shape.stacks
        back_to_images(p, g, weight + group * p.of.filters * p.of.channels * p.of.taps, x, group, stack,
                       min(part * each, p.of.channels), min(part * each + each, p.of.channels), at_line(memory))
        number += 1
    free(memory)


cdef void back_to_images(Pass *p, const real *g, const real *weight, real *x, npy_intp group, npy_intp stack,
                         npy_intp channel, npy_intp end, real *memory) noexcept nogil:
    """Some channels of the images of a stack."""
    cdef const Geometry *of = p.of
    cdef npy_intp size = sizeof(real), length = of.channels * of.taps, rows = (end - channel) * of.taps, number, image
    cdef bint pointwise = p.shape.images == 1 and is_pointwise(of)
    cdef Block block
    cdef Rows came, out
    cdef real *images
    if rows == 0:
        return
    for number in range(p.shape.rows * p.shape.columns):
        block = block_of(of, &p.shape, stack, number)
        images = images_of(p, x, &block, group)
        came = came_back(p, g, &block, group, memory + rows * p.shape.step)
        out = Rows(<char *> memory, block.step * size)
        if pointwise:
            out = seen(p, x, &block, group, channel, end, memory)
        elif number == 0:
            for image in range(block.images):
                memset(images + image * of.groups * of.channels * of.pixels + channel * of.pixels, 0,
                       (end - channel) * of.pixels * size)
        multiply_by_panels(p.dtype_code, <const char *> (weight + channel * of.taps), size, length * size, came.data, came.row,
                           size, out.data, out.row, rows, of.filters, block.places, NULL, 0)
        if not pointwise:
            scatter(of, &block, images, channel, end, memory)


cdef int correlate(const Geometry *of, cnp.ndarray x, cnp.ndarray g, cnp.ndarray weight) except -1:
    """weight = its gradient: the sum over all places of a filter's incoming gradient times the patch there."""
    if sees_all(of):
        return multiply_into(transposed(matrix_of(g)), matrix_of(x), weight)
    cdef Pass shared = pass_of(of, x, weight, None, g)
    cdef npy_intp length = of.channels * of.taps, n = of.groups * length * of.filters
    cdef npy_intp blocks = shared.shape.stacks * shared.shape.rows * shared.shape.columns
    cdef bint is_float = shared.dtype_code == FLOAT32
    cdef cnp.ndarray totals
    if n <= SMALL_TOTALS:
        shared.slices = min(<npy_intp> SLICES, blocks)
    else:
        shared.parts = min(<npy_intp> PARTS, of.channels)
    shared.turned = blocks == 1
    n *= shared.slices
    totals = weight if shared.turned else new_array(shared.dtype_code, 1, &n)
    shared.totals = data_of(totals)
    share(correlate_f32 if is_float else correlate_f64, &shared, of.groups * shared.slices * shared.parts)
    if shared.turned:
        return 0
    parallel_for(put_together_f32 if is_float else put_together_f64, &shared, of.groups * length,
                 of.filters * (shared.slices + 1))
    return 0


cdef void correlate_f32(void *data, Py_ssize_t first, Py_ssize_t end) noexcept nogil:
    cdef Pass *p = <Pass *> data
    correlate_parts(p, <const float *> p.x, <const float *> p.y, <float *> p.totals, first, end)


cdef void correlate_f64(void *data, Py_ssize_t first, Py_ssize_t end) noexcept nogil:
    cdef Pass *p = <Pass *> data
    correlate_parts(p, <const double *> p.x, <const double *> p.y, <double *> p.totals, first, end)


cdef void correlate_parts(Pass *p, const real *x, const real *g, real *totals, npy_intp number, npy_intp end) noexcept nogil:
    """Some parts of the channels, counted through slices and groups."""
    cdef npy_intp each = parts_of(p.of.channels, p.parts), channels = p.of.channels, part, slice, group
    cdef npy_intp blocks = p.shape.stacks * p.shape.rows * p.shape.columns
    cdef real *memory = take_memory(p, each * p.of.taps, <real> 0)
    if memory == NULL:
        return
    while number < end:
        part, slice, group = number % p.parts, number // p.parts % p.slices, number // p.parts // p.slices
        correlate_blocks(p, x, g, totals + (slice * p.of.groups + group) * channels * p.of.taps * p.of.filters, group,
                         blocks * slice // p.slices, blocks * (slice + 1) // p.slices, min(part * each, channels),
                         min(part * each + each, channels), at_line(memory))
        number += 1
    free(memory)


cdef void correlate_blocks(Pass *p, const real *x, const real *g, real *totals, npy_intp group, npy_intp number,
                           npy_intp last, npy_intp channel, npy_intp end, real *memory) noexcept nogil:
    """Some channels of a group: the sum over some blocks, in order."""
    cdef npy_intp size = sizeof(real), rows = (end - channel) * p.of.taps, filters = p.of.filters
    cdef npy_intp of_stack = p.shape.rows * p.shape.columns, first = number
    cdef Block block
    cdef Rows came, patches
    if rows == 0:
        return
    totals += channel * p.of.taps * (1 if p.turned else filters)
    while number < last:
        block = block_of(p.of, &p.shape, number // of_stack, number % of_stack)
        patches = seen(p, x, &block, group, channel, end, memory)
        came = came_back(p, g, &block, group, memory + rows * p.shape.step)
        if p.turned:
            multiply_by_panels(p.dtype_code, came.data, came.row, size, patches.data, size, patches.row, <char *> totals,
                               p.of.channels * p.of.taps * size, filters, block.places, rows, NULL, 0)
            return
        multiply_by_panels(p.dtype_code, patches.data, patches.row, size, came.data, size, came.row, <char *> totals,
                           filters * size, rows, block.places, filters,
                           <char *> totals if number > first else NULL, filters * size)
        number += 1


cdef void put_together_f32(void *data, Py_ssize_t first, Py_ssize_t end) noexcept nogil:
    cdef Pass *p = <Pass *> data
    put_together(p, <float *> p.totals, <float *> p.weight, first, end)


cdef void put_together_f64(void *data, Py_ssize_t first, Py_ssize_t end) noexcept nogil:
    cdef Pass *p = <Pass *> data
    put_together(p, <double *> p.totals, <double *> p.weight, first, end)


cdef void put_together(const Pass *p, real *totals, real *weight, npy_intp number, npy_intp end) noexcept nogil:
    """Add the slices for some channels and taps, counted through groups, and transpose: the weight has a row per filter."""
    cdef npy_intp filters = p.of.filters, length = p.of.channels * p.of.taps, n = p.of.groups * length * filters
    cdef npy_intp slice, i, j
    cdef real *row
    cdef const real *more
    totals += number * filters
    for slice in range(1, p.slices):
        more = totals + slice * n
        for i in range((end - number) * filters):
            totals[i] += more[i]
    while number < end:
        row = weight + number // length * filters * length + number % length
        for j in range(filters):
            row[j * length] = totals[j]
        totals += filters
        number += 1


# the bias

cdef struct Planes:         # of an array (images, filters, places)
    const void *g
    void *bias
    npy_intp images, filters, places


cdef int sum_filters(cnp.ndarray g, cnp.ndarray bias) except -1:
    """bias = its gradient: each filter's sum of the incoming gradient."""
    cdef Planes planes = Planes(data_of(g), data_of(bias), cnp.PyArray_DIM(g, 0), cnp.PyArray_DIM(g, 1), 1)
    cdef int axis
    for axis in range(2, cnp.PyArray_NDIM(g)):
        planes.places *= cnp.PyArray_DIM(g, axis)
    parallel_for(sum_planes_f32 if code_of(g) == FLOAT32 else sum_planes_f64, &planes, planes.filters,
                 planes.images * planes.places)
    return 0


cdef void sum_planes_f32(void *data, Py_ssize_t first, Py_ssize_t end) noexcept nogil:
    sum_planes(<Planes *> data, <float *> (<Planes *> data).g, <float *> (<Planes *> data).bias, first, end)


cdef void sum_planes_f64(void *data, Py_ssize_t first, Py_ssize_t end) noexcept nogil:
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
