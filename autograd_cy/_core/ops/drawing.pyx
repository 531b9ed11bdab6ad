"""Random tensors: generators, distributions, draws into a tensor."""

from autograd_cy._core.runtime cimport numpy_api as cnp

cnp.import_array()

include "drawing/drawing.pyx"
include "drawing/random_fills.pyx"
