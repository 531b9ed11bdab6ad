"""What the context asks of operations: dual levels, hooks of saved tensors, operators."""

from autograd_cy._core.runtime.free_threading cimport load_pointer

# in duals.pyx

cdef class Tangent:
    """A tensor's tangent at one dual level. Tensors share it, so it doesn't change once a tensor has it."""
    cdef object value               # the Tensor
    cdef long long level            # the serial number of the level
    cdef bint given                 # whether make_dual() was given this tangent: case 4 of NOTE [Dual levels]
    cdef object into                # the user's tangent that the new values will be copied into
    cdef Tangent outer              # the tangent at an outer level, or None


cdef struct DualLevels:             # a thread's view of the open levels
    unsigned long long hidden       # a bit for each level that the thread doesn't see
    int depth                       # the number of open levels
    int mode                        # FORWARD_AD if the thread sees any level

cdef void note_zero_norm() noexcept
cdef bint any_zero_norm() noexcept
cdef DualLevels visible_levels() noexcept
cdef bint is_visible(DualLevels levels, int k) noexcept
cdef void see_up_to(DualLevels levels, int n) noexcept
cdef void see_again(DualLevels levels) noexcept
cdef long long dual_level() noexcept
cdef bint is_visible_number(long long level) noexcept
cdef object tangent_in(Tangent tangents, long long level)
cdef Tangent entry_in(Tangent tangents, long long level)
cdef Tangent with_tangent(Tangent tangents, long long level, object value, bint given=*)

# in saved_hooks.pyx

cdef class HookPair:
    """Two functions: one packs saved tensors, the other unpacks them."""
    cdef readonly object pack       # None: tensors are saved as they are
    cdef readonly object unpack
    cdef bint with_node
    cdef bint composes

cdef int put_hooks_back(void *before) except -1
cdef tuple active_pairs()
cdef object packed_by(HookPair pair, object data, object node, object slot)
cdef object unpacked_by(HookPair pair, object data, object node, object slot)

# in operators.pyx

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
