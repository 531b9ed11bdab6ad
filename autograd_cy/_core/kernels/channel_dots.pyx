"""Convolutions from many to few channels, which lie last in memory (knows no Tensor).

A product of matrices computes whole vectors of filters, however few there are. Here vectors are of adjacent elements of the
images instead, the channels of all taps along a line of the kernel, which are adjacent in the weight, too: each result is a
sum of their products. Nothing is copied; taps beside the image are left out. Threads share lines of the result.
"""

from autograd_cy._core.arrays.dtypes cimport FLOAT32, code_of
from autograd_cy._core.kernels.convolutions cimport Geometry
from autograd_cy._core.kernels.gemm cimport vectors
from autograd_cy._core.parallel.threads cimport parallel_for
from autograd_cy._core.runtime cimport numpy_api as cnp
from autograd_cy._core.runtime.numpy_api cimport npy_intp

cnp.import_array()

cdef extern from "channel_dots.h":
    ctypedef struct Dots "autograd_cy_dots":
        const void *x
        const void *weight
        const void *bias
        void *y
        npy_intp step, row, places, filters, runs, length
        const npy_intp *seen
        const npy_intp *weights
    ctypedef void LineOfDots(const Dots *of) noexcept nogil
    LineOfDots *lines_of_dots[3][2]

cdef enum:
    RUNS = 64                   # of a place, at most
    FOURS = 4                   # channels are a multiple
    FEWEST = 8                  # channels, at least, for each filter after ...
    EASY = 3                    # ... so many (or the first, if a kernel is one tap), and for all those together
    MOST = 7                    # filters, at most
    WHOLE = 64                  # bytes of the longest vectors, which pay for runs of three
    TO_AN_ELEMENT = 4           # multiplications that take as long as one element of an elementwise loop

cdef struct Images:             # the arrays of a shared loop
    const Geometry *of
    const char *x
    const void *weight
    const void *bias
    char *y
    npy_intp item               # bytes of an element
    LineOfDots *line


cdef inline npy_intp taps_of_run(const Geometry *of) noexcept nogil:
    """How many taps of a line see adjacent pixels."""
    return of.kernel[2] if of.dilation[2] == 1 else 1


cdef bint suits_dots(const Geometry *of) noexcept nogil:
    """Whether this is faster than products, and than copies to and from C order. Each sum ends with the addition of a vector's
    elements: 64 -> 3 takes 0.35 times as long, 16 -> 1 0.45 times, 8 -> 4 0.85 times, 16 -> 7 1.1 times. Of one tap, 16 -> 3
    takes as long, and 8 -> 4 1.4 times."""
    cdef npy_intp most = MOST if of.taps > 1 else FOURS, easy = EASY if of.taps > 1 else 1
    return (of.groups == 1 and of.channels % FOURS == 0 and of.channels >= FEWEST * max(of.filters - easy, 1)
            and of.filters <= most and of.taps // taps_of_run(of) <= RUNS)


cdef int convolve_dots(const Geometry *of, cnp.ndarray x, cnp.ndarray weight, cnp.ndarray bias, cnp.ndarray y) except -1:
    """y = the convolution of x, plus the bias (or None). `weight`: (filters, taps, channels)."""
    cdef Images images
    cdef npy_intp lines = of.batch * of.out[0] * of.out[1]
    images.of, images.item = of, cnp.PyArray_ITEMSIZE(y)
    images.x, images.y = <const char *> cnp.PyArray_DATA(x), <char *> cnp.PyArray_DATA(y)
    images.weight, images.bias = cnp.PyArray_DATA(weight), NULL if bias is None else cnp.PyArray_DATA(bias)
    cdef npy_intp run = taps_of_run(of) * of.channels * images.item
    images.line = lines_of_dots[min(vectors(), 2 if run % WHOLE == 0 and run >= 3 * WHOLE else 1)][
        0 if code_of(y) == FLOAT32 else 1]
    parallel_for(some_lines, &images, lines, max(of.out[2] * of.filters * of.channels * of.taps // TO_AN_ELEMENT, 1))
    return 0


cdef void some_lines(void *data, Py_ssize_t number, Py_ssize_t end) noexcept nogil:
    cdef const Images *p = <const Images *> data
    cdef const Geometry *of = p.of
    cdef npy_intp inner, last
    inner = min((of.padding[2] + of.stride[2] - 1) // of.stride[2], of.out[2])
    last = of.size[2] - 1 + of.padding[2] - of.dilation[2] * (of.kernel[2] - 1)
    last = max(min(last // of.stride[2] + 1 if last >= 0 else 0, of.out[2]), inner)
    while number < end:
        beside(p, number, 0, inner)
        some_places(p, number, inner, last - inner, 0, of.kernel[2])
        beside(p, number, last, of.out[2])
        number += 1


cdef void beside(const Images *p, npy_intp number, npy_intp place, npy_intp end) noexcept nogil:
    """Places of which some taps lie beside the image, one by one."""
    cdef const Geometry *of = p.of
    cdef npy_intp at, tap, taps
    while place < end:
        at = place * of.stride[2] - of.padding[2]
        tap = (-at + of.dilation[2] - 1) // of.dilation[2] if at < 0 else 0
        taps = min(of.kernel[2], (of.size[2] - 1 - at) // of.dilation[2] + 1 if at < of.size[2] else 0)
        some_places(p, number, place, 1, tap, taps)
        place += 1


cdef void some_places(const Images *p, npy_intp number, npy_intp place, npy_intp places, npy_intp first,
                      npy_intp end) noexcept nogil:
    """Adjacent places of a line of the result (a number through all images), which see the taps from `first` on."""
    cdef npy_intp[RUNS] seen, weights
    cdef const Geometry *of = p.of
    cdef npy_intp depth = number // of.out[1] % of.out[0], line = number % of.out[1], adjacent = taps_of_run(of)
    cdef npy_intp image = number // (of.out[0] * of.out[1]) * of.pixels * of.channels, a, b, tap, from_depth, from_line
    cdef Dots dots = Dots(p.x + image * p.item, p.weight, p.bias,
                          p.y + (number * of.out[2] + place) * of.filters * p.item, of.stride[2] * of.channels,
                          of.taps * of.channels, places, of.filters, 0, 0, &seen[0], &weights[0])
    dots.length = (max(end - first, <npy_intp> 0) if adjacent > 1 else 1) * of.channels
    for a in range(of.kernel[0]):
        from_depth = depth * of.stride[0] - of.padding[0] + a * of.dilation[0]
        for b in range(of.kernel[1]):
            from_line = line * of.stride[1] - of.padding[1] + b * of.dilation[1]
            if not (0 <= from_depth < of.size[0] and 0 <= from_line < of.size[1]):
                continue
            tap = first
            while tap < end:
                seen[dots.runs] = ((from_depth * of.size[1] + from_line) * of.size[2] + place * of.stride[2] - of.padding[2]
                                   + tap * of.dilation[2]) * of.channels
                weights[dots.runs] = ((a * of.kernel[1] + b) * of.kernel[2] + tap) * of.channels
                dots.runs += 1
                tap += adjacent if adjacent == 1 else end - first
    if places > 0:
        p.line(&dots)
