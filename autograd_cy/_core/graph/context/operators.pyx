"""The operators of Tensor: one list, which the operations fill in.

Tensor's special methods call `operate`. An operation fills in its operator where it is declared:
`fill_operator(ADD, "add", ...)`.
"""

cdef list names = [None] * OPERATORS


cdef object declined(object left, object right):
    """The result of an operator whose operation is not imported."""
    return NotImplemented


cdef int fill_operator(int k, str operation, Operator function) except -1:
    """Let an operator call a function, and note the name of its operation; `sub` is that of RSUB, too."""
    operators[k] = function
    names[k] = operation
    return 0


for _k in range(OPERATORS):
    operators[_k] = declined
