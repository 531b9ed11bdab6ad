"""Elements and rows that index tensors select, and the places of elements with a property."""

from autograd_cy._core.runtime cimport numpy_api as cnp

cnp.import_array()

include "selection/gather.pyx"
include "selection/take_put.pyx"
include "selection/nonzero.pyx"
include "selection/repeats.pyx"
include "selection/unique.pyx"
