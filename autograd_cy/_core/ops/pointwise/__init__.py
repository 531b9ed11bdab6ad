"""Elementwise: the rows of the table, what is rendered from them, and what takes numbers, modes and conditions besides."""
