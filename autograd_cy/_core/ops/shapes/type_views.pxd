"""Views as numbers of another type."""

from autograd_cy._core.arrays.dtypes cimport dtype
from autograd_cy._core.graph.tensor cimport Tensor

cdef Tensor in_other_type(Tensor x, dtype target)
