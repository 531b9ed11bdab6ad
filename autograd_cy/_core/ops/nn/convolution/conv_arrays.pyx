"""Convolutions of arrays and their gradients, for any type and sizes that fit."""

import numpy as np

from autograd_cy._core.arrays.buffers cimport (
    NARROW, channels_at_end, channels_second, flat, has_channels_last, in_c_order, in_format, in_type_and_order, new_array,
    new_in_format, sizes_of)
from autograd_cy._core.arrays.dtypes cimport FLOAT16, code_of, kernel_code
from autograd_cy._core.kernels.channel_convolutions cimport (
    convolve_channels, convolve_channels_back, correlate_channels, sum_channels)
from autograd_cy._core.kernels.channel_dots cimport convolve_dots, suits_dots
from autograd_cy._core.kernels.channel_places cimport convolve_places
from autograd_cy._core.kernels.channel_taps cimport (
    convolve_lines_back, convolve_taps, convolve_taps_back, correlate_lines, correlate_taps)
from autograd_cy._core.kernels.convolutions cimport (
    Geometry, add_filters, convolve, convolve_back, convolve_planes, convolve_planes_back, correlate, correlate_planes,
    suits_planes, sum_filters)
from autograd_cy._core.kernels.gemm cimport panel_width, vectors
from autograd_cy._core.runtime cimport numpy_api as cnp
from autograd_cy._core.runtime.numpy_api cimport npy_intp

cdef enum:
    WIDE = 8                # places of a line, from which on the weight's gradient is computed line by line
    COPIED = 4              # filters for each place of all images, at most, whose weights are worth a copy
    LANES = 16              # elements that make whole vectors
    RESULTS = 8             # filters of a group, at most, that share vectors with other groups; for so many ...
    SOURCES = 4             # ... each with a copy of so many channels, at most; see most_sources()


cdef Geometry geometry(tuple images, tuple weight, tuple result, tuple stride, tuple padding, tuple dilation,
                       object groups) except *:
    """The geometry of the convolution from `images` to `result`. For a transposed one, that is its gradient's convolution."""
    cdef Geometry of
    cdef int k, missing = 5 - len(images)
    of.batch, of.groups, of.channels, of.filters = images[0], groups, weight[1], weight[0] // groups
    of.pixels = of.places = of.taps = 1
    for k in range(3):
        of.size[k] = of.out[k] = of.kernel[k] = of.stride[k] = of.dilation[k] = 1
        of.padding[k] = 0
        if k >= missing:
            of.size[k], of.out[k], of.kernel[k] = images[2 + k - missing], result[2 + k - missing], weight[2 + k - missing]
            of.stride[k], of.padding[k] = stride[k - missing], padding[k - missing]
            of.dilation[k] = dilation[k - missing]
        of.pixels *= of.size[k]
        of.places *= of.out[k]
        of.taps *= of.kernel[k]
    return of


cdef cnp.ndarray empty(int dtype_code, tuple sizes):
    cdef npy_intp[5] dims
    cdef int axis
    for axis in range(<int> len(sizes)):
        dims[axis] = sizes[axis]
    return new_array(dtype_code, <int> len(sizes), dims)


cdef bint has_none(const Geometry *of) noexcept:
    """Whether there is nothing to sum, or no result."""
    return (of.batch == 0 or of.channels == 0 or of.filters == 0 or of.pixels == 0 or of.places == 0 or of.taps == 0
            or of.groups == 0)


cdef tuple find_seeing(const Geometry *of, Geometry *seeing, int ndim):
    """The taps between the first and the last that see a pixel, as indices into a weight of `ndim` dimensions; None if all do.
    The others see zeros: `seeing` receives the geometry without them."""
    cdef npy_intp first, end
    cdef list taps = []
    cdef int k
    seeing[0] = of[0]
    if has_none(of):
        return None
    seeing.taps = 1
    for k in range(3):
        first, end = 0, of.kernel[k]
        while end > 1 and not sees(of, k, end - 1):
            end -= 1
        while first + 1 < end and (first + 1) * of.dilation[k] <= of.padding[k] and not sees(of, k, first):
            first += 1
        seeing.kernel[k], seeing.padding[k] = end - first, of.padding[k] - first * of.dilation[k]
        seeing.taps *= end - first
        if k >= 5 - ndim:
            taps.append(slice(first, end))
    return None if seeing.taps == of.taps else (Ellipsis, *taps)


cdef inline bint sees(const Geometry *of, int k, npy_intp tap) noexcept:
    """Whether a tap sees a pixel along dimension k from any place."""
    cdef npy_intp first = tap * of.dilation[k] - of.padding[k], stride = of.stride[k]
    cdef npy_intp place = (stride - 1 - first) // stride if first < 0 else 0
    return place < of.out[k] and first + place * stride < of.size[k]


cdef bint goes_by_channels(const Geometry *of, bint channels_last) noexcept:
    """Whether kernels take arrays with channels last as they are."""
    return channels_last and not has_none(of)


cdef bint has_few_places(const Geometry *of) noexcept:
    """Whether the weight has more rows than there are places: then a copy of the weight, or its gradient in several slices,
    takes as long as the products ((1, 512, 8, 8) -> 512: 2.5 of 6.5 ms)."""
    return of.batch * of.places < of.filters


cdef bint goes_by_places(const Geometry *of) noexcept:
    """Whether the products of a convolution read the images in place. They read a copy of the weight, which takes longer than
    a copy of the patches if places are few."""
    return of.taps > 1 and COPIED * of.batch * of.places >= of.filters


cdef bint is_narrow(const Geometry *of, npy_intp columns) noexcept:
    """Whether a convolution, or the gradient of its images, is faster in C order, with copies: a product computes the columns
    of a whole vector."""
    return columns <= NARROW and of.taps > 1


cdef bint is_thin(const Geometry *of) noexcept:
    """Whether a convolution and its gradients are faster in C order since all arrays have few channels: copies take little
    (1 -> 4: 0.8 times as long, 4 -> 1: 0.5 times)."""
    return of.groups * max(of.channels, of.filters) <= NARROW and (of.taps == 1 or suits_planes(of))


cdef bint suits_taps(const Geometry *of, npy_intp sources, npy_intp results) noexcept:
    """Whether sums over taps are faster than products: groups of few channels, which together fill vectors, or half of one. If
    a stride leaves fewer sums, copies of the sources cost more."""
    cdef npy_intp all_results = of.groups * results
    if suits_planes(of):
        return not is_thin(of)
    if all_results < LANES:
        return 2 * all_results == LANES and results <= NARROW and sources <= 2 * SOURCES
    return results <= (RESULTS if of.stride[2] == 1 else NARROW) and sources <= most_sources(results)


cdef npy_intp most_sources(npy_intp results) noexcept:
    """How many sources of a group can be copied in the time that a product takes longer: it always computes RESULTS columns.
    Measured as parts of the product's time, of 8 groups: 8 -> 8 1.3, 8 -> 7 0.8, 16 -> 7 1.2, 16 -> 4 0.75."""
    if vectors() == 2:                  # sources are picked by vectors
        return 4 * SOURCES if results <= NARROW else 2 * SOURCES if results < RESULTS else SOURCES
    return 2 * SOURCES if results <= 2 else SOURCES


cdef tuple at_end(tuple sizes):
    return (sizes[0], *sizes[2:], sizes[1])


cdef cnp.ndarray matrices_of(const Geometry *of, cnp.ndarray weight, int dtype_code, bint flipped):
    """(groups, taps and channels, filters); or `flipped`, (groups, taps in reverse, filters, channels)."""
    weight = flat(channels_at_end(weight), dtype_code)
    if flipped:
        return weight.reshape(of.groups, of.filters, of.taps, of.channels)[:, :, ::-1].transpose(0, 2, 1, 3).copy()
    return in_c_order(weight.reshape(of.groups, of.filters, of.taps * of.channels).swapaxes(1, 2), dtype_code)


cdef cnp.ndarray panels_of(const Geometry *of, cnp.ndarray weight, int dtype_code, bint flipped):
    """The same matrices as panels of columns, each contiguous: (groups, panels, rows, columns). If columns don't fill them, up
    to whole vectors, zeros follow."""
    cdef npy_intp columns = of.channels if flipped else of.filters, width = panel_width(dtype_code), panels
    width = width if columns > width else (columns + LANES - 1) // LANES * LANES
    panels = (columns + width - 1) // width
    if columns % width == 0:
        weight = flat(channels_at_end(weight), dtype_code)
        if flipped:
            return weight.reshape(of.groups, of.filters, of.taps, panels, width)[:, :, ::-1].transpose(0, 3, 2, 1, 4).copy()
        return in_c_order(weight.reshape(of.groups * panels, width, of.taps * of.channels).swapaxes(1, 2), dtype_code)
    matrices = matrices_of(of, weight, dtype_code, flipped).reshape(of.groups, -1, columns)
    wide = np.zeros(sizes_of(matrices)[:2] + (panels * width,), matrices.dtype)
    wide[..., :columns] = matrices
    return wide if panels == 1 else wide.reshape(of.groups, -1, panels, width).swapaxes(1, 2).copy()


cdef cnp.ndarray convolved(const Geometry *of, cnp.ndarray x, cnp.ndarray weight, cnp.ndarray bias, tuple sizes,
                           bint channels_last):
    """The convolution, an array of these sizes, in the kernel's type."""
    cdef int dtype_code = kernel_code(x)
    cdef Geometry seeing
    cdef tuple taps = find_seeing(of, &seeing, cnp.PyArray_NDIM(weight))
    if taps is not None:
        return convolved(&seeing, x, weight[taps], bias, sizes, channels_last)
    bias = None if bias is None else flat(bias, dtype_code)
    cdef bint by_taps = suits_taps(of, of.channels, of.filters)
    cdef bint by_dots = suits_dots(of)
    cdef bint in_order = is_thin(of) or is_narrow(of, of.filters) and of.stride[2] == 1
    if goes_by_channels(of, channels_last) and (by_dots or by_taps or not in_order):
        y, x = empty(dtype_code, at_end(sizes)), flat(channels_at_end(x), dtype_code)
        if by_dots:
            convolve_dots(of, x, flat(channels_at_end(weight), dtype_code), bias, y)
        elif by_taps:
            convolve_taps(of, x, flat(channels_at_end(weight), dtype_code), bias, y)
        elif goes_by_places(of):
            convolve_places(of, x, panels_of(of, weight, dtype_code, False), bias, y)
        elif has_few_places(of):
            convolve_channels(of, x, flat(channels_at_end(weight), dtype_code), bias, y, True)
        else:
            convolve_channels(of, x, matrices_of(of, weight, dtype_code, False), bias, y, False)
        return channels_second(y)
    return in_format(convolved_in_order(of, x, weight, bias, sizes), channels_last)


cdef cnp.ndarray convolved_in_order(const Geometry *of, cnp.ndarray x, cnp.ndarray weight, cnp.ndarray bias, tuple sizes):
    cdef int dtype_code = kernel_code(x)
    cdef cnp.ndarray y = empty(dtype_code, sizes)
    if has_none(of):
        y.fill(0)
        if bias is not None:
            add_filters(bias, y)
    elif suits_planes(of):
        convolve_planes(of, in_c_order(x, dtype_code), in_c_order(weight, dtype_code), y)
        if bias is not None:
            add_filters(bias, y)
    else:
        convolve(of, in_c_order(x, dtype_code), in_c_order(weight, dtype_code), bias, y)
    return y


cdef cnp.ndarray convolved_back(const Geometry *of, cnp.ndarray g, cnp.ndarray weight, tuple sizes, bint channels_last):
    """The gradient of the images, of these sizes."""
    cdef int dtype_code = kernel_code(g)
    cdef cnp.ndarray x
    cdef Geometry back, seeing
    cdef tuple taps = find_seeing(of, &seeing, cnp.PyArray_NDIM(weight))
    if taps is not None:
        return convolved_back(&seeing, g, weight[taps], sizes, channels_last)
    cdef bint by_taps = suits_taps(of, of.filters, of.channels), by_dots = is_convolution_back(of, &back) and suits_dots(&back)
    if goes_by_channels(of, channels_last) and (by_dots or by_taps or not (is_thin(of) or is_narrow(of, of.channels))):
        x, g = empty(dtype_code, at_end(sizes)), flat(channels_at_end(g), dtype_code)
        if by_dots:
            weight = flat(channels_at_end(weight), dtype_code).reshape(of.filters, of.taps, of.channels)
            convolve_dots(&back, g, weight[:, ::-1].transpose(2, 1, 0).copy(), None, x)
        elif by_taps:
            convolve_taps_back(of, g, flat(channels_at_end(weight), dtype_code), x)
        elif is_convolution_back(of, &back):
            if goes_by_places(&back):
                convolve_places(&back, g, panels_of(of, weight, dtype_code, True), None, x)
            elif has_few_places(&back):
                convolve_channels_back(&back, g, flat(channels_at_end(weight), dtype_code), x)
            else:
                convolve_channels(&back, g, matrices_of(of, weight, dtype_code, True), None, x, False)
        else:
            convolve_lines_back(of, g, panels_of(of, weight, dtype_code, True), x)
        return channels_second(x)
    x = empty(dtype_code, sizes)
    if has_none(of):
        x.fill(0)
    elif suits_planes(of):
        convolve_planes_back(of, in_c_order(g, dtype_code), in_c_order(weight, dtype_code), x)
    else:
        convolve_back(of, in_c_order(g, dtype_code), in_c_order(weight, dtype_code), x)
    return in_format(x, channels_last)


cdef bint is_convolution_back(const Geometry *of, Geometry *back) noexcept:
    """Whether the gradient is a convolution with reversed taps; writes its geometry."""
    cdef int k
    back[0] = of[0]
    back.channels, back.filters, back.pixels, back.places = of.filters, of.channels, of.places, of.pixels
    for k in range(3):
        back.size[k], back.out[k] = of.out[k], of.size[k]
        back.padding[k] = of.dilation[k] * (of.kernel[k] - 1) - of.padding[k]
        if of.stride[k] != 1 or back.padding[k] < 0:
            return False
    return True


cdef cnp.ndarray correlated(const Geometry *of, cnp.ndarray x, cnp.ndarray g, tuple sizes, bint channels_last):
    """The gradient of the weight, of these sizes."""
    cdef int dtype_code = kernel_code(g)
    cdef cnp.ndarray weight
    cdef Geometry seeing
    cdef tuple taps = find_seeing(of, &seeing, <int> len(sizes))
    if taps is not None:
        weight = new_in_format(dtype_code, sizes, channels_last)
        weight.fill(0)
        weight[taps] = correlated(&seeing, x, g, sizes_of(weight[taps]), channels_last)
        return weight
    if goes_by_channels(of, channels_last) and not is_thin(of):
        weight = empty(dtype_code, at_end(sizes))
        x, g = flat(channels_at_end(x), dtype_code), flat(channels_at_end(g), dtype_code)
        if suits_planes(of) or (of.channels <= 2 and suits_taps(of, of.channels, of.filters)):
            correlate_taps(of, x, g, weight)
        elif of.taps > 1 and of.out[2] >= WIDE and not has_few_places(of):
            correlate_lines(of, x, g, weight)
        else:
            correlate_channels(of, x, g, weight)
        return channels_second(weight)
    weight = empty(dtype_code, sizes)
    if has_none(of):
        weight.fill(0)
    elif suits_planes(of):
        correlate_planes(of, in_c_order(x, dtype_code), in_c_order(g, dtype_code), weight)
    else:
        correlate(of, in_c_order(x, dtype_code), in_c_order(g, dtype_code), weight)
    return in_format(weight, channels_last)


cdef cnp.ndarray summed(cnp.ndarray g, tuple sizes):
    """The gradient of the bias, of these sizes."""
    cdef cnp.ndarray bias = empty(kernel_code(g), sizes)
    if cnp.PyArray_SIZE(g) == 0:
        bias.fill(0)
    elif has_channels_last(g):
        sum_channels(flat(channels_at_end(g), kernel_code(g)), bias)
    else:
        sum_filters(flat(g, kernel_code(g)), bias)
    return bias


cdef cnp.ndarray computed(cnp.ndarray x, cnp.ndarray weight, cnp.ndarray bias, tuple stride, tuple padding, tuple dilation,
                          bint transposed, object groups, tuple sizes, bint channels_last):
    """The result, of these sizes and of the operands' type."""
    cdef tuple own = sizes_of(x), weights = sizes_of(weight)
    cdef Geometry of
    cdef cnp.ndarray y
    if 0 in sizes:
        return in_format(empty(code_of(x), sizes), channels_last)
    if code_of(x) < FLOAT16:
        y = of_integers(x, weight, stride, padding, dilation, transposed, groups, sizes)
        return in_format(y if bias is None else y + bias.reshape((-1,) + (1,) * len(stride)), channels_last)
    if transposed:
        of = geometry(sizes, weights, own, stride, padding, dilation, groups)
        y = convolved_back(&of, x, weight, sizes, channels_last)
        if bias is not None:
            add_filters(flat(bias, code_of(y)), y)
    else:
        of = geometry(own, weights, sizes, stride, padding, dilation, groups)
        y = convolved(&of, x, weight, bias, sizes, channels_last)
    return in_type_and_order(y, code_of(x))


cdef cnp.ndarray of_integers(cnp.ndarray x, cnp.ndarray weight, tuple stride, tuple padding, tuple dilation, bint transposed,
                             object groups, tuple sizes):
    """Tap by tap, since BLAS has no integers."""
    cdef tuple own = sizes_of(x), images = sizes if transposed else own, places = own if transposed else sizes
    whole = np.zeros(images[:2] + tuple([n + 2 * p for n, p in zip(images[2:], padding, strict=True)]), x.dtype)
    inner = (..., *[slice(p, p + n) for n, p in zip(images[2:], padding, strict=True)])
    y = np.zeros(places, x.dtype)
    small = y.reshape(places[0], groups, places[1] // groups, *places[2:])
    large = whole.reshape(images[0], groups, images[1] // groups, *whole.shape[2:])
    weights = weight.reshape(groups, small.shape[2], *sizes_of(weight)[1:])
    if transposed:
        small[...] = x.reshape(small.shape)
    else:
        whole[inner] = x
    for tap in np.ndindex(*sizes_of(weight)[2:]):
        seen = (..., *[slice(d * t, d * t + s * (n - 1) + 1, s)
                       for t, d, s, n in zip(tap, dilation, stride, places[2:], strict=True)])
        if transposed:
            large[seen] += np.einsum("bgf...,gfc->bgc...", small, weights[(..., *tap)])
        else:
            small += np.einsum("bgc...,gfc->bgf...", large[seen], weights[(..., *tap)])
    return whole[inner].copy() if transposed else y
