"""Recurrent layers: RNN, LSTM, GRU."""

from autograd_cy._core.runtime cimport numpy_api as cnp

cnp.import_array()

include "recurrent/recurrent_steps.pyx"
include "recurrent/recurrent_layer.pyx"
include "recurrent/recurrent.pyx"
