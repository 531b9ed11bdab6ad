"""Recurrent layers: RNN, LSTM, GRU."""

from autograd_cy._core.graph.tensor cimport Tensor
from autograd_cy._core.kernels.recurrent_loops cimport CellKind
from autograd_cy._core.runtime cimport numpy_api as cnp
