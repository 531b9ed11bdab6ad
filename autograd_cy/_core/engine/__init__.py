"""The backward: its arguments, the queue of ready nodes, buffers of gradients, the tasks; Function's nodes.

It walks nodes and edges and knows no operation. Imports: runtime, arrays, kernels, graph, writes.
"""
