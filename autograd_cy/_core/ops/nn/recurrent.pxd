"""Recurrent layers: RNN, LSTM, GRU."""

from autograd_cy._core.graph.tensor cimport Tensor
from autograd_cy._core.kernels.recurrent_loops cimport CellKind
from autograd_cy._core.runtime cimport numpy_api as cnp

# in recurrent_steps.pyx
cdef tuple unrolled(CellKind kind, object x, object starts, bint reverse, object h, object c, tuple parameters)
cdef tuple adjoint(CellKind kind, object x, object starts, bint reverse, object h, object c, tuple parameters, list g)

# in recurrent_layer.pyx
cdef cnp.ndarray starts_of(object batch_sizes)
cdef tuple layer_of(CellKind kind, Tensor x, cnp.ndarray starts, bint reverse, Tensor h, Tensor c, tuple parameters)
