"""Tensor: an array and its place in the graph."""

from cpython.object cimport PyObject

from autograd_cy._core.arrays.dtypes cimport dtype
from autograd_cy._core.graph.duals cimport Tangent
from autograd_cy._core.graph.node cimport Node
from autograd_cy._core.graph.versions cimport VersionCounter
from autograd_cy._core.runtime cimport numpy_api as cnp
from autograd_cy._core.runtime.free_threading cimport is_unset, load_long
from autograd_cy._core.runtime.lifetime cimport Link


cdef class TensorBase:
    pass


cdef class Tensor(TensorBase):
    cdef Link link
    cdef object __weakref__
    cdef cnp.ndarray array
    cdef Node grad_fn               # of a view: as long as it is current, see NOTE [Views] in views.pyx
    cdef Tensor gradient            # .grad
    cdef VersionCounter counter     # None as long as the version is 0 and nobody shares it
    cdef TensorExtras extras        # what few tensors have, or None
    cdef object attributes          # __dict__, or NULL
    # plain data from here on, all zero in a new tensor
    cdef PyObject *accumulator      # a leaf's AccumulateGrad: borrowed, the node clears it when it dies
    cdef int output_number          # which output of grad_fn this is
    cdef char needs_grad            # a leaf that asks for a gradient, or a recorded result
    cdef char keeps_grad            # retain_grad() was called
    cdef char is_number             # stands for a Python number (rank 0 in promotion)
    cdef char inference             # made in inference mode: see NOTE [Inference tensors] in inference.pyx
    cdef char batched               # a BatchedTensor, whose array is that of one sample: see NOTE [Batching] in batched.pyx

    cdef VersionCounter version_counter(self)


cdef class TensorExtras:
    cdef object hooks               # of a leaf: NodeHooks, or None
    cdef Tangent tangents           # forward mode: that of the innermost level, and with it those of the outer ones
    cdef Node leaf_node             # of an alias that stands for a leaf: the leaf's AccumulateGrad
    cdef Tensor base                # of a view: the tensor whose memory it is in, which is no view itself
    cdef long current               # of a view: the version that `grad_fn` was made for; of what detach_() left: its last
    cdef long tangent_version       # the same of `tangents`
    cdef char creation              # how the view was made
    cdef char grad_code             # of a leaf whose gradient may be of another type: that type's code + 1, or ANY_TYPE
    cdef char is_dual               # make_dual() made the view: its tangent is its own, see case 6 of NOTE [Views]
    cdef bint is_argument           # a transform's own leaf, whose function has returned: see `end_arguments`
    cdef Seldom seldom


cdef class Seldom:
    """What hardly any tensor has."""
    cdef Tensor dual                # of a view of a dual tensor: that one, from which it has its tangent
    cdef tuple replay               # of a view whose nodes are to be made anew after a write: their types and constants
    cdef object former              # of a tensor that was detached in place: a weak reference to the node it had
    cdef int former_output
    cdef long long given            # the dual level at which it is the tangent that make_dual() was given


cdef enum:
    ANY_TYPE = 127

cdef enum:                          # how a view was made
    IN_GRAD_MODE
    AMONG_SEVERAL                   # one of several views that one call returned
    IN_NO_GRAD
    IN_INFERENCE
    IN_FUNCTION                     # by a Function, or an input that it returned


ctypedef object (*UnaryFunction)(object)
ctypedef object (*BinaryFunction)(object, object)

cdef enum:
    ADD
    SUB
    MUL
    DIV
    RSUB
    RDIV
    POW
    MATMUL
    EQ
    NE
    LT
    LE
    GT
    GE
    AND
    OR
    XOR
    ITEM
    OPERATORS

cdef BinaryFunction[OPERATORS] operators
cdef UnaryFunction negative
cdef UnaryFunction invert
cdef void *tensor_type              # Tensor, to compare types with
cdef void *wrapper_type             # BatchedTensor, which batched() alone makes; batched.pyx fills it in

ctypedef int (*Renew)(Tensor view) except -1
cdef Renew renew                    # views.pyx fills it in

cdef Tensor new_tensor(cnp.ndarray array)
cdef Tensor moved_into(object cls, Tensor tensor)
cdef TensorExtras extras_of_tensor(Tensor tensor)
cdef Seldom seldom_of(TensorExtras extras)
cpdef Tensor from_array(cnp.ndarray array)
cpdef Tensor sharing(cnp.ndarray array)
cpdef cnp.ndarray array_of(Tensor tensor)
cdef long version_of(Tensor tensor) noexcept
cdef void bump_version(Tensor tensor)
cdef int count_write(Tensor tensor, str operation) except -1
cdef void share_version(Tensor source, Tensor alias)
cdef int link_view(Tensor source, Tensor view, int creation=*) except -1
cdef bint gained_grad(Tensor view) noexcept
cdef str type_name(Tensor tensor)
cpdef extend(str name, value)


cdef extern from "free_threading.h":
    PyObject **extras_slot "autograd_cy_extras"(Tensor tensor) noexcept

cdef inline bint has_extras(Tensor x) noexcept:
    """Whether `extras` may be read: another thread may be making them."""
    return not is_unset(extras_slot(x))


cdef inline bint wants_grad(Tensor x) noexcept:
    """Whether the tensor requires grad; a view also does if its base came to."""
    return x.needs_grad or (has_extras(x) and gained_grad(x))


cdef inline int make_current(Tensor x) except -1:
    """Give a view whose base was written to its new place in the graph; to be called before `grad_fn` is read."""
    if has_extras(x) and x.extras.base is not None and load_long(&x.counter.version) != load_long(&x.extras.current):
        renew(x)
    return 0
