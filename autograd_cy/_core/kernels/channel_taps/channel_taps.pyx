"""Convolutions line by line, with channels last in memory (knows no Tensor).

Images are (N, ..., C) in C order, and loops read a copy of the lines under the kernel (channel_lines.pyx). If groups have few
channels (one if depthwise), a loop sums over the taps for 64 bytes of channels at once, at some places of a line; for the
weight's gradient it sums over places, for some taps. Otherwise gradients are products of matrices: a tap sees neighbouring
pixels from neighbouring places, so rows of a matrix overlap, and no patch is copied (forward, no line: channel_places.pyx).
Threads share blocks of lines or, for the weight's gradient, slices of the blocks, each with its own sums.
"""

from libc.stdlib cimport free
from libc.string cimport memset

import numpy as np

from autograd_cy._core.arrays.buffers cimport new_array
from autograd_cy._core.arrays.dtypes cimport FLOAT32, FLOAT64, code_of
from autograd_cy._core.kernels.convolutions cimport Geometry
from autograd_cy._core.kernels.gemm cimport PanelProduct, panel_product, vectors
from autograd_cy._core.kernels.reduction_loops cimport real
from autograd_cy._core.parallel.threads cimport Task, parallel_for
from autograd_cy._core.runtime cimport numpy_api as cnp
from autograd_cy._core.runtime.numpy_api cimport npy_intp

cdef extern from "channel_taps.h":
    ctypedef void SumOfTaps(const void *x, npy_intp step, npy_intp places, const npy_intp *offsets, const npy_intp *weights,
                            npy_intp taps, const void *weight, const void *bias, void *out, npy_intp out_step) noexcept nogil
    ctypedef void SumOfPlaces(const void *x, npy_intp line, npy_intp step, npy_intp lines, npy_intp places,
                              const npy_intp *offsets, const npy_intp *weights, npy_intp taps, const void *g,
                              npy_intp g_line, npy_intp g_step, double *totals) noexcept nogil
    SumOfTaps *sums_of_taps[3][2]
    SumOfPlaces *sums_of_places[3][2]

cdef enum:
    PLACES = 64                 # summed before they are added in double; a longer line is not divided
    SLICES = 16                 # of the blocks, at most, each with its own sums for the weight's gradient ...
    TOTALS = 1 << 17            # ... and elements of all these sums together
    HELD = 24 << 10             # bytes of panels that stay in the L1 cache
    TO_AN_ELEMENT = 4           # multiplications that take as long as one element of an elementwise loop


# sums over taps

cdef int convolve_taps(const Geometry *of, cnp.ndarray x, cnp.ndarray weight, cnp.ndarray bias, cnp.ndarray y) except -1:
    """y = the convolution of x, plus the bias (or None). `weight`: (groups * filters, taps, channels)."""
    cdef Pass p = pass_of(of, code_of(y), False, False)
    p.bias = NULL if bias is None else cnp.PyArray_DATA(bias)
    p.weight = cnp.PyArray_DATA(weight)
    return run(&p, x, y)


cdef int convolve_taps_back(const Geometry *of, cnp.ndarray g, cnp.ndarray weight, cnp.ndarray x) except -1:
    """x = the gradient of the images."""
    cdef Pass p = pass_of(of, code_of(x), True, False)
    p.weight = cnp.PyArray_DATA(weight)
    return run(&p, g, x)


cdef int convolve_lines_back(const Geometry *of, cnp.ndarray g, cnp.ndarray panels, cnp.ndarray x) except -1:
    """The same by products. `panels`: (groups, panels of channels, reversed taps and filters, columns), padded with zeros."""
    cdef Pass p = pass_of(of, code_of(x), True, True)
    return run_products(&p, g, panels, x)


cdef int run_products(Pass *p, cnp.ndarray x, cnp.ndarray panels, cnp.ndarray y) except -1:
    p.weight, p.row = cnp.PyArray_DATA(panels), cnp.PyArray_DIM(panels, cnp.PyArray_NDIM(panels) - 1)
    return run(p, x, y)


cdef int run(Pass *p, cnp.ndarray x, cnp.ndarray y) except -1:
    p.x, p.y = cnp.PyArray_DATA(x), cnp.PyArray_DATA(y)
    return share(sums_f32 if p.dtype_code == FLOAT32 else sums_f64, p, p.slabs * units_of(p))


cdef inline npy_intp units_of(const Pass *p) noexcept nogil:
    """The number of blocks of a slab."""
    return p.of.batch * p.out[0] * p.blocks


cdef int share(Task task, Pass *p, npy_intp n) except -1:
    cdef npy_intp multiplications = p.of.batch * p.of.groups * p.of.places * p.of.filters * p.of.channels * p.of.taps
    parallel_for(task, p, n, max(multiplications // n // TO_AN_ELEMENT, 1))
    if p.failed:
        raise MemoryError("convolution: not enough memory for lines of an image")
    return 0


cdef void sums_f32(void *data, Py_ssize_t first, Py_ssize_t end) noexcept nogil:
    sum_blocks(<Pass *> data, first, end, <float> 0)


cdef void sums_f64(void *data, Py_ssize_t first, Py_ssize_t end) noexcept nogil:
    sum_blocks(<Pass *> data, first, end, <double> 0)


cdef inline void sum_blocks(Pass *p, npy_intp number, npy_intp end, real kind) noexcept nogil:
    """Some blocks, counted through slabs."""
    cdef npy_intp units = units_of(p), current = -1, unit, depth, line, last, image
    cdef Space space
    cdef Slab slab
    cdef char *memory = take_space(p, &space)
    if memory == NULL:
        return
    while number < end:
        unit = number % units
        if number // units != current:
            current = number // units
            slab = slab_of(p, current)
            if not p.dense:
                prepare(p, &slab, &space, kind)
        image, depth, line = unit // p.blocks // p.out[0], unit // p.blocks % p.out[0], unit % p.blocks * p.lines
        last = min(line + p.lines, p.out[1])
        copy_lines(p, &slab, &space, image, depth, line, kind)
        sum_lines(p, &slab, &space, image, depth, line, last, kind)
        number += 1
    free(memory)


cdef inline void sum_lines(const Pass *p, const Slab *slab, const Space *space, npy_intp image, npy_intp depth, npy_intp first,
                           npy_intp end, real kind) noexcept nogil:
    cdef npy_intp size = p.out[2] * p.written, further = to_next_line(p, slab), line_phase, line, phase, n, taps, lines
    cdef real *y = <real *> p.y + ((image * p.out[0] + depth) * p.out[1] + first) * size + slab.out
    cdef real *part
    for line_phase in range(min(p.line_phases, end - first)):
        for phase in range(min(p.results_phases, p.out[2])):
            taps = find_taps(p, slab, space, depth, first + line_phase, first, phase)
            n, lines = parts_of(p.out[2] - phase, p.results_phases), parts_of(end - first - line_phase, p.line_phases)
            part = y + line_phase * size + phase * p.written
            if p.dense:
                multiply_block(p, slab, space, taps, n, part, lines, p.line_phases * size, further)
                continue
            for line in range(lines):
                sum_line(p, slab, space, taps, n, <const real *> space.lines + line * further,
                         part + line * p.line_phases * size)


cdef inline void multiply_block(const Pass *p, const Slab *slab, const Space *space, npy_intp taps, npy_intp n, real *y,
                                npy_intp lines, npy_intp line, npy_intp further) noexcept nogil:
    """The same for several lines, `line` elements apart, by products. Taps with adjacent pixels are one segment. Some segments
    of a panel are multiplied by all lines in turn, unless all panels stay in the cache."""
    cdef npy_intp size = sizeof(real), run = run_of(p), rows = p.of.taps * slab.width, at = 0, column, k, chunk, until
    cdef npy_intp panels = parts_of(p.results, p.row), step = 1 if panels * rows * p.row * size <= HELD else lines
    if run * slab.width * p.row * size > HELD:
        run = 1
    chunk = max(HELD // (run * slab.width * p.row * size), <npy_intp> 1)
    for k in range(taps // run):
        space.segments[2 * k] = space.offsets[k * run] * size
        space.segments[2 * k + 1] = space.weights[k * run] * p.row * size
    while at < lines:
        until = min(at + step, lines)
        for column in range(panels):
            for k in range(max(parts_of(taps // run, chunk), <npy_intp> 1)):        # without taps, products are 0
                multiply_segments(p, slab, space, k * chunk, min(taps // run - k * chunk, chunk), run, column, n,
                                  y + at * line, until - at, line, <const real *> space.lines + at * further, further)
        at = until


cdef inline void multiply_segments(const Pass *p, const Slab *slab, const Space *space, npy_intp first, npy_intp segments,
                                   npy_intp run, npy_intp column, npy_intp n, real *y, npy_intp lines, npy_intp line,
                                   const real *seen, npy_intp further) noexcept nogil:
    """Add the products of some segments with a panel; the first ones are written."""
    cdef npy_intp size = sizeof(real), width = min(p.results - column * p.row, p.row), _line
    cdef npy_intp step = p.results_phases * p.written * size
    cdef const real *panel = <const real *> p.weight
    cdef PanelProduct *multiply = panel_product(p.dtype_code, width * size)
    panel += (slab.first * parts_of(p.results, p.row) + column * slab.width) * p.of.taps * p.row
    y += column * p.row
    for _line in range(lines):
        multiply(<const char *> seen, p.spacing * slab.width * size, size, <const char *> panel, p.row * size, <char *> y,
                 step, n, run * slab.width, width * size, <const char *> y if first > 0 else NULL, step,
                 space.segments + 2 * first, segments)
        y += line
        seen += further


cdef inline npy_intp run_of(const Pass *p) noexcept nogil:
    """The number of taps that see adjacent pixels."""
    return p.of.kernel[2] if p.results_phases == 1 and p.of.dilation[2] == 1 else 1


cdef inline void sum_line(const Pass *p, const Slab *slab, const Space *space, npy_intp taps, npy_intp n, const real *seen,
                          real *y) noexcept nogil:
    """Compute n places of a line, `results_phases` apart."""
    cdef SumOfTaps *sum = sums_of_taps[vectors()][0 if real is float else 1]
    cdef npy_intp j = 0, step = p.results_phases * p.written
    cdef bint direct = slab.times == 1
    cdef real *out = y if direct else <real *> space.line
    while j < slab.period:
        sum(seen + j, slab.period, parts_of(n, slab.times), space.offsets, space.weights, taps,
            <const real *> space.weight + j, <const real *> space.bias + j, out + j, step if direct else slab.period)
        j += p.lanes
    if not direct:
        copy_pixels(y, step, out, slab.width, slab.width, n)


# the gradient of the weight

cdef int correlate_taps(const Geometry *of, cnp.ndarray x, cnp.ndarray g, cnp.ndarray weight) except -1:
    """weight = its gradient, (groups * filters, taps..., channels)."""
    cdef Pass p = pass_of(of, code_of(g), False, False)
    cdef npy_intp[4] sizes
    p.slices = min(units_of(&p), <npy_intp> SLICES)
    sizes[0], sizes[1], sizes[2], sizes[3] = p.slices, of.taps, of.channels, p.written
    cdef cnp.ndarray totals = new_array(FLOAT64, 4, sizes)
    p.x, p.y, p.totals = cnp.PyArray_DATA(x), cnp.PyArray_DATA(g), <double *> cnp.PyArray_DATA(totals)
    share(dots_f32 if p.dtype_code == FLOAT32 else dots_f64, &p, p.slabs * p.slices)
    weight.reshape(p.written, of.taps, of.channels)[...] = totals.sum(0).transpose(2, 0, 1)
    return 0


cdef void dots_f32(void *data, Py_ssize_t first, Py_ssize_t end) noexcept nogil:
    dot_slices(<Pass *> data, first, end, <float> 0)


cdef void dots_f64(void *data, Py_ssize_t first, Py_ssize_t end) noexcept nogil:
    dot_slices(<Pass *> data, first, end, <double> 0)


cdef inline void dot_slices(Pass *p, npy_intp number, npy_intp end, real kind) noexcept nogil:
    """Some slices, counted through slabs."""
    cdef npy_intp units = units_of(p), all_taps = p.of.taps * p.sources, slice, unit, line, depth, image, tap, j
    cdef double *totals
    cdef Space space
    cdef Slab slab
    cdef char *memory = take_space(p, &space)
    if memory == NULL:
        return
    while number < end:
        slab, slice = slab_of(p, number // p.slices), number % p.slices
        prepare(p, &slab, &space, kind)
        memset(space.totals, 0, all_taps * slab.period * sizeof(double))
        for unit in range(units * slice // p.slices, units * (slice + 1) // p.slices):
            image, depth, line = unit // p.blocks // p.out[0], unit // p.blocks % p.out[0], unit % p.blocks * p.lines
            copy_lines(p, &slab, &space, image, depth, line, kind)
            dot_lines(p, &slab, &space, image, depth, line, min(line + p.lines, p.out[1]), kind)
        totals = p.totals + slice * all_taps * p.written + slab.first
        for tap in range(all_taps):
            memset(totals, 0, slab.width * sizeof(double))
            for j in range(slab.period):
                totals[j % slab.width] += space.totals[tap * slab.period + j]
            totals += p.written
        number += 1
    free(memory)


cdef inline void dot_lines(const Pass *p, const Slab *slab, const Space *space, npy_intp image, npy_intp depth,
                           npy_intp first, npy_intp end, real kind) noexcept nogil:
    cdef SumOfPlaces *dot = sums_of_places[vectors()][0 if real is float else 1]
    cdef npy_intp taps = find_taps(p, slab, space, depth, first, first, 0), n = p.out[2], whole = n // slab.times
    cdef npy_intp size = n * p.written, further = to_next_line(p, slab), step = p.written, line = size, lines, j, more
    cdef const real *g = <const real *> p.y + ((image * p.out[0] + depth) * p.out[1] + first) * size + slab.first
    cdef const real *seen = <const real *> space.lines
    if slab.times > 1:
        step, line = slab.period, n * slab.width
        copy_pixels(<real *> space.line, slab.width, g, p.written, slab.width, n * (end - first))
        g = <const real *> space.line
    while first < end:
        lines, j = min(max(PLACES // max(whole, <npy_intp> 1), <npy_intp> 1), end - first), 0
        while j < slab.period:
            more = n * slab.width - whole * slab.period - j         # elements of a line beyond its whole periods
            dot(seen + j, further, slab.period, lines, whole + (more >= p.lanes), space.offsets, space.weights, taps, g + j,
                line, step, space.totals + j)
            if 0 < more < p.lanes:
                dot_rest(space, taps, seen + j + whole * slab.period, further, lines, more, g + j + whole * slab.period,
                         line, space.totals + j)
            j += p.lanes
        g += lines * line
        seen += lines * further
        first += lines


cdef inline void dot_rest(const Space *space, npy_intp taps, const real *seen, npy_intp further, npy_intp lines, npy_intp n,
                          const real *g, npy_intp line, double *totals) noexcept nogil:
    """The n elements at the end of each line, one by one: a whole vector would reach into the next line."""
    cdef npy_intp k, t, j
    cdef const real *x
    for k in range(lines):
        for t in range(taps):
            x = seen + k * further + space.offsets[t]
            for j in range(n):
                totals[space.weights[t] + j] += x[j] * g[k * line + j]


# the same by products

cdef int correlate_lines(const Geometry *of, cnp.ndarray x, cnp.ndarray g, cnp.ndarray weight) except -1:
    """weight = its gradient, (groups * filters, taps..., channels)."""
    cdef Pass p = pass_of(of, code_of(g), False, True)
    cdef npy_intp[2] sizes
    sizes[1] = p.written * of.taps * of.channels
    p.slices = sizes[0] = min(max(TOTALS // sizes[1], <npy_intp> 2), <npy_intp> SLICES, units_of(&p))
    cdef cnp.ndarray sums = new_array(p.dtype_code, 2, sizes)
    p.x, p.y, p.sums, p.by_filters = cnp.PyArray_DATA(x), cnp.PyArray_DATA(g), cnp.PyArray_DATA(sums), fills_lanes(&p)
    share(products_f32 if p.dtype_code == FLOAT32 else products_f64, &p, p.slabs * p.slices)
    if p.by_filters:
        sums = sums.sum(0).reshape(of.groups, -1, of.filters).swapaxes(1, 2)
        weight.reshape(of.groups, of.filters, -1)[...] = sums
    else:
        np.add.reduce(sums, 0, out=weight.reshape(-1))
    return 0


cdef bint fills_lanes(const Pass *p) noexcept:
    """Whether filters fill vectors, more of them than channels of neighbouring taps do."""
    return p.results % p.lanes == 0 and run_of(p) * p.slab % p.lanes != 0


cdef void products_f32(void *data, Py_ssize_t first, Py_ssize_t end) noexcept nogil:
    multiply_slices(<Pass *> data, first, end, <float> 0)


cdef void products_f64(void *data, Py_ssize_t first, Py_ssize_t end) noexcept nogil:
    multiply_slices(<Pass *> data, first, end, <double> 0)


cdef inline void multiply_slices(Pass *p, npy_intp number, npy_intp end, real kind) noexcept nogil:
    """Some slices, counted through groups."""
    cdef npy_intp units = units_of(p), slice, first, unit, depth, line, image
    cdef Space space
    cdef Slab slab
    cdef char *memory = take_space(p, &space)
    cdef real *sums
    if memory == NULL:
        return
    while number < end:
        slab, slice = slab_of(p, number // p.slices), number % p.slices
        first = units * slice // p.slices
        sums = <real *> p.sums + (slice * p.written + slab.out) * p.of.taps * slab.width
        for unit in range(first, units * (slice + 1) // p.slices):
            image, depth, line = unit // p.blocks // p.out[0], unit // p.blocks % p.out[0], unit % p.blocks * p.lines
            copy_lines(p, &slab, &space, image, depth, line, kind)
            multiply_lines(p, &slab, &space, image, depth, line, min(line + p.lines, p.out[1]), unit > first, sums)
        number += 1
    free(memory)


cdef inline void multiply_lines(const Pass *p, const Slab *slab, const Space *space, npy_intp image, npy_intp depth,
                                npy_intp first, npy_intp end, bint add, real *sums) noexcept nogil:
    """For each tap (or adjacent taps), the incoming gradient times the pixels. Each line is a segment."""
    cdef npy_intp size = sizeof(real), taps = find_taps(p, slab, space, depth, first, first, 0), run = run_of(p), k = 0
    cdef npy_intp line = p.out[2] * p.written, further = to_next_line(p, slab), row
    cdef char *out
    cdef const real *g = <const real *> p.y + ((image * p.out[0] + depth) * p.out[1] + first) * line + slab.out
    for k in range(end - first):
        space.segments[2 * k], space.segments[2 * k + 1] = k * line * size, k * further * size
    k = 0
    if p.by_filters:
        multiply_by_filters(p, slab, space, g, taps, end - first, add, sums)
        return
    row = p.of.taps * slab.width * size
    while k < taps:
        out = <char *> (sums + space.weights[k])
        panel_product(p.dtype_code, run * slab.width * size)(
            <const char *> g, size, p.written * size, <const char *> (<const real *> space.lines + space.offsets[k]),
            p.spacing * slab.width * size, out, row, p.results, p.out[2], run * slab.width * size, out if add else NULL, row,
            space.segments, end - first)
        k += run


cdef inline void multiply_by_filters(const Pass *p, const Slab *slab, const Space *space, const real *g, npy_intp taps,
                                     npy_intp lines, bint add, real *sums) noexcept nogil:
    """The same with a row for each tap and channel, and a column for each filter."""
    cdef npy_intp size = sizeof(real), run = run_of(p), k = 0, line
    cdef char *out
    for line in range(lines):
        space.segments[2 * line], space.segments[2 * line + 1] = space.segments[2 * line + 1], space.segments[2 * line]
    while k < taps:
        out = <char *> (sums + space.weights[k] * p.results)
        panel_product(p.dtype_code, p.results * size)(
            <const char *> (<const real *> space.lines + space.offsets[k]), size, p.spacing * slab.width * size,
            <const char *> g, p.written * size, out, p.results * size, run * slab.width, p.out[2], p.results * size,
            out if add else NULL, p.results * size, space.segments, lines)
        k += run
