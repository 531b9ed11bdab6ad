"""Entry points of batching for modules of the graph, which can't import it."""

ctypedef object (*OfSamples)(object function, tuple tensors, object constant)
ctypedef tuple (*JvpBySamples)(object node, tuple tangents, tuple outputs)

cdef OfSamples of_samples           # calls function(*values, constant, n) on BatchedTensors; batching/rules.pyx sets both
cdef JvpBySamples jvp_by_samples    # the tangents of a node's outputs, sample by sample
