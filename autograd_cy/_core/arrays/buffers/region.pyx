"""The position of a view in its base's memory, and gradients taken from and put into that place (knows no Tensor).

It follows from the arrays' addresses, sizes and strides. So a view need not remember how it was made, a view of a view
is one step away from the base, and a real view of complex numbers is a region like any other.
"""

import numpy as np

cimport cython

from autograd_cy._core.runtime cimport numpy_api as cnp

cdef enum:
    EFFORT = 10_000         # steps of the exact overlap test; beyond them memory counts as overlapping


@cython.final
cdef class Region:
    """The place of a view in its base. Gradients come in the base's sizes, with any strides."""

    cdef cnp.ndarray taken(self, cnp.ndarray whole):
        """The view's part of an array shaped like the base, as a dense array."""
        cdef cnp.ndarray memory = whole
        if not (self.dense and cnp.PyArray_IS_C_CONTIGUOUS(whole)):
            memory = self.copied(whole)[0]
        return dense_copy(self.part_of(memory))

    cdef cnp.ndarray embedded(self, cnp.ndarray part):
        """Zeros like the base, with `part` in the view's place: the transpose of `taken`. Elements at one place are summed."""
        cdef cnp.ndarray memory, whole, place
        cdef int axis
        memory, whole = self.copied(None)
        place = self.part_of(memory)
        if repeats_places(place) and 0 not in self.strides:         # windows of unfold(), some of as_strided()
            add_to_places(memory, self, part)
            return whole
        cdef tuple repeated = tuple([axis for axis in range(len(self.sizes))
                                     if self.strides[axis] == 0 and self.sizes[axis] > 1])
        if repeated:                    # by expand()
            part = np.asarray(part).sum(repeated, keepdims=True, dtype=part.dtype)
            place = place[tuple([slice(0, 1) if axis in repeated else slice(None) for axis in range(len(self.sizes))])]
        place[...] = part
        return whole

    cdef cnp.ndarray replaced(self, cnp.ndarray whole, cnp.ndarray part):
        """A copy of `whole`, which is shaped like the base, with `part` in the view's place."""
        cdef cnp.ndarray memory, copy
        memory, copy = self.copied(whole)
        self.part_of(memory)[...] = part
        return copy

    cdef tuple copied(self, cnp.ndarray whole):
        """New memory laid out like the base's, and an array on it: a copy of `whole` (None: zeros)."""
        cdef cnp.ndarray memory, array
        if self.dense:
            memory = array = np.zeros(self.base_sizes, self.base_type)
        else:
            memory = np.zeros(self.extent, np.uint8)
            array = laid_out(memory, self.base_offset, self.base_type, self.base_sizes, self.base_strides)
        if whole is not None:
            array[...] = whole
        return memory, array

    cdef cnp.ndarray part_of(self, cnp.ndarray memory):
        if 0 in self.sizes:
            return np.empty(self.sizes, self.type)
        return laid_out(memory, self.offset, self.type, self.sizes, self.strides)

    cdef Region of_each(self, Py_ssize_t n):
        """The same region in each of n consecutive bases."""
        cdef Region each = Region.__new__(Region)
        cdef Py_ssize_t step = self.extent
        each.base_sizes, each.base_strides = (n,) + self.base_sizes, (step,) + self.base_strides
        each.base_offset, each.extent = self.base_offset, n * step
        each.base_type, each.type, each.dense = self.base_type, self.type, self.dense
        each.sizes, each.strides, each.offset = (n,) + self.sizes, (step,) + self.strides, self.offset
        return each


cdef int add_to_places(cnp.ndarray memory, Region region, cnp.ndarray part) except -1:
    """Add each element of the part to its place in dense memory. Elements may share a place."""
    cdef object places = np.full((), region.offset, np.intp)
    for n, step in zip(region.sizes, region.strides):
        places = np.add.outer(places, np.arange(n) * step)
    flat = memory.reshape(-1).view(np.uint8)
    flat = flat[:flat.size // region.type.itemsize * region.type.itemsize].view(region.type)
    np.add.at(flat, places // region.type.itemsize, part)
    return 0


cdef cnp.ndarray laid_out(cnp.ndarray memory, Py_ssize_t offset, cnp.dtype type, tuple sizes, tuple strides):
    """An array in the memory of another one. The caller makes sure that it fits."""
    cdef cnp.npy_intp[MAX_DIMS] dims, steps
    cdef int axis
    for axis in range(len(sizes)):
        dims[axis], steps[axis] = sizes[axis], strides[axis]
    return typed_view(memory, cnp.PyArray_BYTES(memory) + offset, type, len(sizes), dims, steps)


cdef Region region_of(cnp.ndarray base, cnp.ndarray view):
    """The position of a view in its base; RuntimeError if the view's memory is not the base's."""
    cdef Region region = Region.__new__(Region)
    cdef Py_ssize_t below, above
    if not lies_inside(base, view):
        raise RuntimeError("a view has other memory than its base: `.data` of one of them was assigned, or it was resized. "
                           "Take the view anew, or clone() it first.")
    measure(base, &below, &above)
    region.base_sizes, region.base_strides = sizes_of(base), strides_of(base)
    region.base_offset, region.extent = below, below + above
    region.base_type, region.type = base.dtype, view.dtype
    region.dense = cnp.PyArray_IS_C_CONTIGUOUS(base)
    region.sizes, region.strides = sizes_of(view), strides_of(view)
    region.offset = cnp.PyArray_BYTES(view) - cnp.PyArray_BYTES(base) + below
    return region


cdef tuple strides_of(cnp.ndarray array):
    cdef int axis
    return tuple([cnp.PyArray_STRIDE(array, axis) for axis in range(cnp.PyArray_NDIM(array))])


cdef int measure(cnp.ndarray array, Py_ssize_t *below, Py_ssize_t *above) noexcept:
    """Count the bytes of an array below its first element, and those from there on."""
    cdef Py_ssize_t reach
    cdef int axis
    below[0], above[0] = 0, 0
    if cnp.PyArray_SIZE(array) == 0:
        return 0
    above[0] = cnp.PyArray_ITEMSIZE(array)
    for axis in range(cnp.PyArray_NDIM(array)):
        reach = cnp.PyArray_STRIDE(array, axis) * (cnp.PyArray_DIM(array, axis) - 1)
        if reach < 0:
            below[0] -= reach
        else:
            above[0] += reach
    return 0


cdef bint lies_inside(cnp.ndarray base, cnp.ndarray view) noexcept:
    """Whether the view lies between the base's lowest and highest byte."""
    cdef Py_ssize_t below, above, view_below, view_above
    cdef Py_ssize_t distance = cnp.PyArray_BYTES(view) - cnp.PyArray_BYTES(base)
    if cnp.PyArray_SIZE(view) == 0:
        return True
    measure(base, &below, &above)
    measure(view, &view_below, &view_above)
    return distance - view_below >= -below and distance + view_above <= above


cdef bint repeats_places(cnp.ndarray array) noexcept:
    """Whether two elements of an array may share a place. Exact, except for interleaved dimensions."""
    cdef Py_ssize_t[MAX_DIMS] strides, reaches
    cdef Py_ssize_t stride, reach = cnp.PyArray_ITEMSIZE(array)
    cdef int axis, k, n = 0
    if cnp.PyArray_IS_C_CONTIGUOUS(array) or cnp.PyArray_SIZE(array) == 0:
        return False
    for axis in range(cnp.PyArray_NDIM(array)):     # sorted by stride, the smallest first
        if cnp.PyArray_DIM(array, axis) > 1:
            stride = abs(cnp.PyArray_STRIDE(array, axis))
            k = n
            while k > 0 and strides[k - 1] > stride:
                strides[k], reaches[k] = strides[k - 1], reaches[k - 1]
                k -= 1
            strides[k], reaches[k] = stride, stride * (cnp.PyArray_DIM(array, axis) - 1)
            n += 1
    for k in range(n):
        if strides[k] < reach:
            return True
        reach += reaches[k]
    return False


cdef bint spans_meet(cnp.ndarray a, cnp.ndarray b) noexcept:
    """Whether the memory spans of two arrays overlap."""
    cdef Py_ssize_t below, above, other_below, other_above
    cdef Py_ssize_t distance = cnp.PyArray_BYTES(b) - cnp.PyArray_BYTES(a)
    measure(a, &below, &above)
    measure(b, &other_below, &other_above)
    return distance - other_below < above and distance + other_above > -below


cdef bint share_memory(cnp.ndarray a, cnp.ndarray b) noexcept:
    """Whether two dense arrays share memory. False for arrays with gaps, as in PyTorch."""
    return spans_meet(a, b) and is_dense(a) and is_dense(b)


cdef bint overlaps_in_part(cnp.ndarray a, cnp.ndarray b) noexcept:
    """Whether two dense arrays share memory, but not element for element."""
    cdef int axis
    if not share_memory(a, b):
        return False
    if (cnp.PyArray_BYTES(a) != cnp.PyArray_BYTES(b) or cnp.PyArray_SIZE(a) != cnp.PyArray_SIZE(b)
            or cnp.PyArray_NDIM(a) != cnp.PyArray_NDIM(b)):
        return True
    for axis in range(cnp.PyArray_NDIM(a)):
        if cnp.PyArray_DIM(a, axis) > 1 and cnp.PyArray_STRIDE(a, axis) != cnp.PyArray_STRIDE(b, axis):
            return True
    return False


cdef bint is_dense(cnp.ndarray array) noexcept:
    """Whether the elements fill their memory without gaps, in any order of dimensions, with positive strides."""
    cdef Py_ssize_t below, above
    if cnp.PyArray_IS_C_CONTIGUOUS(array):
        return True
    measure(array, &below, &above)
    return below == 0 and above == cnp.PyArray_NBYTES(array) and not repeats_places(array)


cdef bint may_meet(cnp.ndarray array, size_t address, tuple sizes, tuple strides, object type):
    """Whether an array shares a byte with elements at that address. No memory is read."""
    interface = {"shape": sizes, "strides": strides, "typestr": type.str, "data": (address, True), "version": 3}
    try:
        return np.shares_memory(array, np.asarray(Described(interface)), max_work=EFFORT)
    except np.exceptions.TooHardError:
        return True


cdef class Described:
    """An address, sizes and strides in the form that NumPy accepts as an array."""
    cdef readonly dict __array_interface__

    def __init__(self, interface):
        self.__array_interface__ = interface
