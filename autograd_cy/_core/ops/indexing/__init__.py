"""Indexing: reading and writing by index, gather and scatter."""
