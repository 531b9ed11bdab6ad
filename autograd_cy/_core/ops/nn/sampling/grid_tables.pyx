"""The elements that each point of a grid uses, and their weights, by operations, so that weights have gradients."""

from autograd_cy._core.batching.batched cimport zeros_as

from autograd_cy._core.ops.shapes.joining import stack

NEAREST, BICUBIC = 1, 2         # modes; 0 is bilinear
BORDER, REFLECTION = 1, 2       # paddings; 0 is zeros
cdef double CUBIC = -0.75       # the slope of the cubic kernel at 1


# along one dimension

cdef object filled(object x, double number):
    """A tensor like x."""
    return zeros_as(x, tuple(x.shape)) + number


cdef tuple clipped(object place, object slope, double last):
    """(The place clipped to 0 to `last`, its derivative by the coordinate.) NaN becomes 0."""
    inside = (place > 0) & (place < last)
    return place.where(place == place, 0.0).clamp(0, last), slope.where(inside, 0.0)


cdef tuple padded(object x, long long size, int padding, bint aligned):
    """(The place of the element for a coordinate, its derivative by the coordinate.)"""
    if padding == BORDER:
        return clipped(x, filled(x, 1.0), size - 1)
    if padding != REFLECTION:
        return x, filled(x, 1.0)
    low, span = (0.0, size - 1) if aligned else (-0.5, size)
    if span == 0:
        return filled(x, 0.0), filled(x, 0.0)
    from_low = x - low
    far = from_low.abs() % (2 * span)
    turned = far > span
    place = (2 * span - far).where(turned, far) + low
    return clipped(place, filled(x, 1.0).where((from_low < 0) == turned, -1.0), size - 1)


cdef tuple near(object t):
    """The cubic weight of an element at a distance of up to 1, and its slope."""
    return ((CUBIC + 2) * t - (CUBIC + 3)) * t * t + 1, (3 * (CUBIC + 2) * t - 2 * (CUBIC + 3)) * t


cdef tuple far(object t):
    """The same at a distance of 1 to 2."""
    return (((t - 5) * t + 8) * t - 4) * CUBIC, ((3 * t - 10) * t + 8) * CUBIC


cdef list cubic_taps(object x, long long size, int padding, bint aligned):
    base = x.floor()
    t = x - base
    found = []
    for k, (weight, slope), sign in ((-1, far(t + 1), 1), (0, near(t), 1), (1, near(1 - t), -1), (2, far(2 - t), -1)):
        found.append((padded(base + k, size, padding, aligned)[0].round(), weight, slope * sign))
    return found


cdef list taps(object x, long long size, int mode, int padding, bint aligned):
    """[(place, weight, derivative of the weight by the coordinate), ...]; places may be outside of the input, or NaN."""
    if mode == BICUBIC:
        return cubic_taps(x, size, padding, aligned)
    place, slope = padded(x, size, padding, aligned)
    if mode == NEAREST:
        return [(place.round(), filled(x, 1.0), filled(x, 0.0))]
    base = place.floor()
    t = place - base
    return [(base, 1 - t, -slope), (base + 1, t, slope)]


cdef list along(object coordinates, long long size, int mode, int padding, bint aligned):
    """[(index, whether it exists, weight, derivative of the weight by the grid's number), ...]"""
    cdef double scale = (size - 1) / 2.0 if aligned else size / 2.0
    x = (coordinates + 1) * scale
    found = []
    for place, weight, slope in taps(x if aligned else x - 0.5, size, mode, padding, aligned):
        exists = (place >= 0) & (place <= size - 1)
        # floats represent any size that occurs, but not always size - 1
        index = place.where(exists, 0.0).long().clamp(0, size - 1)
        found.append((index, exists, weight, slope * scale))
    return found


# along all

cdef tuple grid_table(object grid, tuple sizes, tuple options):
    """(index, weights, [derivatives of the weights by each number of a point]), each (batches, points, taps).

    The options: the mode, the padding, whether corners are aligned.
    An index is an element's number in a plane of `sizes`, or -1 if there is none.
    """
    cdef Py_ssize_t dims = len(sizes), k
    mode, padding, aligned = options
    points = grid.flatten(1, -2)
    combined = []
    for k in range(dims):
        found = along(points.select(-1, dims - 1 - k), sizes[k], mode, padding, aligned)
        if k == 0:
            combined = [(index, exists, weight, [slope]) for index, exists, weight, slope in found]
            continue
        combined = [
            (index * <long long> sizes[k] + i, exists & e, weight * w, [s * w for s in slopes] + [weight * slope])
            for index, exists, weight, slopes in combined for i, e, w, slope in found]
    exists = stack([tap[1] for tap in combined], -1)
    index = stack([tap[0] for tap in combined], -1).where(exists, -1)
    slopes = [stack([tap[3][k] for tap in combined], -1) for k in reversed(range(dims))]
    return index, stack([tap[2] for tap in combined], -1), slopes
