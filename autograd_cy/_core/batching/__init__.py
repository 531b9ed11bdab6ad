"""Batches under vmap: levels, batched tensors, and how operations process them.

A batching rule defines how an operation handles the batch dimension; operations declare theirs (`@op(..., batch=...)`).
Imports: runtime, arrays, graph.
"""
