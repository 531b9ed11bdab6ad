"""The recorded graph: Tensor and Node, edges, saved tensors, hooks, versions, anomalies.

It knows no operation and runs no backward. Imports: runtime, recording, parallel, arrays.
"""

from autograd_cy._core.graph import node  # noqa: F401  (of the circle of tensor and node, the one to start with)
