"""What the graph leaves to batching: rules of nodes, and functions of arrays, for tensors with all samples of a batch."""

ctypedef object (*OfSamples)(object function, tuple tensors, object constant)
ctypedef tuple (*JvpBySamples)(object node, tuple tangents, tuple outputs)

cdef OfSamples of_samples           # function(*values, constant, n) of BatchedTensors; batching/rules.pyx fills both in
cdef JvpBySamples jvp_by_samples    # the tangents of a node's outputs, computed for each sample by itself
