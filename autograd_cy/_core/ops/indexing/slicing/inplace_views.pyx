"""In-place operations that give a tensor the sizes and strides of a view of itself: t_, transpose_, squeeze_, unsqueeze_.

No element is written, but the version is counted up: nodes that saved the tensor have it in its old shape. A view keeps its
base, which does not change.
"""

cimport cython

from autograd_cy._core.batching.batched cimport BatchedTensor
from autograd_cy._core.graph.node cimport NodeHooks
from autograd_cy._core.graph.record cimport drop_retained, go_on, new_node, pause, record_all, retain_at, retained_at
from autograd_cy._core.graph.tensor cimport Tensor, count_write, extras_of_tensor, new_tensor, version_of
from autograd_cy._core.runtime cimport numpy_api as cnp
from autograd_cy._core.writes.inplace cimport is_recorded_write, is_view_of_another, previous_of

from autograd_cy._core.ops.registry import inplace_op
from autograd_cy._core.ops.shapes.reshaping import squeeze, t, transpose, unsqueeze


@cython.final
cdef class TBackward1(ViewCopy):
    pass


@cython.final
cdef class TransposeBackward1(ViewCopy):
    pass


@cython.final
cdef class UnsqueezeBackward1(ViewCopy):
    pass


@cython.final
cdef class SqueezeBackward3(ViewCopy):
    """Removes all dimensions of size 1."""


@cython.final
cdef class SqueezeBackward4(ViewCopy):
    """Removes one dimension."""


@cython.final
cdef class SqueezeBackward5(ViewCopy):
    """Removes several dimensions."""


@cython.final
cdef class AsStridedBackward1(ViewCopy):
    pass


cdef Tensor changed(str operation, object node_class, object function, Tensor self, tuple arguments):
    """Turn the tensor into the view that the function makes of it."""
    cdef bint recorded = is_recorded_write(self, None, operation)
    cdef cnp.ndarray array
    cdef Tensor y = None, previous
    cdef int paused = pause()
    try:
        array = (<Tensor> function(new_tensor(self.array), *arguments)).array
        if recorded:
            previous = previous_of(self)
            own = (<Tensor> function(previous, *arguments)).grad_fn
    finally:
        go_on(paused)
    if recorded:
        y = new_tensor(array)
        record_all(new_node(node_class, constants_of(own, function, arguments)), y, (previous,))
    count_write(self, operation)
    self.array = array
    if recorded:
        take_place(self, y)
    return self


cdef int take_place(Tensor self, Tensor y) except -1:
    """Give the tensor the node and tangents that its new shape has."""
    cdef NodeHooks before = None
    cdef object output = self.output_number
    if y.grad_fn is not None:
        if self.keeps_grad and self.grad_fn is not None:        # hooks stay with the former node
            retain_at(y.grad_fn, 0, self)
            before = retained_at(self)
        self.grad_fn, self.output_number, self.needs_grad = y.grad_fn, 0, True
        if before is not None:
            drop_retained(before, output)
    if is_view_of_another(self):
        self.extras.current = version_of(self)
    if self.extras is not None or y.extras is not None:
        extras_of_tensor(self).tangents = None if y.extras is None else y.extras.tangents
        self.extras.tangent_version = version_of(self)
    return 0


def changing(function):
    """The batching rule: give all samples the shape that the function gives each of them."""
    def rule(call, self, *args, **kwargs):
        cdef BatchedTensor own = <BatchedTensor?> self
        cdef BatchedTensor view = <BatchedTensor?> function(self, *args, **kwargs)
        own.value, own.array = view.value, view.array
        return self
    return rule


def t_(Tensor self):
    """t_() -> Tensor: the tensor itself, transposed: t() in place."""
    return changed("t_", TBackward1, t, self, ())


def transpose_(Tensor self, dim0, dim1):
    """transpose_(dim0, dim1) -> Tensor: the tensor itself with two dimensions exchanged: transpose() in place."""
    return changed("transpose_", TransposeBackward1, transpose, self, (dim0, dim1))


def unsqueeze_(Tensor self, dim):
    """unsqueeze_(dim) -> Tensor: the tensor itself with a dimension of size 1 inserted: unsqueeze() in place."""
    return changed("unsqueeze_", UnsqueezeBackward1, unsqueeze, self, (dim,))


def squeeze_(Tensor self, dim: _Dims | None = None):
    """squeeze_(dim=None) -> Tensor: the tensor itself without dimensions of size 1: squeeze() in place."""
    cdef object node_class = SqueezeBackward3
    if dim is not None:
        node_class = SqueezeBackward5 if isinstance(dim, (tuple, list)) else SqueezeBackward4
    return changed("squeeze_", node_class, squeeze, self, (dim,))


def as_strided_(Tensor self, size: Sequence[int], stride: Sequence[int], storage_offset: int | None = None):
    """as_strided_(size, stride, storage_offset=None) -> Tensor: as_strided() in place."""
    return changed("as_strided_", AsStridedBackward1, as_strided, self, (size, stride, storage_offset))


inplace_op(t_, t, batch=changing(t))
inplace_op(transpose_, transpose, ("transpose_", "swapaxes_", "swapdims_"), changing(transpose))
inplace_op(unsqueeze_, unsqueeze, batch=changing(unsqueeze))
inplace_op(squeeze_, squeeze, batch=changing(squeeze))
inplace_op(as_strided_, as_strided, batch=changing(as_strided))
