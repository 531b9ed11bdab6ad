"""Intermediate results that a Function saves: their derivative is unknown under double backward.

NOTE [Intermediates of Functions]
Grad mode is off while a Function's forward runs. So a saved tensor that forward computed from an input has no history, and
backward treats it as a constant. The second derivative then lacks a term; PyTorch returns the wrong number silently.
  1. While forward runs, a hook on operations (`Trail`) notes which memory was computed from which inputs. Tensors that share
     memory share a VersionCounter, so detach() and views need no hook. An operation without a derivative (a comparison, sign)
     ends the trail: a mask is a constant.
  2. Only Functions that save intermediates are followed. The first call clears `Function._follows_forward` if it saved only
     inputs and outputs. If a later call saves an intermediate, its sources are unknown, and double backward warns.
  3. If backward is recorded, it receives an alias of the intermediate. The alias' node raises the error when a gradient
     reaches it, so a derivative that does not depend on the intermediate still works.
  4. An intermediate that backward detaches is a constant, because the user says so.
  5. Forward mode has no node that could raise later. If the input has a tangent, reading the intermediate raises in jvp,
     under create_graph and in grad(). In backward() it warns: `.grad` is right, but its tangent is not.
  6. Attributes of ctx that hold intermediates are hidden while backward runs; reading one returns the alias.
"""

import inspect
import sys
import warnings

import numpy as np

cimport cython

from autograd_cy._core.arrays.buffers cimport spans_meet
from autograd_cy._core.arrays.dtypes cimport code_of, dtype_of, is_differentiable
from autograd_cy._core.engine.engine cimport GraphTask, current_task
from autograd_cy._core.graph.context cimport Tangent, is_visible_number
from autograd_cy._core.graph.memory cimport VersionCounter, is_sparse
from autograd_cy._core.graph.node cimport NOTHING, Node
from autograd_cy._core.graph.record cimport has_tangent, new_node, tangents_now
from autograd_cy._core.graph.tensor cimport Tensor, new_tensor, share_version, wants_grad
from autograd_cy._core.runtime.state cimport FORWARD_AD, NO_GRAD, PACKAGE, current_mode

from autograd_cy._core.graph.record import NotDifferentiable, register_op_hook

cdef enum:
    MOST = 63       # inputs with a bit of their own

SAVED, SAVED_FOR_JVP, ATTRIBUTE = "saved_tensors", "saved_tensors of save_for_forward", "ctx."

cdef dict flat_types = {}           # class of a node without saved tensors -> whether its derivative is 0 everywhere


class UnknownDerivative(RuntimeError):
    """A second derivative depends on an intermediate result of a Function's forward, which was not recorded."""


@cython.final
cdef class Trail:
    """Case 1 of NOTE [Intermediates of Functions]."""

    def note(self, Node node, tuple inputs, object outputs):
        """The hook: runs after an operation, but before an in-place operation writes its result."""
        cdef long long sources = 0
        cdef VersionCounter counter
        self.note_write()
        for x in inputs:
            if x is not None:
                sources |= self.sources_of(<Tensor> x)
        if not sources or has_no_derivative(node, inputs, outputs):
            return
        for y in outputs if type(outputs) is tuple else (outputs,):
            if isinstance(y, Tensor) and is_differentiable(code_of((<Tensor> y).array)):
                self.add((<Tensor> y).version_counter(), sources)
        self.may_be_written = [(counter, counter.version, sources)
                               for counter in [(<Tensor> x).version_counter() for x in inputs if x is not None]]

    cdef int note_write(self) except -1:
        """If the last operation was in place, the tensor that it wrote to depends on its operands."""
        cdef VersionCounter counter
        for counter, version, sources in self.may_be_written:
            if counter.version != version:
                self.add(counter, sources)
        self.may_be_written = []
        return 0

    cdef int add(self, VersionCounter counter, long long sources) except -1:
        self.sources[counter] = sources | self.sources.get(counter, 0)
        return 0

    cdef long long sources_of(self, Tensor tensor) except -1:
        """A bit for each input that the tensor was computed from. Memory is compared, too: `data` has its own counter."""
        cdef long long sources = 0 if tensor.counter is None else self.sources.get(tensor.counter, 0)
        cdef int i
        for i, x in self.inputs:
            if spans_meet(tensor.array, (<Tensor> x).array):
                sources |= 1LL << i
        return sources

    cdef int note_saved(self, tuple tensors) except -1:
        """Note the names of the tensors that forward saves, and the line that saves them."""
        frame = sys._getframe()
        while frame is not None and frame.f_code.co_filename.startswith(PACKAGE):
            frame = frame.f_back
        if frame is None:
            return 0
        names = {id(value): name for name, value in frame.f_locals.items() if isinstance(value, Tensor)}
        place = f"{frame.f_code.co_filename}:{frame.f_lineno}, in {frame.f_code.co_qualname}"
        for tensor in tensors:
            self.places[id(tensor)] = (names.get(id(tensor)), place)
        return 0

    cdef int end(self) except -1:
        self.handle.remove()
        self.note_write()
        return 0


cdef bint asks_for_derivative(Tensor x) except -1:
    return wants_grad(x) or (current_mode() & FORWARD_AD and has_tangent(x))


cdef Trail follow(list inputs):
    """Follow the results computed from differentiable inputs until `end`. Inference tensors have no version, so not those."""
    cdef Trail trail = Trail.__new__(Trail)
    cdef int i
    trail.inputs, trail.sources, trail.places, trail.may_be_written = [], {}, {}, []
    for i in range(min(len(inputs), MOST)):
        if not (<Tensor> inputs[i]).inference and asks_for_derivative(<Tensor> inputs[i]):
            trail.inputs.append((i, inputs[i]))
    trail.handle = register_op_hook(trail.note, None)
    return trail


cdef bint has_no_derivative(Node node, tuple inputs, object outputs):
    """Whether the derivative of an operation is 0 everywhere, or there is none."""
    if type(node) is NotDifferentiable:
        return True
    if node.joint or not isinstance(outputs, Tensor) or not (<Tensor> outputs).array.size:
        return False
    if node.kinds[0] != NOTHING or node.kinds[1] != NOTHING or node.kinds[2] != NOTHING:
        return False                # it depends on values
    cdef int i
    known = flat_types.get(type(node))
    if known is None:
        try:
            known = True
            for i in range(len(inputs)):
                g = None if inputs[i] is None else node.vjp(new_tensor(np.ones_like((<Tensor> outputs).array)), i)
                known = known and (g is None or not (<Tensor> g).array.any())
        except RuntimeError:        # not implemented
            return True
        if not known or not node.constants:
            flat_types[type(node)] = known
    return known


cdef bint is_intermediate(Tensor tensor, list inputs, list outputs):
    """Whether a saved tensor is neither an input nor an output, and has no history of its own."""
    if not is_differentiable(code_of(tensor.array)) or tensor.needs_grad:
        return False
    for x in inputs:
        if x is tensor:
            return False
    for y in outputs:
        if y is tensor:
            return False
    return True


cdef Intermediate intermediate(Node node, Trail trail, Tensor tensor, str slot, list inputs):
    """Case 2: an intermediate and its sources; None for a constant. `trail` is None if forward was not followed."""
    cdef Intermediate found = Intermediate.__new__(Intermediate)
    cdef int i
    name, place = None, ""
    found.certain = trail is not None
    if found.certain:
        found.sources = trail.sources_of(tensor)
        name, place = trail.places.get(id(tensor), (None, ""))
    else:
        for i in range(min(len(inputs), MOST)):
            found.sources |= <long long> asks_for_derivative(<Tensor> inputs[i]) << i
    if not found.sources:
        return None
    found.levels = levels_of(found.sources, inputs) if current_mode() & FORWARD_AD else ()
    if not place:
        code = inspect.unwrap(type(node)._forward_cls.forward).__code__
        place = f"{code.co_filename}:{code.co_firstlineno}, in {code.co_qualname}"
    found.text = message(node, f"'{name}' ({slot})" if name else slot, tensor, place, found.certain)
    return found


cdef tuple levels_of(long long sources, list inputs):
    """The dual levels at which the inputs have tangents."""
    cdef list levels = []
    cdef Tangent tangent
    cdef int i
    for i in range(min(len(inputs), MOST)):
        tangent = tangents_now(<Tensor> inputs[i]) if sources >> i & 1 else None
        while tangent is not None:
            levels.append(tangent.level)
            tangent = tangent.outer
    return tuple(levels)


cdef str message(Node node, str what, Tensor tensor, str place, bint certain):
    origin = "was" if certain else "may have been"
    return (f"{node.name()}: the second derivative is unknown, because backward computes with an intermediate result: {what}, "
            f"a {dtype_of(code_of(tensor.array))} tensor of shape {list(np.shape(tensor.array))}, saved by {place}, {origin} "
            "computed from an input that requires grad, and nothing was recorded meanwhile. Return it from forward as an "
            "output, too, or compute it from saved inputs in backward. If it is a constant, detach() it in backward; mark a "
            "backward that is not to be differentiated with @once_differentiable.")


@cython.final
cdef class IntermediateBackward(Node):
    """Case 3 of NOTE [Intermediates of Functions]."""

    def name(self):
        return "IntermediateBackward"

    cdef object vjp(self, object g, int i):
        cdef Intermediate found = self.constants[0]
        if found.certain:
            raise UnknownDerivative(found.text)
        warnings.warn(found.text + " What it contributes is left out.", stacklevel=2)
        return None


cdef Tensor with_refusal(Node node, Tensor tensor, Intermediate found, bint in_jvp):
    """An alias of a saved tensor whose node raises the error; see cases 3 and 5."""
    cdef Tensor alias
    cdef Node refusal
    cdef int i
    for level in found.levels:
        if is_visible_number(level):
            if found.certain and (in_jvp or is_asked_for()):
                raise UnknownDerivative(found.text)
            warnings.warn(found.text + " The gradient's tangent lacks what it contributes.", stacklevel=2)
            break
    refusal = new_node(IntermediateBackward, (found,))
    for i in range(min(node.n_edges, MOST)):
        if found.sources >> i & 1:
            refusal.add_edge(node.next_node(i), node.next_number(i))
    if not refusal.n_edges:
        return tensor
    alias = (<object> tensor).detach() if is_sparse(tensor) else new_tensor(tensor.array)
    share_version(tensor, alias)
    alias.grad_fn, alias.needs_grad = refusal, True
    return alias


cdef bint is_asked_for():
    """Whether the running backward returns its gradients, or records them: then their tangents matter."""
    cdef GraphTask task = current_task()
    return not current_mode() & NO_GRAD or (task is not None and task.selective)


cdef bint is_refusing() noexcept:
    """Whether operations are differentiated now: see cases 3 and 5 of NOTE [Intermediates of Functions]."""
    cdef int mode = current_mode()
    return mode & FORWARD_AD or not mode & NO_GRAD


cdef tuple refusing(Node node, dict intermediates, str where, tuple tensors):
    """The saved tensors; each intermediate is replaced with an alias that raises under differentiation."""
    cdef list found = None if intermediates is None else intermediates.get(where)
    cdef bint in_jvp = where == SAVED_FOR_JVP
    if found is None or not is_refusing():
        return tensors
    return tuple([x if item is None else with_refusal(node, x, item, in_jvp) for x, item in zip(tensors, found)])


cdef dict hide_attributes(Node node, dict intermediates):
    """Remove the intermediates from ctx until `show_attributes`; reading one calls `refused`."""
    cdef dict attributes, hidden = {}
    if intermediates is None or not is_refusing():
        return None
    attributes = (<object> node).__dict__
    for where in intermediates:
        name = where.removeprefix(ATTRIBUTE)
        if name != where and name in attributes:
            hidden[name] = attributes.pop(name)
    return hidden


cdef int show_attributes(Node node, dict hidden) except -1:
    """Restore the hidden attributes, except those that backward has set."""
    cdef dict attributes
    if hidden:
        attributes = (<object> node).__dict__
        for name, value in hidden.items():
            attributes.setdefault(name, value)
    return 0


cdef object refused(Node node, dict intermediates, str name, object value):
    """An attribute as backward sees it."""
    where = ATTRIBUTE + name
    if isinstance(value, Tensor):
        return refusing(node, intermediates, where, (value,))[0]
    return type(value)(refusing(node, intermediates, where, tuple(value)))
