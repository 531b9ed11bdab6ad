"""The bridge to a user's Function: the node that is its ctx, and the call that records it."""

cimport numpy as cnp

from autograd_cy._core.anomaly cimport note_trace
from autograd_cy._core.buffers cimport new_zeros
from autograd_cy._core.dtypes cimport code_of, dtype_of, is_differentiable
from autograd_cy._core.graph_task cimport GraphTask, current_task, leads_on
from autograd_cy._core.inplace cimport rebase, refuse_write, result_of
from autograd_cy._core.modes cimport Extent, current_mode, enter_modes, leave_modes, own_modes
from autograd_cy._core.nans cimport check_results
from autograd_cy._core.node cimport BOXED, Node, connect, target_of
from autograd_cy._core.op_hooks cimport observe_forward
from autograd_cy._core.record cimport new_node, set_tangents
from autograd_cy._core.saved cimport freed_error
from autograd_cy._core.saved_tensor cimport SavedTensor, handles, save, seal
from autograd_cy._core.state cimport (
    ANOMALY, DETECT_NAN, FORWARD_AD, GUARDED, NO_GRAD, OP_HOOKS, SAVED_HOOKS, thread_state)
from autograd_cy._core.tensor cimport AMONG_SEVERAL, IN_FUNCTION, Tensor, count_write, link_view, new_tensor, wants_grad
from autograd_cy._core.views cimport is_view_of_another

import warnings

cnp.import_array()


cdef class Metadata:
    """Shape and type of a tensor."""
    cdef tuple shape
    cdef int code


cdef Metadata metadata_of(Tensor tensor):
    cdef Metadata metadata = Metadata.__new__(Metadata)
    cdef int axis
    metadata.shape = tuple([cnp.PyArray_DIM(tensor.array, axis) for axis in range(cnp.PyArray_NDIM(tensor.array))])
    metadata.code = code_of(tensor.array)
    return metadata


cdef class FunctionNode(Node):
    """The node of a call of a Function, and the `ctx` that its methods see. Each Function has a subclass of its own.

    >>> import autograd_cy as ag
    >>> class Identity(ag.autograd.Function):
    ...     @staticmethod
    ...     def forward(ctx, x, factor):
    ...         print(ctx.needs_input_grad)
    ...         return x.clone()
    >>> Identity.apply(ag.ones(1, requires_grad=True), 2).grad_fn
    (True, False)
    <IdentityBackward>
    """
    cdef tuple arguments            # for each argument of forward: Metadata of a tensor, or None
    cdef tuple outputs              # Metadata of each output of forward, None for a non-tensor
    cdef tuple wanted               # for each argument of forward: whether it is a tensor that requires grad
    cdef object given_needs         # needs_input_grad as the user set it, or None
    cdef readonly tuple to_save
    cdef readonly tuple saved_for_forward
    cdef readonly tuple non_differentiable  # until forward has returned; from then on:
    cdef tuple marks                # for each output whether it was marked so; None: none was
    cdef tuple dirty                # inputs that forward wrote to
    cdef list kept                  # SavedTensors
    cdef bint materializes
    cdef bint in_jvp
    cdef bint cleared               # saved_tensors was read, and may be once only

    def __cinit__(self):
        self.joint = True
        self.materializes = True

    # the ctx

    def save_for_backward(self, *tensors):
        """save_for_backward(*tensors): keep tensors (or None) for backward; to be called in forward, once."""
        for i, tensor in enumerate(tensors):
            if tensor is not None and not isinstance(tensor, Tensor):
                raise TypeError(f"save_for_backward can only save variables, but argument {i} is of type "
                                f"{type(tensor).__name__}")
        self.to_save = tensors

    def save_for_forward(self, *tensors):
        """save_for_forward(*tensors): keep tensors (or None) for jvp."""
        for i, tensor in enumerate(tensors):
            if tensor is not None and not isinstance(tensor, Tensor):
                raise TypeError(f"save_for_forward can only save variables, but argument {i} is of type "
                                f"{type(tensor).__name__}")
        self.saved_for_forward = tensors

    @property
    def saved_tensors(self):
        """The tensors that save_for_backward kept (in jvp: save_for_forward), checked for writes since."""
        cdef SavedTensor item
        if self.in_jvp:
            return self.saved_for_forward or ()
        if self.released:
            raise freed_error(self)
        if self.cleared:
            raise RuntimeError("saved_tensors can only be accessed once when clear_saved_tensors_on_access=True is set on the "
                               f"autograd.Function. {self.name()} read them before: keep what it returned, or unset the flag.")
        cdef tuple tensors = tuple([item.restored(self) for item in self.kept or ()])
        if self.is_set("clear_saved_tensors_on_access"):
            self.cleared = True
            self.kept = None
        return tensors

    cdef bint is_set(self, str flag) except -1:
        """A flag of the Function."""
        value = getattr(type(self)._forward_cls, flag)
        if type(value) is not bool:
            raise RuntimeError(f"{flag} must be a bool, got {type(value).__name__}")
        return value

    @property
    def saved_variables(self):
        """Deprecated name of saved_tensors."""
        warnings.warn("'saved_variables' is deprecated; use 'saved_tensors'", DeprecationWarning, stacklevel=2)
        return self.saved_tensors

    @property
    def _raw_saved_tensors(self):
        """The handles of the saved tensors."""
        if self.released:
            raise freed_error(self)
        return handles(self, tuple(self.kept or ()))

    @property
    def dirty_tensors(self):
        """The tensors that were marked as dirty, or None."""
        return self.dirty

    def mark_dirty(self, *tensors):
        """mark_dirty(*tensors): forward writes to these inputs in place, and returns each of them."""
        for i, tensor in enumerate(tensors):
            if not isinstance(tensor, Tensor):
                raise RuntimeError(f"mark_dirty can only accept variables, but argument {i} is of type "
                                   f"{type(tensor).__name__}")
        self.dirty = tensors

    def mark_non_differentiable(self, *tensors):
        """mark_non_differentiable(*tensors): these outputs of forward get no gradient."""
        for tensor in tensors:
            if not isinstance(tensor, Tensor):
                raise RuntimeError(f"mark_non_differentiable only accepts variable arguments, but got "
                                   f"{type(tensor).__name__}")
        self.non_differentiable = tensors

    def mark_shared_storage(self, *pairs):
        """Deprecated; without effect."""
        warnings.warn("`mark_shared_storage` is deprecated. Tensors with shared storages are automatically tracked.",
                      FutureWarning, stacklevel=2)

    def set_materialize_grads(self, value):
        """set_materialize_grads(value): whether backward sees zeros (the default) or None for an unused output."""
        if type(value) is not bool:
            raise TypeError(f"set_materialize_grads received an invalid combination of arguments: expected a bool, got "
                            f"{type(value).__name__}")
        self.materializes = value

    @property
    def needs_input_grad(self):
        """For each argument of forward whether its gradient is of use: in backward, of use to the backward that runs.

        A Function with ``exact_needs_input_grad = False`` sees in backward what it saw in forward, as in PyTorch.
        """
        cdef GraphTask task = current_task()
        if self.given_needs is not None:
            return self.given_needs
        if task is None or task.node is not self or not task.selective or not self.is_set("exact_needs_input_grad"):
            return self.wanted
        cdef list needed = []
        cdef int edge = 0
        cdef Node target
        for argument in self.arguments:
            if argument is None:
                needed.append(False)
                continue
            target = target_of(self, edge)
            needed.append(target is not None and leads_on(task, target))
            edge += 1
        return tuple(needed)

    @needs_input_grad.setter
    def needs_input_grad(self, value):
        self.given_needs = value

    def apply(self, *gradients):
        """apply(*gradients) -> Any: what the Function's backward returns for these gradients, unchecked."""
        return self.call_backward(list(gradients))

    def apply_boxed(self, gradients):
        """apply_boxed(gradients) -> Any: calls the Function's backward with the list as its only argument."""
        return type(self)._forward_cls._backward_function()(self, gradients)

    def apply_jvp(self, *tangents):
        """apply_jvp(*tangents) -> Any: what the Function's jvp returns for these tangents, unchecked."""
        return type(self)._forward_cls.jvp(self, *tangents)

    cdef object call_backward(self, list gradients):
        """The user's backward: with one list, if it asks for that, else with an argument for each output."""
        backward = type(self)._forward_cls._backward_function()
        return backward(self, gradients) if self.joint == BOXED else backward(self, *gradients)

    def name(self):
        return type(self).__name__

    # the node

    cdef int release_saved(self) except -1:
        cdef SavedTensor saved
        if self.kept or self.cleared:
            self.released = True
            for saved in self.kept or ():
                saved.release()
            self.kept = None
        return 0

    cdef tuple rules(self, object g):
        cdef list gradients = g if type(g) is list else [g]
        cdef int i
        if self.materializes:
            for i in range(len(gradients)):
                if gradients[i] is None and self.outputs[i] is not None:
                    gradients[i] = zeros(<Metadata> self.outputs[i])
        g = None
        results = self.call_backward(gradients)
        return self.fitted(results if isinstance(results, tuple) else (results,))

    cdef tuple fitted(self, tuple results):
        """What backward returned, checked: one gradient for each tensor argument, of its shape and type."""
        cdef int i, expected = len(self.arguments)
        cdef list kept = []
        if len(results) > expected and results[expected:].count(None) == len(results) - expected:
            results = results[:expected]
        if len(results) != expected:
            raise RuntimeError(f"function {self.name()} returned an incorrect number of gradients (expected {expected}, "
                               f"got {len(results)})")
        for i in range(expected):
            if self.arguments[i] is not None:
                kept.append(None if results[i] is None else self.fitted_one(results[i], i, <Metadata> self.arguments[i]))
            elif results[i] is not None:
                raise RuntimeError(f"function {self.name()} returned a gradient different than None at position {i + 1}, "
                                   "but the corresponding forward input was not a Variable")
        return tuple(kept)

    cdef object fitted_one(self, object g, int i, Metadata expected):
        if not isinstance(g, Tensor):
            raise RuntimeError(f"function {self.name()} returned at index {i}: expected Variable or None "
                               f"(got {type(g).__name__})")
        cdef Metadata got = metadata_of(<Tensor> g)
        if got.shape != expected.shape:
            if not is_reducible(got.shape, expected.shape):
                raise RuntimeError(f"Function {self.name()} returned an invalid gradient at index {i} - got "
                                   f"{list(got.shape)} but expected shape compatible with {list(expected.shape)}")
            g = g.sum_to_size(expected.shape)
        if got.code != expected.code:
            if dtype_of(got.code).is_complex and not dtype_of(expected.code).is_complex:
                g = g.real
            g = g.to(dtype_of(expected.code))
        return g

    cdef object jvp(self, tuple tangents):
        cdef list given = []
        cdef int i, k = 0
        for i in range(len(self.arguments)):
            if self.arguments[i] is None:
                given.append(None)
                continue
            t = tangents[k]
            k += 1
            given.append(zeros(<Metadata> self.arguments[i]) if t is None and self.materializes else t)
        self.in_jvp = True
        try:
            results = type(self)._forward_cls.jvp(self, *given)
        finally:
            self.in_jvp = False
        return self.checked_tangents(results if isinstance(results, tuple) else (results,))

    cdef object checked_tangents(self, tuple results):
        """What jvp returned, checked: a tangent or None for each output; of those that are tensors, the tangents."""
        cdef int i
        cdef list tangents = []
        if len(results) != len(self.outputs):
            raise RuntimeError(f"{self.name()}'s jvp returned an invalid number of forward gradients (expected "
                               f"{len(self.outputs)} but got {len(results)})")
        for i in range(len(results)):
            if self.outputs[i] is not None:
                if results[i] is not None:
                    self.check_tangent(results[i], i, <Metadata> self.outputs[i])
                tangents.append(results[i])
        return tuple(tangents) if len(tangents) != 1 else tangents[0]

    cdef int check_tangent(self, object tangent, int i, Metadata output) except -1:
        if not isinstance(tangent, Tensor):
            raise RuntimeError(f"{self.name()}'s jvp: expected Variable or None (got {type(tangent).__name__}) for "
                               f"grad output {i}")
        if not is_differentiable(output.code) or (self.marks is not None and self.marks[i]):
            raise RuntimeError(f"{self.name()}'s jvp returned a gradient at position {i}, but the corresponding forward "
                               "output is not a differentiable Tensor. You should return None at that position instead.")
        if metadata_of(<Tensor> tangent).shape != output.shape:
            raise RuntimeError(f"{self.name()}'s jvp returned a forward gradient that has a different size than "
                               f"output {i}: {list(tangent.shape)}, {list(output.shape)}")
        return 0


cdef Tensor zeros(Metadata metadata):
    cdef cnp.npy_intp dims[64]
    cdef int axis
    for axis in range(len(metadata.shape)):
        dims[axis] = metadata.shape[axis]
    return new_tensor(new_zeros(metadata.code, len(metadata.shape), dims))


cdef bint is_reducible(tuple shape, tuple target):
    """Whether `target` broadcasts to `shape`."""
    cdef int offset = len(shape) - len(target), axis
    if offset < 0:
        return False
    for axis in range(len(target)):
        if target[axis] != 1 and target[axis] != shape[axis + offset]:
            return False
    return True


def apply_function(cls, node_class, bint separate_context, tuple args, dict kwargs):
    """Call a Function: run forward unrecorded, then enter what it returned. Keyword arguments count after the others.

    `separate_context`: forward does not take ctx, setup_context(ctx, inputs, output) is called after it.
    """
    cdef int mode = current_mode()
    cdef Extent extent
    cdef FunctionNode node = <FunctionNode> new_node(node_class, None)
    cdef list inputs = [], arguments = [], needed = []
    for x in args + tuple(kwargs.values()) if kwargs else args:
        arguments.append(metadata_of(<Tensor> x) if isinstance(x, Tensor) else None)
        if isinstance(x, Tensor):
            inputs.append(x)
        needed.append(isinstance(x, Tensor) and wants_grad(<Tensor> x))
    if cls.boxed_grads_call:
        node.joint = BOXED
    node.arguments = tuple(arguments)
    node.wanted = tuple(needed)
    extent = enter_modes(NO_GRAD, 0)
    thread_state().mode &= ~FORWARD_AD
    try:
        if separate_context:
            result = cls.forward(*args, **kwargs)
            cls.setup_context(node, args + tuple(kwargs.values()), result)
        else:
            result = cls.forward(node, *args, **kwargs)
    finally:
        leave_modes(extent)
    return enter_outputs(node, result, inputs, not mode & NO_GRAD and True in node.wanted)


cdef object enter_outputs(FunctionNode node, object result, list inputs, bint recorded):
    """Make the tensors that forward returned outputs of the node, and save what is to be saved."""
    cdef bint single = not isinstance(result, tuple)
    cdef list returned = [result] if single else list(result), outputs = []
    cdef int i, several
    several = len([y for y in returned if isinstance(y, Tensor) and is_differentiable(code_of((<Tensor> y).array))
                   and not is_among(y, node.non_differentiable or ())]) > 1
    check_dirty(node, returned, inputs, recorded)
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
    for x in node.dirty or ():
        count_write(<Tensor> x, node.name())
    if recorded:
        for i in range(len(outputs)):
            if isinstance(outputs[i], Tensor) and (node.marks is None or not node.marks[i]):
                enter_output(node, <Tensor> outputs[i], i, inputs)
    if recorded or current_mode() & FORWARD_AD:
        keep_saved(node, returned, outputs)
    if recorded and current_mode() & ANOMALY:
        note_trace(node, tuple(outputs), inputs, own_modes())
    if recorded and current_mode() & DETECT_NAN:
        check_results(node, tuple(outputs), inputs)
    if current_mode() & FORWARD_AD:
        tensors = [y for y in outputs if isinstance(y, Tensor)]
        set_tangents(node, tuple(tensors) if len(tensors) != 1 else tensors[0], inputs)
    if thread_state().mode & OP_HOOKS:
        observe_forward(node, outputs[0] if single else tuple(outputs), inputs)
    node.dirty = None                   # they hold the node
    return outputs[0] if single else tuple(outputs)


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
    """The Tensor that stands for what forward returned: an input that comes back unchanged is a view of itself."""
    cdef Tensor alias
    cdef int creation = AMONG_SEVERAL if several else IN_FUNCTION
    if is_among(y, node.dirty or ()):
        return y
    if not is_among(y, tuple(inputs)) and (not recorded or y.grad_fn is None and not y.needs_grad):
        if is_view_of_another(y):           # the write would go past the Function's backward
            y.extras.creation = creation
        return y
    alias = new_tensor(y.array)
    link_view(y, alias, creation)
    if is_view_of_another(alias):
        alias.extras.creation = creation
    return alias


cdef int enter_output(FunctionNode node, Tensor y, int i, list inputs) except -1:
    cdef int position
    if not is_differentiable(code_of(y.array)):
        return 0
    if is_among(y, node.dirty or ()):
        position = [x is y for x in inputs].index(True)
        return rebase(y, node, i, position)
    y.grad_fn = node
    y.output_number = i
    y.needs_grad = True
    if is_view_of_another(y):
        y.extras.current = y.counter.version
    return 0


cdef Tensor as_saved(FunctionNode node, Tensor y, int i):
    """An output as it is saved: of a view that was written, what the node computed, for its grad_fn is another."""
    cdef Tensor own
    if not is_among(y, node.dirty or ()) or not is_view_of_another(y) or not node.n_edges:
        return y
    own = result_of(y)
    own.grad_fn, own.output_number, own.needs_grad = node, i, True
    return own


cdef int keep_saved(FunctionNode node, list returned, list outputs) except -1:
    """Turn the tensors that forward asked to save into SavedTensors; an output by its new Tensor."""
    cdef int i
    if node.to_save is None:
        return 0
    node.kept = []
    node.saves = True
    for tensor in node.to_save:
        for i in range(len(returned)):
            if returned[i] is tensor and tensor is not None:
                tensor = as_saved(node, <Tensor> outputs[i], i)
                break
        node.kept.append(save(tensor, node))
    node.to_save = None
    if thread_state().mode & (SAVED_HOOKS | GUARDED) and node.n_edges:
        for i, saved in enumerate(node.kept):
            seal(<SavedTensor> saved, node, f"saved_tensors[{i}]")
    return 0
