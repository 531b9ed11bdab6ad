"""What a norm that is 0 asks of the engine; see NOTE [Norms of 0] in quotients.pyx."""

from autograd_cy._core.graph.node cimport Node

ctypedef object (*LimitOfQuotient)(Node node, object g, object y)
cdef LimitOfQuotient limit_of_quotient      # engine/quotients.pyx fills it in
