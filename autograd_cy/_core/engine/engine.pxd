"""The engine's entry."""

from autograd_cy._core.engine.graph_task cimport GraphTask

ctypedef int (*Run)(GraphTask task) except -1
cdef Run run_in_parallel        # sharing.pyx sets it while several threads are enabled; else NULL
