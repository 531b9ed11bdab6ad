"""Calling a user's Function: its forward runs unrecorded, then its outputs are recorded in the graph."""

import warnings

from cpython.object cimport PyTypeObject

from autograd_cy._core.arrays.dtypes cimport code_of, is_differentiable
from autograd_cy._core.graph.anomaly cimport check_results, note_trace
from autograd_cy._core.graph.context cimport DualLevels, see_again, see_up_to, visible_levels
from autograd_cy._core.graph.memory cimport is_sparse
from autograd_cy._core.graph.node cimport BOXED, SavedTensor, connect, save, seal
from autograd_cy._core.graph.record cimport announce, observe_forward, set_tangents
from autograd_cy._core.graph.tensor cimport (
    AMONG_SEVERAL, IN_FUNCTION, Tensor, link_view, new_tensor, share_version, wants_grad)
from autograd_cy._core.recording.events cimport FUNCTION, Span, begin_named, end, recorders_on
from autograd_cy._core.runtime.state cimport (
    ANOMALY, DETECT_NAN, FORWARD_AD, GUARDED, NO_GRAD, NODE_HOOKS, OP_HOOKS, SAVED_HOOKS, Extent, check_room, current_mode,
    enter_modes, leave_modes, own_modes, save_error, thread_state)
from autograd_cy._core.writes.inplace cimport (
    Change, change_of, commit, give_place, hold_tangent, is_view_of_another, refuse_write, result_of, tangent_base)

cdef extern from "Python.h":
    ctypedef struct TypeObject "PyTypeObject":
        object (*tp_new)(PyTypeObject *, object, void *)
    bint PyType_IsSubtype(PyTypeObject *, PyTypeObject *)


def apply_function(cls, node_class, bint separate_context, tuple args, dict kwargs):
    """Call a Function: run forward unrecorded, then record its outputs. Keyword arguments count after positional ones.

    `separate_context`: forward does not take ctx; setup_context(ctx, inputs, output) is called after it.
    """
    cdef Span span
    if not recorders_on():
        return called(cls, node_class, separate_context, args, kwargs)
    span = begin_named(FUNCTION, f"{cls.__name__}.forward")
    try:
        return called(cls, node_class, separate_context, args, kwargs)
    finally:
        end(span)


cdef object called(cls, node_class, bint separate_context, tuple args, dict kwargs):
    """The outputs of a Function."""
    check_room()
    cdef int mode = current_mode()
    cdef Extent extent
    cdef DualLevels levels = visible_levels()
    cdef FunctionNode node = new_function_node(node_class)
    cdef list inputs = [], arguments = [], needed = []
    for x in args + tuple(kwargs.values()) if kwargs else args:
        if isinstance(x, Tensor):
            inputs.append(x)
            arguments.append(metadata_of(<Tensor> x))
            needed.append(wants_grad(<Tensor> x))
        else:
            arguments.append(None)
            needed.append(False)
    if cls.boxed_grads_call:
        node.joint = BOXED
    node.arguments = tuple(arguments)
    node.wanted = tuple(needed)
    if cls._follows_forward and (mode & FORWARD_AD or not mode & NO_GRAD and True in needed):
        node.trail = follow(inputs)
    extent = enter_modes(NO_GRAD, 0)
    see_up_to(levels, 0)
    try:
        if separate_context:
            result = cls.forward(*args, **kwargs)
            cls.setup_context(node, args + tuple(kwargs.values()), result)
        else:
            result = cls.forward(node, *args, **kwargs)
    finally:
        see_again(levels)
        leave_modes(extent)
        if node.trail is not None:
            node.trail.end()
    return record_outputs(node, result, inputs, not mode & NO_GRAD and True in node.wanted)


cdef FunctionNode new_function_node(object node_class):
    """A node of the Function's own class, whose `__new__` refuses users."""
    if not isinstance(node_class, type) or not PyType_IsSubtype(<PyTypeObject *> node_class, <PyTypeObject *> FunctionNode):
        raise TypeError(f"Function._backward_cls must be a subclass of FunctionCtx, not {node_class!r}")
    return <FunctionNode> (<TypeObject *> FunctionNode).tp_new(<PyTypeObject *> node_class, (), NULL)


cdef object record_outputs(FunctionNode node, object result, list inputs, bint recorded):
    """Make the tensors that forward returned outputs of the node, and save the tensors that it asked to save."""
    cdef bint single = not isinstance(result, tuple)
    cdef list returned = [result] if single else list(result), outputs = [], changes
    cdef int i, several = 0
    if not single:
        several = len([y for y in returned if isinstance(y, Tensor) and is_differentiable(code_of((<Tensor> y).array))
                       and not is_among(y, node.non_differentiable or ())]) > 1
    check_dirty(node, returned, inputs, recorded)
    changes = [change_of(<Tensor> x, None, node.name()) for x in node.dirty or ()]
    for y in returned:
        outputs.append(output_of(node, y, inputs, recorded, several) if isinstance(y, Tensor) else y)
    node.outputs = tuple([metadata_of(<Tensor> y) if isinstance(y, Tensor) else None for y in outputs])
    node.n_outputs = len(outputs)
    if node.non_differentiable is not None:
        node.marks = tuple([is_among(y, node.non_differentiable) for y in returned])
        node.non_differentiable = None
    if recorded:
        for x in inputs:
            connect(node, <Tensor> x)
        for i in range(len(outputs)):
            if isinstance(outputs[i], Tensor) and (node.marks is None or not node.marks[i]):
                record_output(node, <Tensor> outputs[i], i, inputs, changes)
    if recorded or current_mode() & FORWARD_AD:
        keep_saved(node, returned, outputs, inputs, changes)
    note_outputs(node, tuple(outputs), inputs, recorded, changes)
    for change in changes:
        commit(<Change> change)
        if recorded:
            (<Change> change).target.gradient = None        # it belonged to the previous values
    if recorded and current_mode() & DETECT_NAN:
        check_results(node, tuple(outputs), inputs)
    if thread_state().mode & (OP_HOOKS | NODE_HOOKS):
        show_to_hooks(node, outputs[0] if single else tuple(outputs), inputs, recorded)
    node.dirty = None                   # these refer to the node
    node.trail = None
    return outputs[0] if single else tuple(outputs)


cdef int show_to_hooks(FunctionNode node, object outputs, list inputs, bint recorded) except -1:
    if recorded and thread_state().mode & NODE_HOOKS:
        announce(node)
    if thread_state().mode & OP_HOOKS:
        observe_forward(node, outputs, inputs)
    return 0


cdef int note_outputs(FunctionNode node, tuple outputs, list inputs, bint recorded, list changes) except -1:
    """Record the trace for anomaly mode, and the outputs' tangents."""
    cdef Change change
    if recorded and current_mode() & ANOMALY:
        note_trace(node, outputs, inputs, own_modes())
    if current_mode() & FORWARD_AD:
        tensors = [y for y in outputs if isinstance(y, Tensor)]
        node.origins = tuple([origin_of(<Tensor> y, inputs, node.dirty) if isinstance(y, Tensor) else None for y in outputs])
        try:
            set_tangents(node, tuple(tensors) if len(tensors) != 1 else tensors[0], inputs)
        finally:
            node.origins = None
        for change in changes:
            hold_tangent(change)
    return 0


cdef Origin origin_of(Tensor y, list inputs, tuple dirty):
    """The input that an output is, or is a view of; None if it has its own memory."""
    cdef Origin origin = Origin()
    cdef Tensor base = tangent_base(y)
    origin.written = is_among(y, dirty or ())
    if not origin.written and base is None:
        return None
    for origin.input in range(len(inputs)):
        if inputs[origin.input] is y if origin.written else tangent_owner(<Tensor> inputs[origin.input]) is base:
            return origin
    return None


cdef int check_dirty(FunctionNode node, list returned, list inputs, bint recorded) except -1:
    """Refuse inputs marked as dirty that can't be outputs of the node."""
    cdef Tensor x
    for x in node.dirty or ():
        if not is_among(x, tuple(returned)):
            raise RuntimeError("Some elements marked as dirty during the forward method were not returned as output. The "
                               "inputs that are modified inplace must all be outputs of the Function. "
                               f"({node.name()}: return them from forward)")
        if not is_among(x, tuple(inputs)):
            warnings.warn("ctx.mark_dirty() received a tensor that was not an input. Only input Tensors that have been "
                          "mutated should be passed to ctx.mark_dirty().", stacklevel=2)
            continue
        if not recorded:
            continue
        if x.needs_grad and x.grad_fn is None:
            raise RuntimeError("a leaf Variable that requires grad has been used in an in-place operation. "
                               f"({node.name()}: give it a clone() of the leaf)")
        if is_view_of_another(x) and len([y for y in returned if isinstance(y, Tensor)]) > 1:
            raise RuntimeError(
                "If your Function modifies inplace an input that is a view of another Tensor, your Function cannot return "
                f"more than one Tensor. ({node.name()}: give it a clone() of the view, or make two Functions of it, one "
                "that writes and returns this Tensor, and one for the rest)")
        refuse_write(x, node.name())
    node.dirty = None if node.dirty is None else tuple([x for x in node.dirty if is_among(x, tuple(inputs))])
    return 0


cdef bint is_among(object x, tuple items):
    for item in items:
        if item is x:
            return True
    return False


cdef Tensor output_of(FunctionNode node, Tensor y, list inputs, bint recorded, bint several):
    """The Tensor for a value that forward returned: an unchanged input becomes a view of itself."""
    cdef Tensor alias
    cdef int creation = AMONG_SEVERAL if several else IN_FUNCTION
    if is_among(y, tuple(inputs)) and wants_grad(y) and (not recorded or is_among(y, node.non_differentiable or ())):
        if is_sparse(y):
            return (<object> y).detach()
        alias = new_tensor(y.array)         # not a view, which would require grad like its base
        share_version(y, alias)
        return alias
    if is_among(y, node.dirty or ()):
        return y
    if not is_among(y, tuple(inputs)) and (not recorded or y.grad_fn is None and not y.needs_grad):
        if is_view_of_another(y):           # a write would bypass the Function's backward
            y.extras.creation = creation
        return y
    alias = view_of_itself(y)
    if is_view_of_another(alias):
        alias.extras.creation = creation
    return alias


cdef Tensor view_of_itself(Tensor y):
    """A view of the whole tensor; for a subclass, the result of its `view_as`."""
    cdef Tensor alias
    cdef Extent extent
    if type(y) is Tensor:
        alias = new_tensor(y.array)
        link_view(y, alias)
        return alias
    extent = enter_modes(NO_GRAD, 0)
    try:
        view = y.view_as(y)
    finally:
        leave_modes(extent)
    if view is y or not isinstance(view, Tensor) or (<Tensor> view).counter is not y.counter:
        raise TypeError(f"{type(y).__name__}.view_as, which a Function calls for an input that it returns, must return a view "
                        f"of the tensor, not a {type(view).__name__}")
    return view


cdef int record_output(FunctionNode node, Tensor y, int i, list inputs, list changes) except -1:
    """Make a tensor output `i` of the node; a dirty tensor becomes it when its change is committed."""
    cdef Change change = change_to(y, changes)
    if not is_differentiable(code_of(y.array)):
        return 0
    if change is not None:
        give_place(change, node, i, [x is y for x in inputs].index(True))
        return 0
    y.grad_fn = node
    y.output_number = i
    y.needs_grad = True
    if is_view_of_another(y):
        y.extras.current = y.counter.version
    return 0


cdef Change change_to(Tensor y, list changes):
    """The change of a dirty output, or None."""
    cdef Change change
    for change in changes:
        if change.target is y:
            return change
    return None


cdef Tensor as_saved(FunctionNode node, Tensor y, int i, list changes):
    """An output as it is saved: for a dirty tensor an alias at the new place, which the tensor gets only on commit."""
    cdef Change change = change_to(y, changes)
    cdef Tensor own
    if change is None or change.owner is None:
        return y
    own = result_of(y)
    own.grad_fn, own.output_number, own.needs_grad = node, i, True
    return own


cdef int writes_to(Tensor tensor, list changes) except -1:
    """How many of the changes will count as writes to a tensor's memory."""
    cdef Change change
    cdef int n = 0
    for change in changes:
        n += tensor.counter is not None and change.target.counter is tensor.counter
    return n


cdef int keep_saved(FunctionNode node, list returned, list outputs, list inputs, list changes) except -1:
    """Wrap the tensors that forward asked to save in SavedTensors; for an output its new Tensor is used."""
    cdef bint among = node.trail is not None or node.saved_for_forward is not None      # whether to look for intermediates
    if node.to_save is not None:
        node.kept = []
        node.saves = True
        for tensor in node.to_save:
            if tensor is None:
                node.kept.append(save(None, node))
            else:
                keep_one(node, <Tensor> tensor, returned, outputs, changes, &among)
    if among:
        note_intermediates(node, inputs, returned)
    node.to_save = None
    if node.kept is not None and current_mode() & (SAVED_HOOKS | GUARDED) and node.n_edges:
        for i, saved in enumerate(node.kept):
            seal(<SavedTensor> saved, node, f"{SAVED}[{i}]")
    return 0


cdef int keep_one(FunctionNode node, Tensor tensor, list returned, list outputs, list changes, bint *among) except -1:
    cdef SavedTensor kept
    cdef int i
    for i in range(len(returned)):
        if returned[i] is tensor:
            tensor = as_saved(node, <Tensor> outputs[i], i, changes)
            break
    else:
        among[0] = among[0] or not tensor.needs_grad
    kept = save(tensor, node)
    if node.n_edges and tensor.inference:
        raise save_error(node)
    kept.version += writes_to(tensor, changes)
    node.kept.append(kept)
    return 0


cdef int note_intermediates(FunctionNode node, list inputs, list outputs) except -1:
    """See cases 1 and 2 of NOTE [Intermediates of Functions]."""
    cdef bint any_kept = False
    note_among(node, node.to_save or (), SAVED, inputs, outputs, &any_kept)
    note_among(node, node.saved_for_forward or (), SAVED_FOR_JVP, inputs, outputs, &any_kept)
    if node.trail is None:
        if any_kept:
            type(node)._forward_cls._follows_forward = True
        return 0
    for name, value in node.__dict__.items():
        if isinstance(value, (Tensor, list, tuple)):
            tensors = (value,) if isinstance(value, Tensor) else tuple(value)
            note_among(node, tensors, ATTRIBUTE + name, inputs, outputs, &any_kept)
    if not any_kept:
        type(node)._forward_cls._follows_forward = False
    return 0


cdef int note_among(FunctionNode node, tuple tensors, str where, list inputs, list outputs, bint *any_kept) except -1:
    """Note which of these saved tensors are intermediates."""
    cdef list found = [None] * len(tensors)
    cdef Py_ssize_t i
    for i, tensor in enumerate(tensors):
        if isinstance(tensor, Tensor) and is_intermediate(<Tensor> tensor, inputs, outputs):
            any_kept[0] = True
            slot = f"{where}[{i}]" if len(tensors) > 1 else where
            found[i] = intermediate(node, node.trail, <Tensor> tensor, slot, inputs)
    if found.count(None) < len(found):
        node.intermediates = {**(node.intermediates or {}), where: found}
    return 0
