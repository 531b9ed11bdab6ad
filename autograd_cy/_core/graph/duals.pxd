"""The dual levels that are open, and the tangents of a tensor at each."""


cdef class Tangent:
    """A tensor's tangent at one dual level. It isn't changed once a tensor has it, so tensors share it."""
    cdef object value               # the Tensor
    cdef long long level            # the running number of the level
    cdef bint given                 # whether it is the one that make_dual() was given: case 4 of NOTE [Dual levels]
    cdef object into                # that one, into which it is to be written
    cdef Tangent outer              # that of a level around it, or None


cdef struct DualLevels:             # what a thread sees of the open levels
    unsigned long long hidden       # a bit for each that it doesn't see
    int depth                       # how many are open
    int mode                        # FORWARD_AD if it sees any

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
