"""Tensor: its data, views, gradient, class and life."""

from cpython.object cimport PyObject

from autograd_cy._core.graph.context cimport Tangent
from autograd_cy._core.graph.memory cimport VersionCounter
from autograd_cy._core.graph.node cimport Node
from autograd_cy._core.runtime cimport numpy_api as cnp
from autograd_cy._core.runtime.free_threading cimport is_unset, load_long
from autograd_cy._core.runtime.state cimport Link

# in tensor.pyx

cdef class TensorBase:
    pass


cdef class Tensor(TensorBase):
    cdef Link link
    cdef object __weakref__
    cdef cnp.ndarray array
    cdef Node grad_fn               # of a view: valid while it is current, see NOTE [Views] in views.pyx
    cdef Tensor gradient            # .grad
    cdef VersionCounter counter     # None while the version is 0 and not shared
    cdef TensorExtras extras        # rarely used fields, or None
    cdef object attributes          # __dict__, or NULL
    # plain data from here on, all zero in a new tensor
    cdef PyObject *accumulator      # a leaf's AccumulateGrad: borrowed, a dying node clears it
    cdef int output_number          # the index of this output of grad_fn
    cdef char needs_grad            # a leaf that requires grad, or a recorded result
    cdef char keeps_grad            # retain_grad() was called
    cdef char is_number             # represents a Python number (rank 0 in promotion)
    cdef char inference             # made in inference mode: see NOTE [Inference tensors] in inference.pyx
    cdef char batched               # a BatchedTensor, whose array is one sample: see NOTE [Batching] in batched.pyx

    cdef VersionCounter version_counter(self)


cdef class TensorExtras:
    cdef object hooks               # of a leaf: NodeHooks, or None
    cdef Tangent tangents           # forward mode: the innermost level's tangent, linked to the outer ones
    cdef Node leaf_node             # of an alias of a leaf: the leaf's AccumulateGrad
    cdef Tensor base                # of a view: the tensor that owns the memory, which is no view itself
    cdef long current               # of a view: the version that `grad_fn` belongs to; after detach_(): the last one
    cdef long tangent_version       # the same for `tangents`
    cdef char creation              # how the view was made
    cdef char grad_code             # of a leaf whose gradient may have another dtype: its code + 1, or ANY_TYPE
    cdef char is_dual               # a view from make_dual() with its own tangent, see case 6 of NOTE [Views]
    cdef bint is_argument           # a leaf made by a transform whose function has returned: see `end_arguments`
    cdef Seldom seldom


cdef class Seldom:
    """Fields that hardly any tensor uses."""
    cdef Tensor dual                # of a view of a dual tensor: the dual tensor, from which it takes its tangent
    cdef tuple replay               # of a view whose nodes are rebuilt after a write: their types and constants
    cdef object former              # of a tensor detached in place: a weak reference to its former node
    cdef int former_output
    cdef long long given            # the dual level at which make_dual() was given this tensor as a tangent


cdef enum:
    ANY_TYPE = 127

cdef enum:                          # how a view was made
    IN_GRAD_MODE
    AMONG_SEVERAL                   # one of several views that one call returned
    IN_NO_GRAD
    IN_INFERENCE
    IN_FUNCTION                     # made by a Function, or an input that it returned


cdef void *tensor_type              # Tensor, for comparing types

ctypedef int (*Renew)(Tensor view, bint of_tangents) except -1
cdef Renew renew                    # writes/inplace/views.pyx sets it

cdef TensorExtras extras_of_tensor(Tensor tensor)
cdef Seldom seldom_of(TensorExtras extras)

cdef extern from "free_threading.h":
    PyObject **extras_slot "autograd_cy_extras"(Tensor tensor) noexcept

cdef inline bint has_extras(Tensor x) noexcept:
    """Whether `extras` may be read, even if another thread is setting it."""
    return not is_unset(extras_slot(x))


cdef inline bint gained_grad(Tensor view) noexcept:
    """Whether the base of a view requires grad: then the view does, too, even if it was made in no_grad mode."""
    return view.extras.base is not None and view.extras.base.needs_grad


cdef inline bint wants_grad(Tensor x) noexcept:
    """Whether the tensor requires grad; a view also does if its base does."""
    return x.needs_grad or (has_extras(x) and gained_grad(x))


cdef inline int make_current(Tensor x) except -1:
    """Renew the place in the graph of a view whose base was written; must be called before `grad_fn` is read."""
    if has_extras(x) and x.extras.base is not None and load_long(&x.counter.version) != load_long(&x.extras.current):
        renew(x, False)
    return 0

# in tensor_views.pyx
cdef long version_of(Tensor tensor) noexcept
cdef void bump_version(Tensor tensor)
cdef int count_write(Tensor tensor, str operation) except -1
cdef void share_version(Tensor source, Tensor alias)
cdef int link_view(Tensor source, Tensor view, int creation=*) except -1

# in tensor_arrays.pyx
cpdef Tensor from_array(cnp.ndarray array)
cpdef Tensor sharing(cnp.ndarray array)
cpdef cnp.ndarray array_of(Tensor tensor)

# in tensor_gradient.pyx
cdef str type_name(Tensor tensor)

# in tensor_class.pyx
cdef dict facade                # special methods that Tensor delegates, by name; set by the Python layer
cpdef extend(str name, value)

# in tensor_life.pyx
cdef Tensor new_tensor(cnp.ndarray array)
cdef Tensor moved_into(object cls, Tensor tensor)
