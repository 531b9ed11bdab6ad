"""What becomes of gradients that are zero: safe_where().

NOTE [Zeros that stay]
A derivative that is infinite or NaN makes NaN of a gradient that is 0. So a `where` lets NaN through from the branch that
it did not take. Under safe_where() an entry of 0 contributes 0:
  1. the mode is the backward's: the engine runs the nodes another way (`GraphTask.watched`, `propagate_searched`), as where
     NaNs are searched to refuse them. The usual way doesn't ask for it. Each gradient that a node gives is searched for NaN: 0
     times anything else is 0. Where there is none, it is what it is without the mode, to the last bit, and so is what is
     recorded of it;
  2. where there is one, the node computes it again (`vjp_of_zeros`): by its rule on Tensors, whose terms are set to 0 where
     the incoming gradient is, before they are summed. Only terms that are not 0 already: a gradient may be 0 at a point
     where it changes, and its second derivative is that of the rule. What was set to 0 is constant. What was saved is unpacked
     again;
  3. on arrays the entries that had no NaN are left as they were;
  4. a node that does not know which entries come from which (a product of matrices) gives zeros where the whole incoming
     gradient is zero. A user's Function gives what it gives;
  5. so it is with tangents (`jvp_of_zeros`). The rules that are derived from vjp seed it with zeros that stand for anything,
     and call it by its name.
"""


cdef object zeroed(object result, object zeros):
    """A gradient (or None) with 0, constant, where `zeros`, which broadcasts to it, says so and it is not 0 anyway."""
    return None if result is None else result.where((result == 0).logical_or(zeros.logical_not()), 0)


cdef object all_zero(object gradients):
    """Whether all entries of all gradients (None: there is none) are 0: a 0-d tensor."""
    cdef object result = None
    for g in gradients:
        if g is not None:
            zero = (g == 0).all()
            result = zero if result is None else result.logical_and(zero)
    return result
