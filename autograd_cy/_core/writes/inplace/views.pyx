"""Views in the graph: how a view follows writes to the memory that it shares.

NOTE [Views]
  1. The result of a view operation knows its base (`_base`), even if nothing requires grad: a later write may change that.
     A view of a view has the base of the first view. Its position in the base is computed from the arrays (`Region`).
  2. A recorded write through a view is an operation on the base: see NOTE [In place]. All views, including the written one,
     then have an outdated version. On the next use each one makes a new node, an AsStridedBackward0 with an edge to the
     base's new node (`renew_place`). They keep their arrays, which see the write anyway.
  3. Nothing is done until then, so an unused view costs nothing. Code that reads `grad_fn` or `needs_grad` of a tensor must
     call `make_current` or `wants_grad` first.
  4. Some views can't get a new node, because it would replace the node with the right gradient or the intent is ambiguous:
     one of several views that a call returned, one made in no_grad mode, one returned by a Function. In grad mode, both a
     write through such a view and its use after another write are refused. So is the use of a view that saw a write before
     its base was detached in place, because the write's node is lost.
  5. detach() and `.data` make no views: they share memory (and with detach(), versions), but have no base.
  6. Tangents move in the same way: a write through a view updates the base's tangent, and other views take theirs anew from
     it (`renew_tangents`). A tensor from make_dual() is a view of its argument but has its own tangent, so its views take
     their tangents from it (`tangent_base`).
  7. Under _force_original_view_tracking() a view keeps its node classes, and gets nodes of these after a write (case 2).
"""

cimport cython
from cpython.object cimport PyObject

from autograd_cy._core.arrays.buffers cimport Region, region_of
from autograd_cy._core.batching.rules cimport of_samples
from autograd_cy._core.graph.context cimport DualLevels, is_visible, see_again, see_up_to, visible_levels
from autograd_cy._core.graph.node cimport Node, NodeHooks, Request, connect
from autograd_cy._core.graph.record cimport (
    drop_retained, has_tangent, needs_node, new_node, record_all, retain_at, retained_at, set_tangent, tangent_of)
cimport autograd_cy._core.graph.tensor as tensor_module
from autograd_cy._core.graph.tensor cimport (
    AMONG_SEVERAL, IN_FUNCTION, IN_GRAD_MODE, IN_INFERENCE, IN_NO_GRAD, Seldom, Tensor, TensorExtras, has_extras, new_tensor)
from autograd_cy._core.runtime cimport numpy_api as cnp
from autograd_cy._core.runtime.free_threading cimport FREE_THREADED, Hold, hold, let_go, load_long, store_long


cdef bint is_view_of_another(Tensor x) noexcept:
    return has_extras(x) and x.extras.base is not None


# a region of a tensor's memory

@cython.final
cdef class AsStridedBackward0(Node):
    cdef tuple constant_names(self):
        return ("size", "stride", "storage_offset")

    cdef object vjp_array(self, object g, int i, Request *request):
        return (<Region> self.constants[3]).embedded(<cnp.ndarray> g)

    cdef object vjp(self, object g, int i):
        return embed_part(<Tensor> g, <Region> self.constants[3])

    cdef object jvp(self, tuple tangents):
        return take(<Tensor> tangents[0], <Region> self.constants[3])


@cython.final
cdef class AsStridedScatterBackward0(Node):
    """The node of replace_part (inputs: the tensor and the part) and of embed_part (the part alone)."""

    cdef object vjp(self, object g, int i):
        cdef Region region = <Region> self.constants[0]
        return take(<Tensor> g, region) if i == 1 else replace_part(<Tensor> g, None, region)

    cdef object jvp(self, tuple tangents):
        whole, part = tangents
        cdef Region region = <Region> self.constants[0]
        return embed_part(<Tensor> part, region) if whole is None else replace_part(<Tensor> whole, part, region)


cdef tuple geometry(Region region):
    """The constants of AsStridedBackward0; users see strides and offset in elements."""
    size = region.type.itemsize
    return region.sizes, tuple([s // size for s in region.strides]), region.offset // size, region


cdef Tensor take(Tensor whole, Region region):
    """The part of a tensor at the region."""
    if whole.batched:
        return of_samples(take_of_each, (whole,), region)
    cdef Tensor y = new_tensor(region.taken(whole.array))
    if needs_node(whole):
        record_all(new_node(AsStridedBackward0, geometry(region)), y, (whole,))
    return y


cdef Tensor embed_part(Tensor part, Region region):
    """Zeros with the part in its place."""
    if part.batched:
        return of_samples(embed_of_each, (part,), region)
    cdef Tensor y = new_tensor(region.embedded(part.array))
    if needs_node(part):
        record_all(new_node(AsStridedScatterBackward0, (region,)), y, (None, part))
    return y


cdef Tensor replace_part(Tensor whole, Tensor part, Region region):
    """`whole` with the region replaced by `part` (None: by zeros)."""
    if whole.batched or (part is not None and part.batched):
        return of_samples(replace_of_each, (whole, part), region)
    cdef Tensor given = new_tensor(cnp.PyArray_ZEROS(0, NULL, cnp.NPY_BOOL, 0)) if part is None else part
    cdef Tensor y = new_tensor(region.replaced(whole.array, given.array))
    if needs_node(whole) or (part is not None and needs_node(part)):
        record_all(new_node(AsStridedScatterBackward0, (region,)), y, (whole, part))
    return y


def take_of_each(Tensor wholes, Region region, Py_ssize_t n):
    return take(wholes, region.of_each(n))


def embed_of_each(Tensor parts, Region region, Py_ssize_t n):
    return embed_part(parts, region.of_each(n))


def replace_of_each(Tensor wholes, Tensor parts or None, Region region, Py_ssize_t n):
    return replace_part(wholes, parts, region.of_each(n))


# after a write

cdef int renew_place(Tensor view) except -1:
    """Give a view a node that leads to its base's node; called if the view's version is outdated."""
    cdef TensorExtras extras = view.extras
    cdef Tensor base = extras.base
    cdef Node node
    cdef NodeHooks before = None
    cdef object output = view.output_number
    if not base.needs_grad and view.grad_fn is None:
        return 0
    if extras.creation != IN_GRAD_MODE:
        raise refusal(view, True)
    if not base.needs_grad and was_detached_since(base, extras.current):
        raise RuntimeError("the base of this view was detached in place (detach_()) after its memory had been written, so "
                           "the view has lost its place in the graph. Use the view before detach_(), or detach() instead.")
    node = leading_from(base, view)
    if view.keeps_grad and view.grad_fn is not None:
        retain_at(node, 0, view)
        before = retained_at(view)
    view.grad_fn, view.output_number = node, 0
    if not view.needs_grad:             # else other threads may be reading it
        view.needs_grad = True
    store_long(&extras.current, load_long(&view.counter.version))       # last, since a reader that sees it relies on the rest
    if before is not None:
        drop_retained(before, output)
    return 0


cdef bint was_detached_since(Tensor base, long version) noexcept:
    """Whether a base was written after this version, and then detached in place."""
    cdef TensorExtras extras = base.extras
    return extras is not None and extras.seldom is not None and extras.seldom.former is not None and extras.current > version


cdef Node leading_from(Tensor base, Tensor view):
    """A node for the view with an edge to the base's node, through intermediate nodes if it replays the view operations."""
    cdef Seldom seldom = view.extras.seldom
    cdef Node node, before
    if seldom is None or seldom.replay is None:
        node = new_node(AsStridedBackward0, geometry(region_of(base.array, view.array)))
        connect(node, base)
        return node
    region_of(base.array, view.array)           # checks that the view's memory is still in the base
    node = None
    for node_class, constants in seldom.replay:
        before, node = node, new_node(node_class, constants)
        if before is None:
            connect(node, base)
        else:
            node.add_edge(before, 0)
    return node


cdef Tensor tangent_base(Tensor x):
    """The tensor from whose tangent a view takes its own; None for a dual tensor and for a tensor that is no view."""
    cdef TensorExtras extras = x.extras
    if extras is None or extras.is_dual:
        return None
    return extras.base if extras.seldom is None or extras.seldom.dual is None else extras.seldom.dual


cdef int renew_tangents(Tensor view) except -1:
    """Recompute the view's tangents from the base's."""
    cdef DualLevels levels = visible_levels()
    cdef Tensor base = tangent_base(view), t
    cdef Region region
    cdef int k
    view.extras.tangent_version = load_long(&view.counter.version)
    if base is None or not has_tangent(base):
        return 0
    region = region_of(base.array, view.array)
    try:
        for k in range(levels.depth):
            if is_visible(levels, k):
                see_up_to(levels, k + 1)
                t = tangent_of(base)
                if t is not None:
                    see_up_to(levels, k)
                    t = take(t, region)
                    see_up_to(levels, k + 1)
                    set_tangent(view, t)
    finally:
        see_again(levels)
    return 0


cdef object refusal(Tensor view, bint indirect):
    """The error for a view that can't follow a write through it, or elsewhere in its memory (`indirect`)."""
    cdef int creation = view.extras.creation
    happened = "its base or another view of its base has been" if indirect else "is being"
    what = "A view was"
    if view.grad_fn is not None:
        name = view.grad_fn.name()
        what = f"Output {view.output_number} of {name.rpartition('Backward')[0] or name} is a view"
    if view.grad_fn is not None and creation in (AMONG_SEVERAL, IN_FUNCTION):
        text = f"{what} and {happened} modified inplace."
    else:
        what += "" if view.grad_fn is None else " of a view which was"
        text = f"{what} created in " + (
            f"inference mode and {happened} modified inplace in normal mode." if creation == IN_INFERENCE else
            f"no_grad mode and {happened} modified inplace with grad mode enabled.")
    if creation == AMONG_SEVERAL:
        text += (" This view is the output of a function that returns multiple views. Such functions do not allow the output "
                 "views to be modified inplace. You should replace the inplace operation by an out-of-place one, or write to "
                 "an item of the base: x[i].mul_(2), x[i] = y.")
    elif creation == IN_FUNCTION:
        text += (" This view was created inside a custom Function (or because an input was returned as-is), whose backward "
                 "the write would take the place of. Return a clone() from its forward.")
    else:
        text += (" Given that this use case is ambiguous and error-prone, it is forbidden. You can clarify your code by "
                 "moving both the view and the inplace either both inside the "
                 f"{'no_grad' if creation == IN_NO_GRAD else 'inference_mode'} block (if you don't want the inplace to be "
                 "tracked) or both outside (if you want the inplace to be tracked).")
    if view.grad_fn is not None and view.grad_fn.location:
        text += f" The view was made at {view.grad_fn.location}."
    return RuntimeError(text)


cdef int renew_alone(Tensor view) except -1:
    """`renew_place`, unless another thread has done it meanwhile."""
    cdef Hold section
    hold(&section, <PyObject *> view)
    try:
        return renew_place(view) if load_long(&view.counter.version) != view.extras.current else 0
    finally:
        let_go(&section)


cdef int renew(Tensor view, bint of_tangents) except -1:
    """Renew the place of an outdated view in the graph, or its tangents."""
    if of_tangents:
        return renew_tangents(view)
    return renew_alone(view) if FREE_THREADED else renew_place(view)


tensor_module.renew = renew
