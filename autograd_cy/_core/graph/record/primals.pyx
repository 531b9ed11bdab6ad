"""A node's saved tensors as its tangent rule sees them: without tangents at the rule's level.

The operations of a rule are recorded if they may be differentiated, and save their operands. A backward through them within
the same level would find the primals' tangents, and give the gradient of a tangent a tangent. But each level has one epsilon,
and its square is zero. So the saved tensors have no tangent at that level (case 5 of NOTE [Dual levels]).
"""

from autograd_cy._core.graph.context cimport Tangent
from autograd_cy._core.graph.node cimport (
    HANDLE, HANDLES, INPUT, Node, Packed, SavedTensor, fill_slot, slot_value, take_history)
from autograd_cy._core.graph.tensor cimport Tensor, TensorExtras, extras_of_tensor, has_extras, new_tensor, share_version


cdef list hide_tangents(Node node, long long level):
    """Replace saved inputs that have a tangent at the level, or at an inner one, by tensors without it.

    Returns the originals for `show_tangents`; None if there are none.
    """
    cdef list hidden = None
    cdef int slot, kind
    for slot in range(3):
        kind = node.kinds[slot]
        if kind == INPUT:
            value = slot_value(node, slot)
            if has_tangent_from(<Tensor> value, level):
                hidden = hidden or []
                hidden.append((slot, value))
                fill_slot(node, slot, INPUT, primal_below(<Tensor> value, level))
        elif kind == HANDLE:
            hidden = hide_in(<SavedTensor> slot_value(node, slot), level, hidden)
        elif kind == HANDLES:
            for saved in <tuple> slot_value(node, slot):
                hidden = hide_in(<SavedTensor> saved, level, hidden)
    return hidden


cdef list hide_in(SavedTensor saved, long long level, list hidden):
    cdef Packed packed
    if isinstance(saved.value, Tensor):
        if has_tangent_from(<Tensor> saved.value, level):
            hidden = hidden or []
            hidden.append((saved, saved.value))
            saved.value = primal_below(<Tensor> saved.value, level)
    elif type(saved.value) is Packed:
        packed = <Packed> saved.value
        if packed.history is not None and has_tangent_from(packed.history, level):
            hidden = hidden or []
            hidden.append((packed, packed.history))
            packed.history = primal_below(packed.history, level)
    return hidden


cdef int show_tangents(Node node, list hidden) except -1:
    """Undo hide_tangents()."""
    for place, value in hidden:
        if isinstance(place, SavedTensor):
            (<SavedTensor> place).value = value
        elif isinstance(place, Packed):
            (<Packed> place).history = <Tensor> value
        else:
            fill_slot(node, place, INPUT, value)
    return 0


cdef bint has_tangent_from(Tensor tensor, long long level) noexcept:
    """Whether the tensor has a tangent at that level or an inner one."""
    return has_extras(tensor) and tensor.extras.tangents is not None and tensor.extras.tangents.level >= level


cdef Tensor primal_below(Tensor tensor, long long level):
    """An alias at the tensor's place in the graph, with tangents of the outer levels only."""
    cdef Tensor primal = new_tensor(tensor.array)
    cdef TensorExtras own
    cdef Tangent tangents = tensor.extras.tangents
    share_version(tensor, primal)
    take_history(primal, tensor)
    while tangents is not None and tangents.level >= level:
        tangents = tangents.outer
    if tangents is not None:
        own = extras_of_tensor(primal)
        own.tangents, own.tangent_version, own.is_dual = tangents, tensor.extras.tangent_version, tensor.extras.is_dual
    return primal
