"""The error where batching is needed, for modules of the graph, which can't import it."""


class SampleTakenForAll(RuntimeError):
    """An operation without a batching rule would read only the first sample of a BatchedTensor."""
