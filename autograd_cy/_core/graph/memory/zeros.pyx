"""Gradients that are zero under safe_where().

NOTE [Zeros that stay]
An infinite or NaN derivative turns a gradient of 0 into NaN. So a `where` passes NaN from the branch that it did not take.
Under safe_where() a gradient of 0 contributes 0:
  1. The backward's mode decides. The engine runs nodes in its checked loop (`GraphTask.watched`, `propagate_searched`), as
     for NaN detection; the usual loop doesn't test the mode. Each gradient that a node gives is searched for NaN, since 0
     times anything else is 0. Without a NaN the gradient and its recorded graph are the same as without the mode;
  2. With a NaN the node computes the gradient again (`vjp_of_zeros`) by its rule on Tensors. Terms are set to 0 where the
     incoming gradient is 0, before they are summed, unless they are 0 already: a gradient may be 0 at a point where it
     changes, and the rule gives its second derivative. Replaced terms are constant. Saved tensors are unpacked again;
  3. On arrays, entries without NaN are left unchanged;
  4. A node that does not know how entries depend on each other (a matrix product) gives zeros only if the whole incoming
     gradient is zero. A user's Function is not corrected;
  5. Tangents are treated in the same way (`jvp_of_zeros`). Derived JVPs seed placeholder zeros and call `vjp` directly.
"""


cdef object zeroed(object result, object zeros):
    """A gradient (or None) with constant zeros where `zeros`, which broadcasts to it, is true and it is not 0 already."""
    return None if result is None else result.where((result == 0).logical_or(zeros.logical_not()), 0)


cdef object all_zero(object gradients):
    """A 0-d tensor: whether all entries of all gradients (None: missing) are 0."""
    cdef object result = None
    for g in gradients:
        if g is not None:
            zero = (g == 0).all()
            result = zero if result is None else result.logical_and(zero)
    return result
