"""Loops of softmax and log_softmax."""

from autograd_cy._core.runtime cimport numpy_api as cnp

cnp.import_array()

include "softmax_loops/softmax_loops.pyx"
include "softmax_loops/softmax_gradients.pyx"
