"""What changes a tensor's memory: views, and how their histories are rewritten after a write; the in-place operations.

Imports: runtime, arrays, kernels, graph.
"""
