"""Recording an operation: its arguments, its node, its tangents, its hooks."""

from cpython.object cimport PyObject

from autograd_cy._core.arrays.buffers cimport converted, copy_in_order
from autograd_cy._core.arrays.dtypes cimport BOOL, INT64, code_of, default_code, default_complex_code, dtype
from autograd_cy._core.graph.anomaly cimport check_result
from autograd_cy._core.graph.context cimport Tangent
from autograd_cy._core.graph.node cimport Node, NodeHooks, connect
from autograd_cy._core.graph.tensor cimport Tensor
from autograd_cy._core.runtime cimport numpy_api as cnp
from autograd_cy._core.runtime.free_threading cimport FREE_THREADED
from autograd_cy._core.runtime.state cimport DETECT_NAN, NUMBERS, current_mode, own_store

# in arguments.pyx
cdef Tensor as_tensor(object value, str operation)
cdef Tensor tensor_argument(object value, str operation, str name, int position)
cdef object as_type(object g, dtype wanted)
cdef long long int64_of(object number) except? -1
cdef int wrap_dim(object dim, int ndim) except -1
cdef tuple shape_of(Tensor x)
cdef tuple broadcast_sizes(tuple a, tuple b)

# in creation_hooks.pyx
cdef int announce(Node node) except -1

# in op_hooks.pyx
cdef int pause() noexcept
cdef void go_on(int paused) noexcept
cdef int observe_forward(Node node, object outputs, object inputs) except -1
cdef bint is_logged() except -1
cdef int observe_start(Node node, tuple gradients) except -1
cdef int observe_end(Node node, tuple results, tuple gradients) except -1

# in tangents.pyx
cdef Tensor tangent_of(Tensor x)
cdef Tangent tangents_now(Tensor x)
cdef bint has_tangent(Tensor x) except -1
cpdef set_tangent(Tensor x, Tensor t)
cdef int set_tangents(Node node, object outputs, object inputs) except -1

# in record.pyx
cdef bint needs_node(Tensor x) except -1
cdef bint any_wanted(object tensors) except -1
cdef Tensor record(Node node, Tensor y, Tensor a)
cdef Tensor record2(Node node, Tensor y, Tensor a, Tensor b)
cdef object record_all(Node node, object outputs, object inputs)

cdef inline int record_first(Node node, Tensor y, int n, Tensor a, Tensor b, Tensor c) except -1:
    """Record `y`, computed from the first n of a, b and c (None: not a tensor)."""
    cdef int mode = current_mode()
    if mode & ~DETECT_NAN:
        record_all(node, y, (a, b, c)[:n])
        return 0
    connect_operand(node, a)
    if n > 1:
        connect_operand(node, b)
    if n > 2:
        connect_operand(node, c)
    enter(node, y)
    if mode:
        check_result(node, y, a, b, c)
    return 0

cdef inline int connect_operand(Node node, Tensor x) except -1:
    return node.add_edge(None, 0) if x is None else connect(node, x)

cdef inline int enter(Node node, Tensor y) except -1:
    """Make `y` the node's output."""
    y.grad_fn = node
    y.needs_grad = True
    return 0

cdef int show(str name, object outputs, tuple inputs) except -1
cdef object shown(str name, object outputs, tuple inputs)
cdef Node new_node(object node_class, tuple constants)
cdef Tensor record_linear(object node_class, tuple constants, Tensor x, object array)
cdef Tensor record_view(object node_class, tuple constants, Tensor x, object array)

# in hooks.pyx
cdef object run_tensor_hooks(NodeHooks hooks, int output, Tensor g)
cdef tuple run_pre_hooks(NodeHooks hooks, tuple gradients)
cdef tuple run_post_hooks(NodeHooks hooks, tuple results, tuple gradients)
cpdef retain_grad(Tensor tensor)
cdef int keep_retained(NodeHooks hooks, int output, Tensor g, bint recorded) except -1
cdef int retain_at(Node node, int output, Tensor tensor) except -1
cdef NodeHooks retained_at(Tensor tensor)
cdef void drop_retained(NodeHooks hooks, object output) noexcept
cdef int run_post_accumulate_hooks(NodeHooks hooks, Tensor leaf) except -1

# in operands.pyx

cdef enum:
    CACHED_NUMBERS = 256

cdef struct CachedNumber:
    PyObject *number
    int dtype_code
    PyObject *array

cdef CachedNumber *cached_numbers       # of all threads; without a GIL each thread has its own

cdef Tensor number_tensor(cnp.ndarray array)

cdef cnp.ndarray keep_number(CachedNumber *place, object number, int dtype_code)
cdef Tensor foreign_operand(object value)
cdef cnp.ndarray scalar_array(Tensor x, object value, int dtype_code)
cdef int extended_code(object number) noexcept


cdef inline int number_code(object number):
    """The dtype code of a Python number or a longdouble; -1 for anything else."""
    kind = type(number)
    if kind is float:
        return default_code()
    if kind is int:
        return INT64
    if kind is bool:
        return BOOL
    if kind is complex:
        return default_complex_code()
    return extended_code(number)


cdef inline cnp.ndarray number_array(object number, int dtype_code):
    """A Python number as a 0-d array. A program's constants are the same objects each time, so the last few are cached."""
    cdef CachedNumber *numbers = <CachedNumber *> own_store(NUMBERS) if FREE_THREADED else cached_numbers
    cdef CachedNumber *place = &numbers[((<size_t> <PyObject *> number >> 4) + dtype_code) % CACHED_NUMBERS]
    if FREE_THREADED and numbers == NULL:       # the thread is ending
        return converted(number, dtype_code)
    if place.number != <PyObject *> number or place.dtype_code != dtype_code:
        return keep_number(place, number, dtype_code)
    return <cnp.ndarray> place.array


cdef inline Tensor tensor_of(object value):
    """The Tensor of an operand: itself, or a new one for NumPy objects; None for numbers and anything else."""
    return <Tensor> value if isinstance(value, Tensor) else foreign_operand(value)


cdef inline int operand_code(Tensor x, object value) except -2:
    """The dtype code of an operand and its Tensor `x`; -1 for a non-operand."""
    return number_code(value) if x is None else code_of(x.array)


cdef inline int rank_of(Tensor x) noexcept:
    """The rank of an operand in promotion: numbers, then 0-d, then dimensions."""
    return 0 if x is None or x.is_number else 2 if cnp.PyArray_NDIM(x.array) else 1


cdef inline cnp.ndarray operand_array(Tensor x, object value, int own, int dtype_code):
    """The array, with dtype `dtype_code`, of an operand of dtype `own`."""
    if x is None:
        return number_array(value, dtype_code)
    if own == dtype_code:
        return x.array
    return scalar_array(x, value, dtype_code) if x.is_number else copy_in_order(x.array, dtype_code)
cdef int common_code(const int *dtype_codes, const int *ranks, int count) except -1
