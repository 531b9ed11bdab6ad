"""Change: the side effects of a write into a tensor's memory, prepared before the write.

NOTE [All or nothing]
An in-place operation either completes or changes nothing: neither memory and versions nor the places in the graph and the
tangents of the tensor, its base and other views. Every step that can fail comes before the first byte is written:
  1. First come the checks (case 5 of NOTE [In place]), then the node with its saved tensors, copies and conversions of
     operands, pack hooks and write hooks, and last a `Change`: the owner of the node, the CopySlices of a view, the retained
     gradient, the new tangents, the entry of the version counter (`change_of`).
  2. Then memory is written. Our loops can't fail once they run; NumPy allocates its memory before it writes.
  3. Then the change is committed. That allocates nothing and calls no user code (`commit`).
  4. NumPy may raise after it has written: a warning turned into an error, or a floating-point error under np.errstate. That
     write is counted, so that nodes which saved the tensor notice it, but not recorded (`assign`).
  5. Modes that inspect results (ANOMALY, DETECT_NAN, OP_HOOKS) run before memory changes: the result is computed in other
     memory and copied by `written`. The same holds for a result whose tangent depends on the overwritten values.
  6. A tensor that a Function marks as dirty was already written and counted by operations in its forward. Making these
     tensors the Function's outputs is one change for all of them (`record_outputs`).
  7. `out=` is a copy_; a tensor without elements gets its new shape together with its elements.
  8. A tangent that the user supplied is overwritten with the new values on commit (`give_back`). If that fails, the new
     tangent replaces it and the user's tensor stays as it was.
"""

import numpy as np

cimport cython

from autograd_cy._core.arrays.buffers cimport Region, region_of, repeats_places, spans_meet
from autograd_cy._core.arrays.dtypes cimport code_of
from autograd_cy._core.graph.context cimport (
    DualLevels, Tangent, dual_level, entry_in, is_visible, see_again, see_up_to, visible_levels, with_tangent)
from autograd_cy._core.graph.memory cimport count, part_of
from autograd_cy._core.graph.node cimport Node
from autograd_cy._core.graph.record cimport drop_retained, has_tangent, retain_at, retained_at, tangent_of, tangents_now
from autograd_cy._core.graph.tensor cimport Tensor, extras_of_tensor, make_current, new_tensor, version_of, wants_grad
from autograd_cy._core.runtime cimport numpy_api as cnp
from autograd_cy._core.runtime.state cimport FORWARD_AD, current_mode, here


cdef tuple NOTHING_WRITTEN = (MemoryError, ValueError, TypeError, IndexError)     # what NumPy raises before it writes


@cython.final
@cython.freelist(16)
@cython.no_gc
cdef class Change:
    """Lives only while the operation runs, and only the operation refers to it."""


cdef Change change_of(Tensor target, Tensor result, str operation):
    """The side effects of a write to the target, which gets the place and tangent of `result`, the operation's result."""
    cdef Change change = Change.__new__(Change)
    change.target, change.operation = target, operation
    if not target.inference:
        target.version_counter()
        change.code = here(&change.instruction)
        if is_view_of_another(target):
            change.part = part_of(target.array)
    if result is not None:
        if result.grad_fn is not None:
            give_place(change, result.grad_fn, result.output_number, 0)
        if current_mode() & FORWARD_AD:
            give_tangents(change, result)
    return change


cdef int give_place(Change change, Node node, int output, int position) except -1:
    """Make `node` the target's node; for a view, give its base a CopySlices. `position`: of the target among the inputs."""
    cdef Tensor owner = change.target
    if is_view_of_another(owner):
        owner = owner.extras.base
        node, output = copy_slices(owner, region_of(owner.array, change.target.array), node, position), 0
    change.owner, change.node, change.output = owner, node, output
    if owner.keeps_grad and owner.grad_fn is not None:      # hooks stay with the former node
        retain_at(node, output, owner)
        change.retaining, change.key = retained_at(owner), owner.output_number
    return 0


cdef int give_tangents(Change change, Tensor result) except -1:
    """Give the target the result's tangents (zeros if only the target had one), and update those of its base."""
    cdef DualLevels levels = visible_levels()
    cdef Tensor target = change.target, base = tangent_base(target), t, whole
    cdef Region region = None if base is None else region_of(base.array, target.array)
    cdef int k
    change.with_tangents, change.base = True, base
    change.tangents = extras_of_tensor(target).tangents
    change.whole = None if base is None else extras_of_tensor(base).tangents
    try:
        for k in range(levels.depth):
            if not is_visible(levels, k):
                continue
            see_up_to(levels, k + 1)
            level = dual_level()
            t = tangent_of(result)
            if t is None and tangent_of(target) is not None:
                t = new_tensor(np.zeros(np.shape(target.array), target.array.dtype))
            change.tangents = with_tangent(change.tangents, level, t)
            if base is None or t is None:
                continue
            whole = tangent_of(base)
            see_up_to(levels, k)
            whole = embed_part(t, region) if whole is None else replace_part(whole, t, region)
            change.whole = with_tangent(change.whole, level, whole)
    finally:
        see_again(levels)
    if base is None:
        write_given(change, target.extras.tangents, change.tangents)
    else:
        write_given(change, base.extras.tangents, change.whole)
    return 0


cdef int write_given(Change change, Tangent before, Tangent after) except -1:
    """Note which user-supplied tangents the new ones are to be written into."""
    cdef Tangent entry
    while before is not None:
        entry = entry_in(after, before.level) if before.given else None
        if entry is None or entry is before:
            pass
        elif entry.value is before.value:
            entry.given = True
        elif takes_numbers(<Tensor> before.value, <Tensor> entry.value, change.target):
            (<Tensor> before.value).version_counter()
            entry.into = before.value
        before = before.outer
    return 0


cdef bint takes_numbers(Tensor given, Tensor t, Tensor target) except -1:
    """Whether the new tangent can be copied into the user's: neither of them takes part in a graph, and they match."""
    return (cnp.PyArray_ISWRITEABLE(given.array) and not given.inference and not given.batched and not t.batched
            and not wants_grad(given) and not wants_grad(t) and not has_tangent(given) and not has_tangent(t)
            and cnp.PyArray_SAMESHAPE(given.array, t.array) and code_of(given.array) == code_of(t.array)
            and not repeats_places(given.array) and not spans_meet(given.array, target.array))


cdef int hold_tangent(Change change) except -1:
    """Keep the tangent that the target got before the write is counted; for a view, put it into the base's tangent."""
    if tangent_base(change.target) is not None:
        return give_tangents(change, change.target)
    change.with_tangents, change.tangents = True, tangents_now(change.target)
    extras_of_tensor(change.target)
    return 0


cdef int assign(Change change, cnp.ndarray source, object index=None) except -1:
    """target[index] = source by NumPy (the whole target without an index), then commit the change."""
    try:
        if index is None:
            cnp.PyArray_CopyInto(change.target.array, source)
        else:
            change.target.array[index] = source
    except NOTHING_WRITTEN:
        raise
    except BaseException:
        change.owner, change.with_tangents = None, False
        commit(change)
        raise
    commit(change)
    return 0


cdef void move_retained(Tensor view) noexcept:
    """Let a written view retain its gradient at its new place, not at the place that the new value was computed from.

    If there is no memory for the new node, the view gets it on the next use (`make_current`), as other views do.
    """
    try:
        make_current(view)
    except Exception:
        pass


cdef void commit(Change change) noexcept:
    """Count the write, and give the target or its base the new place and tangent: cases 3 and 4."""
    cdef Tensor target = change.target, owner = change.owner
    if not target.inference:
        count(target.counter, change.part, change.operation, change.code, change.instruction)
    if owner is not None:
        if change.retaining is not None:
            drop_retained(change.retaining, change.key)
        owner.grad_fn, owner.output_number, owner.needs_grad = change.node, change.output, True
        if owner is not target and target.keeps_grad:
            move_retained(target)
    if change.with_tangents:
        give_back(change, change.tangents if change.base is None else change.whole)
        if change.base is not None:
            put_tangents(change.base, change.whole)
        put_tangents(target, change.tangents)


cdef void give_back(Change change, Tangent entry) noexcept:
    """Copy new tangents into the user-supplied ones that they replace: case 8."""
    cdef Tensor given
    while entry is not None:
        given, entry.into = entry.into, None
        if given is not None and copied_into(given, <Tensor> entry.value):
            count(given.counter, None, change.operation, change.code, change.instruction)
            entry.value, entry.given = given, True
        entry = entry.outer


cdef bint copied_into(Tensor given, Tensor t) noexcept:
    """Copy the values; False if there was no memory for that."""
    try:
        cnp.PyArray_CopyInto(given.array, t.array)
    except Exception:
        return False
    return True


cdef void put_tangents(Tensor x, Tangent tangents) noexcept:
    x.extras.tangents, x.extras.tangent_version = tangents, version_of(x)
