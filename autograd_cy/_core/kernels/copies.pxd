"""Copies that several threads make together."""

cimport numpy as cnp

cdef cnp.ndarray copied(cnp.ndarray array)
