"""Copies of image lines for convolutions with channels last, and their division into blocks (knows no Tensor).

A block is some lines of the result, for one slab: some neighbouring channels. The source lines under its kernels are copied,
with zeros beside the image. There is one copy per channel of a group (a source): for each channel of the slab, it holds the
source in that channel's group. The stride divides the pixels of a source line into phases, each contiguous in the copy; in
the gradient it divides lines and pixels of the result. If a slab doesn't fill whole vectors, a period of several pixels does.
For products of matrices, a slab is a whole group, and its copy has the layout of the images.
"""

from libc.stdlib cimport malloc
from libc.string cimport memset

from autograd_cy._core.arrays.dtypes cimport FLOAT32
from autograd_cy._core.kernels.convolutions cimport Geometry
from autograd_cy._core.kernels.gemm cimport vectors
from autograd_cy._core.kernels.reduction_loops cimport real
from autograd_cy._core.runtime.numpy_api cimport npy_intp

cdef extern from "channel_picks.h":
    ctypedef void Picks(const void *x, npy_intp step, npy_intp n, const void *indices, npy_intp count, void *out,
                        npy_intp out_step, npy_intp apart) noexcept nogil
    Picks *picks[2][2]          # of two or four vectors; of float and double

cdef enum:
    VECTORS = 2                 # of LANE_BYTES in a slab, at most ...
    FEW = 4                     # ... 1 if more sources are copied, to stay near the L1 cache: 0.9 times as long
    COPIED = 1 << 15            # elements of the lines copied at once, at most (a quarter for products) ...
    FEWEST = 4                  # ... unless so few lines of the result need more


# sizes

cdef inline npy_intp floor_of(npy_intp n, npy_intp size) noexcept nogil:
    return n // size if n >= 0 else -((size - 1 - n) // size)


cdef inline npy_intp place_of(const Pass *p, int k, npy_intp place, npy_intp tap, npy_intp *phase) noexcept nogil:
    """The pixel that a tap reads for a place of the result along dimension k, as a number of strides and a phase. In the
    gradient, a tap reads nothing unless the phase is 0."""
    cdef const Geometry *of = p.of
    cdef npy_intp at
    if p.back:
        at = place + of.padding[k] - tap * of.dilation[k]
    else:
        at = place * of.stride[k] - of.padding[k] + tap * of.dilation[k]
        if p.dense:
            phase[0] = 0
            return at
    phase[0] = at - floor_of(at, of.stride[k]) * of.stride[k]
    return floor_of(at, of.stride[k])


cdef inline npy_intp line_of(const Pass *p, int k, npy_intp place, npy_intp tap) noexcept nogil:
    """The line (or depth) that a tap reads; it may lie outside of the image."""
    if p.back:
        return floor_of(place + p.of.padding[k] - tap * p.of.dilation[k], p.of.stride[k])
    return place * p.of.stride[k] - p.of.padding[k] + tap * p.of.dilation[k]


cdef inline npy_intp first_line(const Pass *p, npy_intp place) noexcept nogil:
    """The first line that any tap reads."""
    return line_of(p, 1, place, p.of.kernel[1] - 1 if p.back else 0)


cdef inline npy_intp slots_of(const Pass *p, npy_intp lines) noexcept nogil:
    """How many source lines are needed for so many lines of the result."""
    cdef npy_intp reach = p.of.dilation[1] * (p.of.kernel[1] - 1)
    if p.back:
        return (lines - 1 + reach) // p.of.stride[1] + (1 if p.of.stride[1] == 1 else 2)
    return (lines - 1) * p.of.stride[1] + reach + 1


cdef Slab slab_of(const Pass *p, npy_intp number) noexcept nogil:
    cdef Slab slab
    cdef npy_intp most
    if p.dense:
        return Slab(number * p.slab, p.slab, number * p.results, 1, p.slab, 0)
    slab.first = slab.out = number * p.slab
    slab.width, slab.times = min(p.written - slab.first, p.slab), 1
    while slab.width * slab.times % p.lanes != 0:
        slab.times *= 2
    slab.period = slab.width * slab.times
    most = min(slab.width, p.lanes)
    slab.seen = parts_of((most // p.results + (2 if most % p.results else 0)) * p.sources, 2 * p.lanes)
    return slab


cdef Pass pass_of(const Geometry *of, int dtype_code, bint back, bint dense) noexcept:
    cdef Pass p
    cdef int k
    p.of, p.back, p.dense, p.dtype_code, p.slices, p.failed = of, back, dense, dtype_code, 1, False
    p.bias, p.totals, p.sums, p.row = NULL, NULL, NULL, 0
    p.sources = of.filters if back else of.channels
    p.results = of.channels if back else of.filters
    p.read, p.written = p.sources * of.groups, p.results * of.groups
    for k in range(3):
        p.size[k] = of.out[k] if back else of.size[k]
        p.out[k] = of.size[k] if back else of.out[k]
    p.phases = p.results_phases = p.line_phases = p.spacing = 1
    if back:
        p.line_phases, p.results_phases = of.stride[1], of.stride[2]
    else:
        p.phases, p.spacing = 1 if dense else of.stride[2], of.stride[2] if dense else 1
    p.lanes = LANE_BYTES // (sizeof(float) if dtype_code == FLOAT32 else sizeof(double))
    p.slab = min((VECTORS if p.sources <= FEW else 1) * p.lanes, p.written)
    p.slabs = parts_of(p.written, p.slab)
    if dense:
        p.slab, p.slabs, p.sources = p.sources, of.groups, 1
    find_columns(&p)
    find_lines(&p)
    return p


cdef void find_columns(Pass *p) noexcept:
    cdef npy_intp tap, phase, place, seen, end = parts_of(p.size[2], p.phases)
    p.left = 0
    for phase in range(p.results_phases):
        for tap in range(p.of.kernel[2]):
            seen = place_of(p, 2, phase, tap, &place)
            p.left = max(p.left, -seen)
            end = max(end, (parts_of(p.out[2], p.results_phases) - 1) * p.spacing + seen + 1)
    p.columns = p.left + end


cdef void find_lines(Pass *p) noexcept:
    cdef npy_intp line = p.of.kernel[0] * p.sources * p.phases * p.columns * p.slab, most = COPIED
    p.lines = p.out[1]
    while p.lines > FEWEST and slots_of(p, p.lines) * line > most:
        p.lines = max(p.lines // 2, <npy_intp> FEWEST)
    p.slots, p.blocks = slots_of(p, p.lines), parts_of(p.out[1], p.lines)


# a thread's memory

cdef char *take_space(Pass *p, Space *space) noexcept nogil:
    """Allocate a thread's memory, to be freed by the returned address; NULL if there is none."""
    cdef npy_intp size = sizeof(float) if p.dtype_code == FLOAT32 else sizeof(double), all_taps = p.of.taps * p.sources
    cdef npy_intp period = p.slab * p.lanes, bytes
    cdef npy_intp[9] sizes
    cdef char *memory
    cdef int k
    sizes[0] = (p.of.kernel[0] * p.slots * p.sources * p.phases * p.columns * p.slab + period) * size
    sizes[1] = (p.lines * p.out[2] * p.slab + period) * size
    sizes[2], sizes[3] = all_taps * period * size, period * size
    sizes[4] = all_taps * period * sizeof(double) if p.totals != NULL else 0
    sizes[5], sizes[6] = p.sources * p.slab * sizeof(npy_intp), 2 * all_taps * sizeof(npy_intp)
    sizes[7] = 2 * max(all_taps, p.lines) * sizeof(npy_intp)
    sizes[8] = p.sources * parts_of(p.slab, p.lanes) * LANE_BYTES
    if p.dense:
        sizes[1] = sizes[2] = sizes[3] = sizes[5] = sizes[8] = 0
    bytes = LANE_BYTES
    for k in range(9):
        sizes[k] = parts_of(sizes[k], LANE_BYTES) * LANE_BYTES
        bytes += sizes[k]
    memory = <char *> malloc(bytes)
    if memory == NULL:
        p.failed = True
        return NULL
    space.lines = memory + LANE_BYTES - <size_t> memory % LANE_BYTES
    space.line = space.lines + sizes[0]
    space.weight = space.line + sizes[1]
    space.bias = space.weight + sizes[2]
    space.totals = <double *> (space.bias + sizes[3])
    space.channels = <npy_intp *> (<char *> space.totals + sizes[4])
    space.offsets = <npy_intp *> (<char *> space.channels + sizes[5])
    space.weights = space.offsets + all_taps
    space.segments = <npy_intp *> (<char *> space.offsets + sizes[6])
    space.lanes = <char *> space.segments + sizes[7]
    return memory


cdef inline npy_intp weight_at(const Pass *p, npy_intp channel, npy_intp tap, npy_intp source) noexcept nogil:
    """The place of a weight in (filters, taps, channels) for a channel of the result."""
    cdef npy_intp group = channel // p.results, other = channel % p.results
    if p.back:
        return ((group * p.sources + source) * p.of.taps + tap) * p.results + other
    return (channel * p.of.taps + tap) * p.sources + source


cdef void prepare(const Pass *p, const Slab *slab, Space *space, real kind) noexcept nogil:
    """Fill in what depends only on the slab: the sources of its channels; its weights and bias, repeated to a period."""
    cdef npy_intp tap, source, j, channel
    cdef real *out = <real *> space.weight
    for source in range(p.sources):
        for j in range(slab.width):
            space.channels[source * slab.width + j] = (slab.first + j) // p.results * p.sources + source
    if has_picks(p, slab):
        memset(space.lanes, 0, p.sources * parts_of(slab.width, p.lanes) * LANE_BYTES)
        for source in range(p.sources):
            for j in range(slab.width):
                channel = space.channels[source * slab.width + j] - space.channels[j // p.lanes * p.lanes]
                tap = (j // p.lanes * p.sources + source) * p.lanes + j % p.lanes
                if real is float:
                    (<int *> space.lanes)[tap] = <int> channel
                else:
                    (<long long *> space.lanes)[tap] = channel
    if p.totals != NULL:
        return
    for tap in range(p.of.taps):
        for source in range(p.sources):
            for j in range(slab.period):
                channel = slab.first + j % slab.width
                out[j] = (<const real *> p.weight)[weight_at(p, channel, tap, source)]
            out += slab.period
    for j in range(slab.period):
        channel = slab.first + j % slab.width
        (<real *> space.bias)[j] = 0 if p.bias == NULL else (<const real *> p.bias)[channel]


# the copy

cdef void copy_lines(const Pass *p, const Slab *slab, const Space *space, npy_intp image, npy_intp depth, npy_intp line,
                     real kind) noexcept nogil:
    """Copy the lines under the kernel for a block that begins at this depth and line."""
    cdef npy_intp first = first_line(p, line), size = p.sources * p.phases * p.columns * slab.width, tap, slot, at, deep
    cdef real *out = <real *> space.lines
    cdef const real *x
    for tap in range(p.of.kernel[0]):
        deep = line_of(p, 0, depth, tap)
        for slot in range(p.slots):
            at = first + slot
            if 0 <= deep < p.size[0] and 0 <= at < p.size[1]:
                x = <const real *> p.x + ((image * p.size[0] + deep) * p.size[1] + at) * p.size[2] * p.read
                copy_line(p, slab, space, x, out)
            else:
                memset(out, 0, size * sizeof(real))
            out += size


cdef inline bint has_picks(const Pass *p, const Slab *slab) noexcept nogil:
    """Whether channels can be picked by vectors."""
    return vectors() == 2 and slab.seen <= 2


cdef inline void copy_line(const Pass *p, const Slab *slab, const Space *space, const real *x, real *out) noexcept nogil:
    """Copy a line for each source and phase, with zeros at both ends."""
    cdef npy_intp source, phase, n, width = slab.width, size = p.phases * p.columns * width, whole
    cdef real *line
    for phase in range(p.phases):
        n = max(min(parts_of(p.size[2] - phase, p.phases), p.columns - p.left), <npy_intp> 0)
        whole = pick_all(p, slab, space, x + phase * p.read, n, out + p.left * width, size)
        for source in range(p.sources):
            line = out + source * size
            memset(line, 0, p.left * width * sizeof(real))
            line += p.left * width
            pick_some(p, slab, space, x + phase * p.read, whole, n, source, line)
            memset(line + n * width, 0, (p.columns - p.left - n) * width * sizeof(real))
        out += p.columns * width


cdef inline npy_intp pick_all(const Pass *p, const Slab *slab, const Space *space, const real *x, npy_intp n, real *out,
                              npy_intp apart) noexcept nogil:
    """Copy pixels for all sources at once, by vectors; returns the number of pixels."""
    cdef npy_intp k, channel, size = p.phases * p.read
    cdef npy_intp left = <const real *> p.x + p.of.batch * p.size[0] * p.size[1] * p.size[2] * p.read - x
    if p.dense or (p.sources == 1 and p.results == 1) or not has_picks(p, slab):
        return 0
    k = parts_of(slab.width, p.lanes) - 1
    left -= space.channels[k * p.lanes] + 2 * slab.seen * p.lanes   # no vector exceeds the array
    n -= parts_of((k + 1) * p.lanes - slab.width, slab.width)       # nor the line
    n = max(min(n, left // size + 1 if left >= 0 else 0), <npy_intp> 0)
    while k >= 0:       # backwards: a vector that is not full ends in the next pixels, which are copied later
        channel = space.channels[k * p.lanes]
        picks[slab.seen - 1][0 if real is float else 1](
            x + channel, size, n, <const char *> space.lanes + k * p.sources * LANE_BYTES, p.sources, out + k * p.lanes,
            slab.width, apart)
        k -= 1
    return n


cdef inline void pick_some(const Pass *p, const Slab *slab, const Space *space, const real *x, npy_intp column, npy_intp end,
                           npy_intp source, real *out) noexcept nogil:
    """Copy the pixels from a column on, for one source."""
    cdef npy_intp width = slab.width
    if p.dense or (p.sources == 1 and p.results == 1):
        copy_pixels(out, width, x + slab.first, p.phases * p.read, width, end)
        return
    while column < end:
        pick(p, x + column * p.phases * p.read, space.channels + source * width, slab, source, out + column * width)
        column += 1


cdef inline void pick(const Pass *p, const real *x, const npy_intp *channels, const Slab *slab, npy_intp source,
                      real *out) noexcept nogil:
    """Copy a pixel's channels for the slab and one source."""
    cdef npy_intp j
    if p.sources == 1 and p.results == 2:
        for j in range(slab.width // 2):
            out[2 * j] = out[2 * j + 1] = x[slab.first // 2 + j]
    elif p.sources == 2 and p.results == 1:
        for j in range(slab.width):
            out[j] = x[2 * (slab.first + j) + source]
    else:
        for j in range(slab.width):
            out[j] = x[channels[j]]


cdef npy_intp find_taps(const Pass *p, const Slab *slab, const Space *space, npy_intp depth, npy_intp line, npy_intp first,
                        npy_intp phase) noexcept nogil:
    """List the taps that a line of the result uses, and return their number. Lines `line_phases` apart use the same taps.

    `space.offsets` receives the place of each tap in the copy, which begins with the lines that line `first` of the result
    reads; `space.weights`, the place of its weight. The gradient takes taps backwards, so that pixels go forwards.
    """
    cdef npy_intp n = 0, number, i, j, k, source, tap, off, at, column, slot
    first = first_line(p, first)
    for number in range(p.of.taps):
        tap = p.of.taps - 1 - number if p.back else number
        i, j, k = tap // (p.of.kernel[1] * p.of.kernel[2]), tap // p.of.kernel[2] % p.of.kernel[1], tap % p.of.kernel[2]
        column = place_of(p, 2, phase, k, &off)
        if p.back and (off != 0 or not on_grid(p, depth, line, i, j)):
            continue
        slot = i * p.slots + line_of(p, 1, line, j) - first
        for source in range(p.sources):
            at = (slot * p.sources + source) * p.phases + (0 if p.back else off)
            space.offsets[n] = (at * p.columns + p.left + column) * slab.width
            space.weights[n] = ((number if p.dense else tap) * p.sources + source) * slab.period
            n += 1
    return n


cdef npy_intp to_next_line(const Pass *p, const Slab *slab) noexcept nogil:
    """How far the source moves in the copy when the line of the result moves by `line_phases`."""
    return (1 if p.back else p.of.stride[1]) * p.sources * p.phases * p.columns * slab.width


cdef inline bint on_grid(const Pass *p, npy_intp depth, npy_intp line, npy_intp i, npy_intp j) noexcept nogil:
    """Whether the kernel's depth i and line j saw this depth and line of the image from any place of the result."""
    cdef npy_intp off
    place_of(p, 0, depth, i, &off)
    if off != 0:
        return False
    place_of(p, 1, line, j, &off)
    return off == 0
