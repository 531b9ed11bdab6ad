"""Node: edges, saved tensors, hooks and life; AccumulateGrad, the node of a leaf."""

from autograd_cy._core.runtime cimport numpy_api as cnp

cnp.import_array()

include "node/node.pyx"
include "node/node_life.pyx"
include "node/node_hooks.pyx"
include "node/accumulate_grad.pyx"
include "node/saved.pyx"
include "node/saved_tensor.pyx"
include "node/node_attributes.pyx"
include "node/freed.pyx"
