"""Sums of overlapping windows."""

from autograd_cy._core.graph.tensor cimport Tensor

cdef Tensor overlapped(Tensor windows, tuple sizes, int d, Py_ssize_t step)
