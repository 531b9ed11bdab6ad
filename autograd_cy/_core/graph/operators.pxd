"""The operators of Tensor: one list, which the operations fill in."""

from autograd_cy._core.runtime.free_threading cimport load_pointer

cdef enum:                  # one for each operator; reflected ones are those of the same number unless they have their own
    ADD
    SUB
    MUL
    DIV
    RSUB
    RDIV
    POW
    MATMUL
    EQ
    NE
    LT
    LE
    GT
    GE
    AND
    OR
    XOR
    ITEM
    NEG                     # from here on unary
    INVERT
    OPERATORS

ctypedef object (*Operator)(object left, object right)              # right is None for a unary operator
ctypedef object (*Step)(int k, object left, object right)

cdef Operator[OPERATORS] operators
cdef Step step              # overrides.pyx sets it while calls may be handed over or are events; else NULL
cdef list names             # of the operation of each operator

cdef int fill_operator(int k, str operation, Operator function) except -1


cdef inline object operate(int k, object left, object right):
    """What an operator of Tensor calls."""
    cdef Step first = <Step> load_pointer(<void **> &step)      # read once: without a GIL another thread may set it to NULL
    if first != NULL:
        return first(k, left, right)
    return operators[k](left, right)
