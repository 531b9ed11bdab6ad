"""Elementwise: what is rendered from the rows of codegen/pointwise_table.py; what takes numbers, modes, conditions besides."""
