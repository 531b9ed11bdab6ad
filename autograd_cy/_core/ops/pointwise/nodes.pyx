"""The nodes that elementwise operations share, and where()."""

from autograd_cy._core.runtime cimport numpy_api as cnp

cnp.import_array()

include "nodes/pointwise_node.pyx"
include "nodes/where.pyx"
include "nodes/length_node.pyx"
include "nodes/loss_node.pyx"
