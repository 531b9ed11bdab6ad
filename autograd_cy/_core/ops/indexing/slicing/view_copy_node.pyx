"""The node of a copy of a view, made from the node that the view would have."""

from autograd_cy._core.arrays.buffers cimport dense_copy
from autograd_cy._core.graph.node cimport Node
from autograd_cy._core.graph.record cimport go_on, needs_node, new_node, pause, record_all
from autograd_cy._core.graph.tensor cimport Tensor, new_tensor, wants_grad

from autograd_cy._core.graph.node import declare_outputs, like_output


cdef class ViewCopy(Node):
    """Constants: those of the view's node, that node itself (None where grad mode is off), the operation, its
    arguments."""

    cdef tuple constant_names(self):
        cdef Node own = self.constants[-3]
        return () if own is None else own.constant_names()

    cdef object vjp(self, object g, int i):
        cdef Node own = self.constants[-3]
        return g if own is None else own.vjp(g, i)      # then only hooks ask, whether the gradient is 0 everywhere

    cdef object jvp(self, tuple tangents):
        function, arguments = self.constants[-2:]
        return function(tangents[0], *arguments)


def like_copy(ViewCopy node, int i):
    return None if node.constants[-3] is None else like_output(node.constants[-3], i)


declare_outputs(ViewCopy, like_copy)


cdef tuple constants_of(Node own, object function, tuple arguments):
    """The constants of a ViewCopy; `own`: the view's node."""
    return (*(() if own is None else own.constants), own, function, arguments)


cdef Tensor plain(Tensor x):
    """A leaf on the same memory, never of a subclass. It requires grad if the tensor does."""
    cdef Tensor alias = new_tensor(x.array)
    alias.needs_grad = wants_grad(x)
    return alias


cdef object copied(object node_class, object function, object view_function, Tensor x, tuple arguments):
    """Copies of the view or views that a function makes."""
    cdef Node own
    cdef Tensor y
    cdef int paused = pause()
    try:
        views = view_function(plain(x), *arguments)
    finally:
        go_on(paused)
    several = isinstance(views, tuple)
    copies = tuple([new_tensor(dense_copy((<Tensor> y).array)) for y in (views if several else (views,))])
    if copies and needs_node(x):
        own = (<Tensor> (views[0] if several else views)).grad_fn
        record_all(new_node(node_class, constants_of(own, function, arguments)), copies if several else copies[0], (x,))
    return copies if several else copies[0]


def copying(view_function):
    """The batching rule: the view of all samples, copied."""
    def rule(call, *args, **kwargs):
        views = view_function(*args, **kwargs)
        return tuple([y.clone() for y in views]) if isinstance(views, tuple) else views.clone()
    return rule
