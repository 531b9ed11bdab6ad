"""Tangents of tensors in forward mode: those that users gave, and those of results."""

import numpy as np

from autograd_cy._core.arrays.buffers cimport spans_meet
from autograd_cy._core.arrays.dtypes cimport code_of, dtype_of
from autograd_cy._core.graph.context cimport (
    DualLevels, Tangent, dual_level, entry_in, is_visible, is_visible_number, see_again, see_up_to, tangent_in, visible_levels,
    with_tangent)
from autograd_cy._core.graph.memory cimport offset_of, owner_of, room_of
from autograd_cy._core.graph.node cimport Node, keep_tangents, tangents_of
from autograd_cy._core.graph.tensor cimport (
    Seldom, Tensor, TensorExtras, extras_of_tensor, has_extras, new_tensor, renew, seldom_of, version_of)
from autograd_cy._core.runtime cimport numpy_api as cnp
from autograd_cy._core.runtime.free_threading cimport load_long
from autograd_cy._core.runtime.state cimport NO_GRAD, current_mode

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
        renew(x, True)
    return extras.tangents


cdef bint has_tangent(Tensor x) except -1:
    """Whether `x` has a tangent at a level that this thread sees."""
    cdef Tangent tangents = tangents_now(x)
    while tangents is not None:
        if is_visible_number(tangents.level):
            return True
        tangents = tangents.outer
    return False


# tangents of results

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
