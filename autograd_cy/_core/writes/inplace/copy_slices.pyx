"""CopySlices: the node of a base that was written through a view.

The write replaced a part of the base by function(view, others). The node's inputs are the base as it was, and the others.
The base gets the incoming gradient with that part replaced by the view's gradient; `function` computes the others' gradients.
"""

import weakref

cimport cython

from autograd_cy._core.arrays.buffers cimport Region
from autograd_cy._core.graph.node cimport BOXED, Node, Request, connect, extras_of, freed_error
from autograd_cy._core.graph.record cimport announce, new_node
from autograd_cy._core.graph.tensor cimport Tensor
from autograd_cy._core.runtime cimport numpy_api as cnp
from autograd_cy._core.runtime.state cimport NODE_HOOKS, thread_state


@cython.final
cdef class CopySlices(Node):

    def name(self):
        return "torch::autograd::CopySlices"

    def __repr__(self):
        return "<CopySlices>"

    cdef int check(self) except -1:
        """Raise in a second backward, even if the function has saved nothing."""
        if self.released:
            raise freed_error(self)
        return 0

    cdef object vjp_array(self, object g, int i, Request *request):
        self.check()
        cdef object part = self.region.taken(<cnp.ndarray> g)
        cdef Request asked = Request(False, False, NULL, False, False)      # others read the memory of g
        cdef object result = self.function.vjp_array(part, i, &asked)
        if i != self.position:
            return result
        return self.region.replaced(<cnp.ndarray> g, ZERO if result is None else <cnp.ndarray> result)

    cdef object vjp(self, object g, int i):
        self.check()
        result = self.function.vjp(take(<Tensor> g, self.region), i)
        return replace_part(<Tensor> g, <Tensor> result, self.region) if i == self.position else result

    cdef object vjp_of_zeros(self, object g, int i):
        self.check()
        result = self.function.vjp_of_zeros(take(<Tensor> g, self.region), i)
        return replace_part(<Tensor> g, <Tensor> result, self.region) if i == self.position else result

    cdef tuple vjps(self, object g):
        cdef list results
        self.check()
        if g is None:
            return (None,) * self.n_edges
        if not self.joint:
            return Node.vjps(self, g)
        part = take(<Tensor> g, self.region)
        results = list(self.function.vjps([part] if self.function.joint == BOXED else part))
        results[self.position] = replace_part(<Tensor> g, <Tensor> results[self.position], self.region)
        return tuple(results)

    cdef int release_saved(self) except -1:
        self.released = True
        return self.function.release_saved()

    cdef int take_in(self, object output) except -1:
        """The part of the base that the inner node wrote, as the gradient of this node reaches it."""
        cdef Tensor part = <Tensor> output
        cdef Node node = new_node(AsStridedBackward0, geometry(self.region))
        node.add_edge(self, 0)
        part.grad_fn, part.output_number, part.needs_grad = node, 0, True
        return 0


cdef cnp.ndarray ZERO = cnp.PyArray_ZEROS(0, NULL, cnp.NPY_BOOL, 0)


cdef CopySlices copy_slices(Tensor base, Region region, Node function, int position):
    """The new node of `base` after `function` replaced the region; the base itself is still at its old place."""
    cdef CopySlices node = <CopySlices> new_node(CopySlices, ())
    cdef int i
    node.function, node.region, node.position = function, region, position
    node.joint = function.joint != 0
    if function.saves:
        extras_of(function).outer = weakref.ref(node)
    for i in range(function.n_edges):
        if i == position:
            connect(node, base)
        else:
            node.add_edge(function.next_node(i), function.next_number(i))
    if thread_state().mode & NODE_HOOKS:
        announce(node)
    return node
