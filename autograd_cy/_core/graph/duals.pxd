"""The open dual levels, and a tensor's tangents at each."""


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
