"""What the graph hands to batching: the rule of a node, and a function of arrays, with tensors of all samples of a batch."""


class SampleTakenForAll(RuntimeError):
    """The core would compute with the one sample that a BatchedTensor shows as its array."""
