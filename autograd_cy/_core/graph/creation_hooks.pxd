"""Hooks on newly recorded nodes."""

from autograd_cy._core.graph.node cimport Node

cdef int announce(Node node) except -1
