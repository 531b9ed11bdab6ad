"""Elementwise: operations rendered from codegen/pointwise_table.py, and those with numbers, modes or conditions besides."""
