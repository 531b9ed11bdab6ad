"""What the graph leaves to batching: rules of nodes, and functions of arrays, for tensors with all samples of a batch."""


class SampleTakenForAll(RuntimeError):
    """The core would compute with the one sample that a BatchedTensor shows as its array."""
