"""Writes into a tensor's memory: in-place operations, views, and how a write rewrites the history of views.

Imports: runtime, arrays, kernels, graph.
"""
