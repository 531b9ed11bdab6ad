"""Whether and how an operation is recorded in the graph: the only code that checks grad mode and tangents.

An operation computes its output and calls `needs_node` for its inputs. If one needs a node, the operation makes its node,
saves what the rule needs and calls `record`.
"""

import numpy as np

cimport cython
from cpython.object cimport PyTypeObject

from autograd_cy._core.arrays.buffers cimport sizes_of
from autograd_cy._core.arrays.dtypes cimport code_of, dtype, dtype_of
from autograd_cy._core.arrays.region cimport spans_meet
from autograd_cy._core.graph.accumulate_grad cimport connect
from autograd_cy._core.graph.anomaly cimport note_trace
from autograd_cy._core.graph.creation_hooks cimport announce
from autograd_cy._core.graph.duals cimport (
    DualLevels, Tangent, dual_level, entry_in, is_visible, is_visible_number, see_again, see_up_to, tangent_in,
    visible_levels, with_tangent)
from autograd_cy._core.graph.guard cimport offset_of, owner_of, room_of
from autograd_cy._core.graph.nans cimport check_results
from autograd_cy._core.graph.node cimport Node
from autograd_cy._core.graph.op_hooks cimport observe_forward
from autograd_cy._core.graph.primals cimport hide_tangents, show_tangents
from autograd_cy._core.graph.saved cimport keep_tangents, tangents_of
from autograd_cy._core.graph.saved_tensor cimport refuse_inference, seal_slots
from autograd_cy._core.graph.tensor cimport Seldom, Tensor, TensorExtras, extras_of_tensor, has_extras, seldom_of, wants_grad
from autograd_cy._core.graph.tensor_life cimport new_tensor
from autograd_cy._core.graph.tensor_views cimport link_view, version_of
from autograd_cy._core.runtime cimport numpy_api as cnp
from autograd_cy._core.runtime.free_threading cimport load_long
from autograd_cy._core.runtime.modes cimport current_mode, own_modes
from autograd_cy._core.runtime.state cimport (
    ANOMALY, BATCHED, DETECT_NAN, FORWARD_AD, GUARDED, NODE_HOOKS, NO_GRAD, OP_HOOKS, SAVED_HOOKS, thread_state)

from autograd_cy._core.graph.samples import SampleTakenForAll
from autograd_cy._core.runtime.argument_errors import wrong_self

cnp.import_array()

cdef extern from "Python.h":
    long long PyLong_AsLongLongAndOverflow(object, int *) except? -1
    ctypedef struct TypeObject "PyTypeObject":
        object (*tp_new)(PyTypeObject *, object, void *)

cdef tuple EMPTY = ()

cdef enum:
    MOST_TANGENTS = 1 << 16         # of a primal and its tangent: case 3 of NOTE [Recursion]
    FEW_LEVELS = 14                 # with so few levels that many tangents are impossible


def get_tangent(Tensor x):
    """The tangent of `x` at the innermost level, or None."""
    return tangent_of(x)


cpdef set_tangent(Tensor x, Tensor t):
    """set_tangent(x, t): make `t` the tangent of `x` at the innermost level."""
    cdef TensorExtras extras = extras_of_tensor(x)
    cdef Tangent before = entry_in(extras.tangents, dual_level())
    extras.tangents = with_tangent(extras.tangents, dual_level(), t, before is not None and before.given and before.value is t)
    extras.tangent_version = version_of(x)


def without_tangent(Tensor x):
    """A view of `x` that has no tangent at the innermost level, and takes none from `x` there."""
    cdef DualLevels levels = visible_levels()
    cdef Tensor primal
    see_up_to(levels, innermost(levels))
    try:
        primal = <Tensor> (<object> x).view_as(x)
    finally:
        see_again(levels)
    extras_of_tensor(primal).is_dual = True
    return primal


cdef int innermost(DualLevels levels) noexcept:
    """The index of the innermost level that the thread sees, counted from the outermost."""
    cdef int k = levels.depth - 1
    while k >= 0 and not is_visible(levels, k):
        k -= 1
    return max(k, 0)


def dual_of(Tensor x, Tensor t, bint of_samples):
    """A view of `x` with tangent `t`, which is a base for tangents of its own views: case 6 of NOTE [Views].

    of_samples: both hold samples of a batch, with any strides. Otherwise the tangent is copied unless it has the strides and
    the position in memory of `x`.
    """
    cdef Py_ssize_t left = MOST_TANGENTS
    if visible_levels().depth > FEW_LEVELS and (count_down(x, &left) < 0 or count_down(t, &left) < 0):
        raise RecursionError(
            f"maximum recursion depth exceeded: a dual tensor with more than {MOST_TANGENTS} tangents at "
            f"{visible_levels().depth} levels within each other. Does a function call jvp() of itself?")
    cdef Tensor dual = <Tensor> (<object> x).view_as(x)
    cdef TensorExtras extras = extras_of_tensor(dual)
    cdef Seldom seldom
    if not of_samples and not (have_same_strides(x.array, t.array) and lie_alike(x.array, t.array)):
        t = <Tensor> (<object> new_tensor(np.empty_like(x.array))).copy_(t)
    seldom = seldom_of(extras_of_tensor(t))
    if seldom.given == dual_level():
        t = <Tensor> (<object> t).clone()
    else:
        seldom.given = dual_level()
    extras.is_dual = True
    extras.tangents = with_tangent(extras.tangents, dual_level(), t, True)
    extras.tangent_version = version_of(dual)
    return dual


cdef Py_ssize_t count_down(Tensor x, Py_ssize_t *left) noexcept:
    """Count a tensor and its tangents at all open levels down from `left`; negative if there are more."""
    cdef Tangent tangents = (<TensorExtras> x.extras).tangents if has_extras(x) else None
    left[0] -= 1
    while tangents is not None and left[0] >= 0:
        if is_visible_number(tangents.level):
            count_down(<Tensor> tangents.value, left)
        tangents = tangents.outer
    return left[0]


cdef bint have_same_strides(cnp.ndarray a, cnp.ndarray b) noexcept:
    """For two arrays of one shape; dimensions of size 1 don't matter."""
    cdef int axis
    for axis in range(cnp.PyArray_NDIM(a)):
        if cnp.PyArray_DIM(a, axis) > 1 and cnp.PyArray_STRIDE(a, axis) != cnp.PyArray_STRIDE(b, axis):
            return False
    return True


cdef bint lie_alike(cnp.ndarray a, cnp.ndarray b) except -1:
    """Whether two arrays of one shape start at the same offset in memory of the same size; true for empty arrays."""
    if cnp.PyArray_SIZE(a) == 0 or (owner_of(a) is a and owner_of(b) is b):
        return True
    return offset_of(a) == offset_of(b) and room_of(a) == room_of(b)


cdef Tensor laid_out(Tensor t, cnp.ndarray alike):
    """The tensor, or its copy in the array `alike` if that has other strides."""
    return t if have_same_strides(alike, t.array) else <Tensor> (<object> new_tensor(alike)).copy_(t)


cdef Tensor tangent_of(Tensor x):
    """The tangent at the innermost level, or None; see case 6 of NOTE [Views]."""
    cdef Tangent tangents = tangents_now(x)
    return None if tangents is None else tangent_in(tangents, dual_level())


cdef Tangent tangents_now(Tensor x):
    """All tangents of `x`; a view first takes them from its base if it is outdated."""
    if not has_extras(x):
        return None
    cdef TensorExtras extras = x.extras
    if extras.base is not None and extras.tangent_version != load_long(&x.counter.version) and dual_level():
        renew_tangent(x)
    return extras.tangents


cdef bint has_tangent(Tensor x) except -1:
    """Whether `x` has a tangent at a level that this thread sees."""
    cdef Tangent tangents = tangents_now(x)
    while tangents is not None:
        if is_visible_number(tangents.level):
            return True
        tangents = tangents.outer
    return False


cdef bint needs_node(Tensor x) except -1:
    """Whether an operation on `x` must make a node."""
    cdef int mode = current_mode()
    if mode == 0:
        return wants_grad(x)
    if x.batched:
        raise sample_taken_for_all("an operation")
    if mode & OP_HOOKS or (not mode & NO_GRAD and wants_grad(x)):
        return True
    return mode & FORWARD_AD and has_tangent(x)


cdef object sample_taken_for_all(str who):
    return SampleTakenForAll(f"vmap: {who} has no batching rule for a tensor that stands for all samples of a batch. Call "
                             "it outside of vmap, with the whole batch, or for each sample by itself.")


cdef bint any_wanted(object tensors) except -1:
    for x in tensors:
        if x is not None and needs_node(<Tensor> x):
            return True
    return False


cdef Tensor record(Node node, Tensor y, Tensor a):
    """Record `y` = operation(a); returns `y`."""
    record_first(node, y, 1, a, None, None)
    return y


cdef Tensor record2(Node node, Tensor y, Tensor a, Tensor b):
    """Record `y` = operation(a, b); returns `y`."""
    record_first(node, y, 2, a, b, None)
    return y


cdef object record_all(Node node, object outputs, object inputs):
    """Record one output or a tuple of outputs, computed from any number of inputs (None: not a tensor); returns them."""
    cdef int mode = current_mode()
    cdef Tensor y
    cdef int i
    if mode & BATCHED:
        check_plain(node, inputs)
    if not mode & NO_GRAD and needs_grad(inputs):
        for x in inputs:
            if x is None:
                node.add_edge(None, 0)
            else:
                connect(node, <Tensor> x)
        if mode & OP_HOOKS:
            refuse_inference(node)
        if mode & (SAVED_HOOKS | GUARDED):
            seal_slots(node)
        if type(outputs) is tuple:
            node.n_outputs = len(<tuple> outputs)
            for i in range(node.n_outputs):
                y = <Tensor> (<tuple> outputs)[i]
                y.output_number = i
                enter(node, y)
        else:
            enter(node, <Tensor> outputs)
        if mode & ANOMALY:
            note_trace(node, outputs, inputs, own_modes())
        if mode & NODE_HOOKS:
            announce(node)
    if mode & FORWARD_AD:
        set_tangents(node, outputs, inputs)
    if mode & OP_HOOKS:
        observe_forward(node, outputs, inputs)
    if mode & DETECT_NAN and (not mode & NO_GRAD or mode & FORWARD_AD):
        check_results(node, outputs, inputs)        # not for unrecorded operations, which only hooks see
    return outputs


@cython.final
cdef class NotDifferentiable(Node):
    """The node that hooks on all operations get for one without a derivative. Never part of a graph."""

    def name(self):
        if not isinstance(self, NotDifferentiable):
            raise wrong_self(self, NotDifferentiable)
        return self.constants[0]


cdef int show(str name, object outputs, tuple inputs) except -1:
    """Call hooks on all operations for one that is never recorded."""
    if thread_state().mode & OP_HOOKS:
        observe_forward(new_node(NotDifferentiable, (name,)), outputs, inputs)
    return 0


cdef object shown(str name, object outputs, tuple inputs):
    """`show`, but returns the outputs."""
    show(name, outputs, inputs)
    return outputs


cdef int check_plain(Node node, object inputs) except -1:
    for x in inputs:
        if x is not None and (<Tensor> x).batched:
            raise sample_taken_for_all(node.name())
    return 0


cdef bint needs_grad(object inputs):
    for x in inputs:
        if x is not None and wants_grad(<Tensor> x):
            return True
    return False


cdef int set_tangents(Node node, object outputs, object inputs) except -1:
    """Compute the outputs' tangents from the inputs' by the node's jvp: case 2 of NOTE [Dual levels].

    Meanwhile the level itself is not visible, so the primals have no tangents at it: otherwise sin would call cos, and cos
    sin, without end.
    """
    cdef DualLevels levels = visible_levels()
    cdef tuple tangents, results = outputs if type(outputs) is tuple else (outputs,)
    cdef list hidden
    cdef long long level
    cdef int k
    for k in range(levels.depth):
        if not is_visible(levels, k):
            continue
        see_up_to(levels, k + 1)
        try:
            level = dual_level()
            tangents = tuple([None if x is None else tangent_of(<Tensor> x) for x in inputs])
            if tangents.count(None) != len(tangents):
                see_up_to(levels, k)
                hidden = None if current_mode() & NO_GRAD else hide_tangents(node, level)
                try:
                    found = tangents_of(node, tangents, results)
                finally:
                    if hidden is not None:
                        show_tangents(node, hidden)
                if any_of_duals(inputs):
                    found = of_their_own(found, results, tangents, inputs)
                    if node.saves and needs_grad(inputs):
                        tangents = tuple([None if t is None else t.clone() for t in tangents])
                see_up_to(levels, k + 1)
                keep_tangents(node, tangents, level)
                for y, t in zip(results, found):
                    if t is not None:
                        set_tangent(<Tensor> y, fitting_tangent(node, <Tensor> t, <Tensor> y))
        finally:
            see_again(levels)
    return 0


cdef bint any_of_duals(object inputs):
    """Whether any of the tensors is a dual tensor, or a view of one."""
    for x in inputs:
        if x is not None and is_of_dual(<Tensor> x):
            return True
    return False


cdef inline bint is_of_dual(Tensor x) noexcept:
    return has_extras(x) and (x.extras.is_dual or (x.extras.seldom is not None and x.extras.seldom.dual is not None))


cdef tuple of_their_own(tuple found, tuple results, tuple tangents, object inputs):
    """The results' tangents, copied if they share memory with a dual tensor's tangent but the result is no view of it."""
    return tuple([t if t is None else of_its_own(<Tensor> t, <Tensor> y, tangents, inputs) for t, y in zip(found, results)])


cdef Tensor of_its_own(Tensor t, Tensor y, tuple tangents, object inputs):
    for x, given in zip(inputs, tangents):
        if given is not None and is_of_dual(<Tensor> x) and spans_meet(t.array, (<Tensor> given).array):
            return t if spans_meet(y.array, (<Tensor> x).array) else <Tensor> (<object> t).clone()
    return t


cdef Tensor fitting_tangent(Node node, object t, Tensor y):
    """A tangent with the shape and dtype of the output."""
    if not cnp.PyArray_SAMESHAPE((<Tensor> t).array, y.array):
        t = t.expand(shape_of(y))               # a tangent of an input that was broadcast
    if not node.joint and code_of((<Tensor> t).array) != code_of(y.array):
        t = as_type(t, dtype_of(code_of(y.array)))      # a tangent of an input with a narrower dtype
    return t


cdef Tensor as_tensor(object value, str operation):
    """The argument as a Tensor; otherwise a TypeError that names the operation."""
    if not isinstance(value, Tensor):
        raise TypeError(f"{operation}(): argument 'input' must be Tensor, not {type(value).__name__}")
    return <Tensor> value


cdef Tensor tensor_argument(object value, str operation, str name, int position):
    """The argument as a Tensor; otherwise a TypeError that names it."""
    if not isinstance(value, Tensor):
        raise TypeError(f"{operation}(): argument '{name}' (position {position}) must be Tensor, not "
                        f"{type(value).__name__}")
    return <Tensor> value


cdef Node new_node(object node_class, tuple constants):
    """A node of that class with its constants."""
    cdef Node node = <Node> (<TypeObject *> node_class).tp_new(<PyTypeObject *> node_class, EMPTY, NULL)
    node.constants = constants
    return node


cdef Tensor record_linear(object node_class, tuple constants, Tensor x, object array):
    """Record a linear operation on one tensor whose gradient needs only constants; `array` is the result."""
    cdef Tensor y = new_tensor(<cnp.ndarray?> array)
    return record(new_node(node_class, constants), y, x) if needs_node(x) else y


cdef Tensor record_view(object node_class, tuple constants, Tensor x, object array):
    """Record a linear operation whose result is a view of `x`."""
    cdef Tensor y = record_linear(node_class, constants, x, array)
    link_view(x, y)
    return y


cdef object as_type(object g, dtype wanted):
    """A gradient or tangent in another dtype: the real part if that is real and `g` complex."""
    if (<Tensor> g).dtype is wanted:
        return g
    if (<Tensor> g).dtype.is_complex and not wanted.is_complex:
        g = g.real
    return g.to(wanted)


cdef long long int64_of(object number) except? -1:
    """An int, TypeError for a bool; ValueError if it has more than 64 bits."""
    cdef int overflow = 0
    if number is True or number is False:
        raise TypeError("the argument must be int, not bool")
    cdef long long value = PyLong_AsLongLongAndOverflow(number, &overflow)
    if overflow:
        raise ValueError(f"Overflow when unpacking long long: {number}")
    return value


cdef int wrap_dim(object dim, int ndim) except -1:
    """A dimension counted from the front; IndexError if it is out of range (a 0-d tensor accepts 0 and -1)."""
    cdef int n = max(ndim, 1)
    if dim is True or dim is False:
        raise TypeError("argument 'dim' must be int, not bool")
    cdef long long d = int64_of(dim)
    if not -n <= d < n:
        raise IndexError(f"Dimension out of range (expected to be in range of [{-n}, {n - 1}], but got {d})")
    return <int> (d + n if d < 0 else d)


cdef tuple shape_of(Tensor x):
    """The sizes as a plain tuple."""
    return sizes_of(x.array)


cdef tuple broadcast_sizes(tuple a, tuple b):
    """The common sizes of two broadcast tensors; RuntimeError if they don't fit."""
    cdef int ndim = max(len(a), len(b)), axis
    a = (1,) * (ndim - len(a)) + a
    b = (1,) * (ndim - len(b)) + b
    for axis in range(ndim):
        if a[axis] != b[axis] and a[axis] != 1 and b[axis] != 1:
            raise RuntimeError(f"The size of tensor a ({a[axis]}) must match the size of tensor b ({b[axis]}) at "
                               f"non-singleton dimension {axis}")
    return tuple([q if p == 1 else p for p, q in zip(a, b)])
