"""What the graph hands to batching: the rule of a node, and a function of arrays, with tensors of all samples of a batch."""

from autograd_cy._core.graph.node cimport Node
from autograd_cy._core.graph.tensor cimport Tensor

ctypedef Tensor (*OfSamples)(object function, tuple tensors, object constant)
ctypedef tuple (*JvpBySamples)(Node node, tuple tangents, tuple outputs)

cdef OfSamples of_samples           # function(values, constant, n) of BatchedTensors; batching/rules.pyx fills both in
cdef JvpBySamples jvp_by_samples    # the tangents of the outputs, computed for each sample by itself
