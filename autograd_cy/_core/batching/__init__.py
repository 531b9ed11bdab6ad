"""Batches under vmap: levels, the tensors that stand for all samples, how operations take them.

A rule says what an operation does with a dimension more; operations declare theirs (`@op(..., batch=...)`). Imports:
runtime, arrays, graph.
"""
