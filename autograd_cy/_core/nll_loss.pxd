"""nll_loss."""

cdef object nll_loss_of(object input, object target, object weight, int reduction, long long ignore_index)
