"""The entry point for norms of 0 into the engine, which operations can't import; see NOTE [Norms of 0] in quotients.pyx."""

from autograd_cy._core.graph.node cimport Node

ctypedef object (*LimitOfQuotient)(Node node, object g, object y)
cdef LimitOfQuotient limit_of_quotient      # engine/quotients.pyx fills it in
