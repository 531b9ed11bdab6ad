"""Sums of overlapping windows: the transpose of unfold()."""

import numpy as np

cimport cython

from autograd_cy._core.batching.batched cimport BatchedTensor, batched, level_of
from autograd_cy._core.graph.node cimport Node
from autograd_cy._core.graph.record cimport record_linear, shape_of
from autograd_cy._core.graph.tensor cimport Tensor


@cython.final
cdef class UnfoldBackwardBackward0(Node):
    cdef tuple constant_names(self):
        return ("dim", "size", "step", None)

    cdef object vjp(self, object g, int i):
        d, size, step, _sizes = self.constants
        return g.unfold(d, size, step)

    cdef object jvp(self, tuple tangents):
        d, _size, step, sizes = self.constants
        return overlapped(tangents[0], sizes, d, step)


cdef Tensor overlapped(Tensor windows, tuple sizes, int d, Py_ssize_t step):
    """The sums of windows, as a tensor of those sizes. The windows lie along `d`, their elements along the last dimension, and
    each begins `step` rows after the one before.
    """
    if windows.batched:
        value = (<BatchedTensor> windows).value
        return batched(overlapped(value, (level_of(windows).size,) + sizes, d + 1, step), level_of(windows))
    cdef Py_ssize_t size = shape_of(windows)[len(sizes)]
    array = np.zeros(sizes, windows.array.dtype)
    add_windows(np.moveaxis(array, d, -1), np.moveaxis(windows.array, d, -2), size, step)
    return record_linear(UnfoldBackwardBackward0, (d, size, step, sizes), windows, array)


cdef int add_windows(object target, object windows, Py_ssize_t size, Py_ssize_t step) except -1:
    """Add windows (last two dimensions) at their positions: one window at a time, or, if there are more windows than elements
    in one, one element of all windows at a time.
    """
    cdef Py_ssize_t count = windows.shape[windows.ndim - 2], k
    if count <= size:
        for k in range(count):
            target[..., k * step:k * step + size] += windows[..., k, :]
    else:
        for k in range(size):
            target[..., k:k + (count - 1) * step + 1:step] += windows[..., k]
    return 0
