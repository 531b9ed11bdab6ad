"""The backward: its arguments, the ready queue, gradient buffers, tasks; the nodes of Functions.

It walks nodes and edges and knows no operation. Imports: runtime, arrays, kernels, graph, writes.
"""
