"""The node of a user's Function, which is also the ctx of its methods."""

import warnings

from autograd_cy._core.arrays.dtypes cimport dtype_of, is_differentiable
from autograd_cy._core.batching.batched cimport values_of
from autograd_cy._core.engine.engine cimport GraphTask, current_task, leads_on
from autograd_cy._core.graph.node cimport BOXED, Node, SavedTensor, freed_error, handles, metadata_like, target_of
from autograd_cy._core.graph.tensor cimport Tensor, version_of
from autograd_cy._core.recording.events cimport FUNCTION, Span, begin_named, end, recorders_on
from autograd_cy._core.runtime.state cimport thread_state

from autograd_cy._core.runtime.argument_errors import wrong_self


cdef class FunctionNode(Node):
    """The node of a call of a Function, and the `ctx` of its methods. Each Function has its own subclass.

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

    def __cinit__(self):
        self.joint = True
        self.materializes = True

    # the ctx

    def save_for_backward(self, *tensors):
        """save_for_backward(*tensors): keep tensors (or None) for backward; to be called in forward, once."""
        if not isinstance(self, FunctionNode):
            raise wrong_self(self, FunctionNode)
        check_saved(tensors, "save_for_backward")
        self.to_save = tensors
        if self.trail is not None:
            self.trail.note_saved(tensors)

    def save_for_forward(self, *tensors):
        """save_for_forward(*tensors): keep tensors (or None) for jvp."""
        if not isinstance(self, FunctionNode):
            raise wrong_self(self, FunctionNode)
        check_saved(tensors, "save_for_forward")
        self.saved_for_forward = tensors
        if self.trail is not None:
            self.trail.note_saved(tensors)

    @property
    def saved_tensors(self):
        """The tensors from save_for_backward (in jvp: save_for_forward), checked for later writes."""
        cdef SavedTensor item
        if self.in_jvp:
            return refusing(self, self.intermediates, SAVED_FOR_JVP, self.saved_for_forward or ())
        if self.released:
            raise freed_error(self)
        if self.cleared:
            raise RuntimeError("saved_tensors can only be accessed once when clear_saved_tensors_on_access=True is set on the "
                               f"autograd.Function. {self.name()} read them before: keep what it returned, or unset the flag.")
        cdef tuple tensors = tuple([item.restored(self) for item in self.kept or ()])
        if self.is_set("clear_saved_tensors_on_access"):
            self.cleared = True
            self.kept = None
        if self.intermediates is None or thread_state().node != <void *> self:
            return tensors
        return refusing(self, self.intermediates, SAVED, tensors)

    cdef bint is_set(self, str flag) except -1:
        """The value of a flag of the Function."""
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
        if not isinstance(self, FunctionNode):
            raise wrong_self(self, FunctionNode)
        for i, tensor in enumerate(tensors):
            if not isinstance(tensor, Tensor):
                raise RuntimeError(f"mark_dirty can only accept variables, but argument {i} is of type "
                                   f"{type(tensor).__name__}")
        self.dirty = tensors

    def mark_non_differentiable(self, *tensors):
        """mark_non_differentiable(*tensors): these outputs of forward get no gradient."""
        if not isinstance(self, FunctionNode):
            raise wrong_self(self, FunctionNode)
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
        if not isinstance(self, FunctionNode):
            raise wrong_self(self, FunctionNode)
        if type(value) is not bool:
            raise TypeError(f"set_materialize_grads received an invalid combination of arguments: expected a bool, got "
                            f"{type(value).__name__}")
        self.materializes = value

    @property
    def needs_input_grad(self):
        """For each argument of forward, whether its gradient is needed; in backward, whether the running backward needs it.

        With ``exact_needs_input_grad = False`` backward gets the same values as forward, as in PyTorch.
        """
        cdef GraphTask task = current_task()
        if self.given_needs is not None:
            return self.given_needs
        if (task is None or thread_state().node != <void *> self or not task.selective
                or not self.is_set("exact_needs_input_grad")):
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
        if not isinstance(self, FunctionNode):
            raise wrong_self(self, FunctionNode)
        return self.call_backward(list(gradients))

    def apply_boxed(self, gradients):
        """apply_boxed(gradients) -> Any: calls the Function's backward with the list as its only argument."""
        return type(self)._forward_cls._backward_function()(self, gradients)

    def apply_jvp(self, *tangents):
        """apply_jvp(*tangents) -> Any: what the Function's jvp returns for these tangents, unchecked."""
        return type(self)._forward_cls.jvp(self, *tangents)

    cdef object call_backward(self, list gradients):
        """Call the user's backward with a single list if it asks for that, else with one argument per output."""
        backward = type(self)._forward_cls._backward_function()
        if self.intermediates is None:
            return backward(self, gradients) if self.joint == BOXED else backward(self, *gradients)
        self.hidden = hide_attributes(self, self.intermediates)
        try:
            return backward(self, gradients) if self.joint == BOXED else backward(self, *gradients)
        finally:
            self.shown()

    def __getattr__(self, name):
        if self.hidden is not None and name in self.hidden:
            return refused(self, self.intermediates, name, self.hidden[name])
        return Node.__getattr__(self, name)

    cdef int shown(self) except -1:
        hidden, self.hidden = self.hidden, None
        return show_attributes(self, hidden)

    @property
    def _materialize_non_diff_grads(self):
        """Whether backward gets zeros instead of None for outputs without a gradient, too."""
        return not self.keeps_undefined

    @_materialize_non_diff_grads.setter
    def _materialize_non_diff_grads(self, value):
        if type(value) is not bool:
            raise TypeError("set_materialize_non_diff_grads received an invalid combination of arguments: expected a bool, "
                            f"got {type(value).__name__}")
        self.keeps_undefined = not value

    @property
    def _input_metadata(self):
        return tuple([None if y is None else metadata_like((<Metadata> y).shape, dtype_of((<Metadata> y).dtype_code))
                      for y in self.outputs])

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

    cdef tuple vjps(self, object g):
        cdef list gradients = g if type(g) is list else [g]
        cdef int i
        if self.materializes:
            for i in range(len(gradients)):
                if gradients[i] is None and self.outputs[i] is not None and not (
                        self.keeps_undefined and is_constant(<Metadata> self.outputs[i], self.marks, i)):
                    gradients[i] = zeros(<Metadata> self.outputs[i])
        g = None
        results = backward_as_event(self, gradients) if recorders_on() else self.call_backward(gradients)
        return checked_gradients(self, results if isinstance(results, tuple) else (results,), self.arguments)

    cdef object jvp(self, tuple tangents):
        cdef list given = []
        cdef list versions = [0 if t is None else version_of(values_of(<Tensor> t)) for t in tangents]
        cdef int i, k = 0
        for i in range(len(self.arguments)):
            if self.arguments[i] is None:
                given.append(None)
                continue
            t = tangents[k]
            k += 1
            if t is None and self.materializes and is_differentiable((<Metadata> self.arguments[i]).dtype_code):
                t = zeros(<Metadata> self.arguments[i])
            given.append(t)
        self.in_jvp = True
        self.hidden = hide_attributes(self, self.intermediates)
        try:
            results = type(self)._forward_cls.jvp(self, *given)
        finally:
            self.in_jvp = False
            self.shown()
        results = results if isinstance(results, tuple) else (results,)
        checked = checked_tangents(self, results, self.outputs, self.marks)
        for i in range(len(self.origins or ())):
            origin = self.origins[i]
            if (origin is not None and tangents[(<Origin> origin).input] is not None
                    and not is_constant(<Metadata> self.outputs[i], self.marks, i)):
                k = (<Origin> origin).input
                check_origin(self, <Origin> origin, results[i], <Tensor> tangents[k], versions[k])
        return checked

cdef int check_saved(tuple tensors, str method) except -1:
    for i, tensor in enumerate(tensors):
        if tensor is not None and not isinstance(tensor, Tensor):
            raise TypeError(f"{method} can only save variables, but argument {i} is of type {type(tensor).__name__}")
    return 0


cdef object backward_as_event(FunctionNode node, list gradients):
    cdef Span span = begin_named(FUNCTION, f"{node.name().removesuffix('Backward')}.backward")
    try:
        return node.call_backward(gradients)
    finally:
        end(span)
