"""One direction of a recurrent layer as one operation."""

from autograd_cy._core.graph.tensor cimport Tensor
from autograd_cy._core.kernels.recurrent_loops cimport CellKind
from autograd_cy._core.runtime cimport numpy_api as cnp

cdef cnp.ndarray starts_of(object batch_sizes)
cdef tuple layer_of(CellKind kind, Tensor x, cnp.ndarray starts, bint reverse, Tensor h, Tensor c, tuple parameters)
