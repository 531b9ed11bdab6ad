"""The quotient of the gradient of f(y) and y where both are 0, for the second derivative of f(norm(x)) at 0."""

from autograd_cy._core.graph.node cimport Node

cdef object limit_of_quotient(Node node, object g, object y)
