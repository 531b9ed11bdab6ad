"""Convolutions by products that read images in place, with channels last in memory (knows no Tensor).

Images are (N, ..., C) in C order. A tap sees equally spaced pixels from neighbouring places, so each tap's factor is a matrix
that lies in the images. The edges of an image hide some taps from some places: a strip is places along a dimension that see
the image through the same taps. Strips of all dimensions together are a box of places, whose sums have the same terms, so
no zero is multiplied. A product's rows are the places of a box along a line, across lines, or in several images.
Threads share panels of blocks of lines and images.
"""

from libc.stdlib cimport free, malloc

from autograd_cy._core.arrays.dtypes cimport code_of
from autograd_cy._core.kernels.convolutions cimport Geometry
from autograd_cy._core.kernels.gemm cimport PanelProduct, panel_product
from autograd_cy._core.parallel.threads cimport parallel_for
from autograd_cy._core.runtime cimport numpy_api as cnp
from autograd_cy._core.runtime.numpy_api cimport npy_intp

cnp.import_array()

cdef enum:
    ROWS = 8                    # of a product: a tile has as many; narrower images are multiplied together
    ENOUGH = 6                  # places of a line that are rows of a product, even if more images have the same place
    PLACES = 64                 # of a block of several images, at least
    SEEN = 1 << 18              # bytes of a block of lines, about ...
    FEWEST = 4                  # ... but never fewer lines than this: each block reads the weight again
    DEPTH = 384                 # terms that are summed before they are added to the result
    TO_AN_ELEMENT = 4           # multiplications that take as long as one element of an elementwise loop

cdef struct Pass:               # a shared loop; distances are in bytes
    const Geometry *of
    const char *x
    const char *weight          # (groups, panels, taps and channels, `row`)
    const char *bias
    char *y
    int dtype_code
    npy_intp size               # of an element
    npy_intp pixel, place       # the distance of neighbours in the images, and in the result
    npy_intp columns, row       # of a panel: filters, and the distance of its rows
    npy_intp panels             # of a group
    npy_intp images, lines      # of a block
    npy_intp line_blocks, blocks    # of an image or several; of a group
    bint failed                 # there was no memory for the list of segments

cdef struct Strip:
    npy_intp place, places      # the first one, and how many
    npy_intp tap, taps          # that see pixels of the image
    npy_intp pixel              # that the first tap sees from the first place

cdef struct Box:                # places of some images, lines and columns
    npy_intp[3] n
    npy_intp[3] seen, step      # the distance of neighbours in the images, and in the result
    const char *x               # what the first tap sees from the first place
    char *y
    npy_intp length, segments   # the terms of a segment, and the number of segments


cdef inline npy_intp parts_of(npy_intp n, npy_intp size) noexcept nogil:
    return (n + size - 1) // size


cdef int convolve_places(const Geometry *of, cnp.ndarray x, cnp.ndarray panels, cnp.ndarray bias, cnp.ndarray y) except -1:
    """y = the convolution of x, plus the bias (or None). `panels`: (groups, panels of filters, taps and channels, columns),
    padded with zeros."""
    cdef int dtype_code = code_of(y)
    cdef Pass p
    cdef npy_intp n, work
    p.of, p.dtype_code, p.failed = of, dtype_code, False
    p.x, p.y, p.weight = cnp.PyArray_BYTES(x), cnp.PyArray_BYTES(y), cnp.PyArray_BYTES(panels)
    p.bias = NULL if bias is None else cnp.PyArray_BYTES(bias)
    p.size = cnp.PyArray_ITEMSIZE(y)
    p.columns = cnp.PyArray_DIM(panels, cnp.PyArray_NDIM(panels) - 1)
    p.row, p.panels = p.columns * p.size, parts_of(of.filters, p.columns)
    p.pixel, p.place = of.groups * of.channels * p.size, of.groups * of.filters * p.size
    divide(&p)
    n = of.groups * p.blocks * p.panels
    work = of.batch * of.places * of.groups * of.filters * of.taps * of.channels
    parallel_for(convolve_blocks, &p, n, max(work // n // TO_AN_ELEMENT, 1))
    if p.failed:
        raise MemoryError("convolution: not enough memory for a list of taps")
    return 0


cdef void divide(Pass *p) noexcept:
    """Choose the blocks: some lines of an image, or of several narrow images."""
    cdef const Geometry *of = p.of
    p.images, p.lines = 1, max(SEEN // (of.size[2] * p.pixel * of.stride[1]), <npy_intp> FEWEST)
    if of.out[2] < ROWS:
        p.images = min(of.batch, <npy_intp> ROWS)
        p.lines = parts_of(PLACES, p.images * of.out[2])
    p.line_blocks = parts_of(of.out[1], p.lines)
    p.blocks = parts_of(of.batch, p.images) * of.out[0] * p.line_blocks


cdef void convolve_blocks(void *data, Py_ssize_t number, Py_ssize_t end) noexcept nogil:
    """Some panels, counted through blocks and groups."""
    cdef Pass *p = <Pass *> data
    cdef npy_intp block
    cdef npy_intp *segments = <npy_intp *> malloc(2 * p.of.taps * sizeof(npy_intp))
    if segments == NULL:
        p.failed = True
        return
    while number < end:
        block = number // p.panels
        convolve_block(p, block // p.blocks, number % p.panels, block % p.blocks, segments)
        number += 1
    free(segments)


cdef void convolve_block(const Pass *p, npy_intp group, npy_intp panel, npy_intp block, npy_intp *segments) noexcept nogil:
    """Box by box."""
    cdef npy_intp lines = p.of.out[1], part = block % p.line_blocks, line = lines * part // p.line_blocks, place
    cdef npy_intp end = lines * (part + 1) // p.line_blocks, plane = block // p.line_blocks
    cdef npy_intp depth = plane % p.of.out[0], image = plane // p.of.out[0] * p.images
    cdef Strip deep = strip_at(p.of, 0, depth, depth + 1), high, wide
    cdef Box box
    while line < end:
        high, place = strip_at(p.of, 1, line, end), 0
        while place < p.of.out[2]:
            wide = strip_at(p.of, 2, place, p.of.out[2])
            box = box_of(p, &deep, &high, &wide, group, image, min(p.images, p.of.batch - image))
            list_segments(p, &deep, &high, &wide, &box, segments)
            multiply_box(p, &box, group, panel, segments)
            place += wide.places
        line += high.places


# boxes

cdef Strip strip_at(const Geometry *of, int k, npy_intp place, npy_intp end) noexcept nogil:
    """The strip along dimension k that begins at this place."""
    cdef Strip strip, next
    cdef npy_intp reach = of.dilation[k] * (of.kernel[k] - 1)
    find_taps(of, k, place, &strip)
    strip.places = 1
    if strip.taps == of.kernel[k]:
        strip.places = min(end, (of.size[k] - 1 - reach + of.padding[k]) // of.stride[k] + 1) - place
    while place + strip.places < end:
        find_taps(of, k, place + strip.places, &next)
        if next.tap != strip.tap or next.taps != strip.taps:
            break
        strip.places += 1
    return strip


cdef inline void find_taps(const Geometry *of, int k, npy_intp place, Strip *strip) noexcept nogil:
    """The taps that see a pixel from a place."""
    cdef npy_intp first = place * of.stride[k] - of.padding[k], left = max(-first, <npy_intp> 0)
    strip.place, strip.tap = place, parts_of(left, of.dilation[k])
    strip.taps = min(parts_of(max(of.size[k] - first, <npy_intp> 0), of.dilation[k]), of.kernel[k]) - strip.tap
    if strip.taps <= 0:
        strip.taps = strip.tap = 0
        first = 0
    strip.pixel = first + strip.tap * of.dilation[k]


cdef Box box_of(const Pass *p, const Strip *deep, const Strip *high, const Strip *wide, npy_intp group, npy_intp image,
                npy_intp images) noexcept nogil:
    cdef const Geometry *of = p.of
    cdef Box box
    box.n[0], box.n[1], box.n[2] = images, high.places, wide.places
    box.seen[0], box.step[0] = of.pixels * p.pixel, of.places * p.place
    box.seen[1], box.step[1] = of.stride[1] * of.size[2] * p.pixel, of.out[2] * p.place
    box.seen[2], box.step[2] = of.stride[2] * p.pixel, p.place
    box.x = p.x + image * box.seen[0] + group * of.channels * p.size
    box.x += ((deep.pixel * of.size[1] + high.pixel) * of.size[2] + wide.pixel) * p.pixel
    box.y = p.y + image * box.step[0] + group * of.filters * p.size
    box.y += ((deep.place * of.out[1] + high.place) * of.out[2] + wide.place) * p.place
    return box


cdef void list_segments(const Pass *p, const Strip *deep, const Strip *high, const Strip *wide, Box *box,
                        npy_intp *segments) noexcept nogil:
    """The places of the box's taps in the images and in a panel. Taps with adjacent pixels are one segment."""
    cdef const Geometry *of = p.of
    cdef bint joined = of.groups == 1 and of.dilation[2] == 1 and wide.taps * of.channels <= DEPTH
    cdef npy_intp step = max(wide.taps, <npy_intp> 1) if joined else 1, i, j, k, line, tap
    box.length, box.segments = step * of.channels, 0
    for i in range(deep.taps):
        for j in range(high.taps):
            line = (i * of.dilation[0] * of.size[1] + j * of.dilation[1]) * of.size[2]
            tap = ((deep.tap + i) * of.kernel[1] + high.tap + j) * of.kernel[2] + wide.tap
            k = 0
            while k < wide.taps:
                segments[2 * box.segments] = (line + k * of.dilation[2]) * p.pixel
                segments[2 * box.segments + 1] = (tap + k) * of.channels * p.row
                box.segments += 1
                k += step


cdef void multiply_box(const Pass *p, const Box *box, npy_intp group, npy_intp panel, const npy_intp *segments) noexcept nogil:
    """The columns of a panel. Rows of the products are the box's places along the dimension that has most of them."""
    cdef npy_intp bytes = min(p.of.filters - panel * p.columns, p.columns) * p.size, first = 0, count, i, j
    cdef const char *weight = p.weight + (group * p.panels + panel) * p.of.taps * p.of.channels * p.row
    cdef const char *bias = NULL if p.bias == NULL else p.bias + (group * p.of.filters + panel * p.columns) * p.size
    cdef int rows = 2, a = 0, b = 1
    cdef char *y
    cdef PanelProduct *multiply = panel_product(p.dtype_code, bytes)
    if box.n[2] < ENOUGH and box.n[2] < max(box.n[0], box.n[1]):
        rows, b = 1 if box.n[1] >= box.n[0] else 0, 2
        a = 1 - rows
    while True:
        count = min(box.segments - first, max(DEPTH // box.length, <npy_intp> 1))
        for i in range(box.n[a]):
            for j in range(box.n[b]):
                y = box.y + i * box.step[a] + j * box.step[b] + panel * p.row
                multiply(box.x + i * box.seen[a] + j * box.seen[b], box.seen[rows], p.size, weight, p.row, y, box.step[rows],
                         box.n[rows], box.length, bytes, bias if first == 0 else y, 0 if first == 0 else box.step[rows],
                         segments + 2 * first, count)
        first += count
        if first >= box.segments:
            return
