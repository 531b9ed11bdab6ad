"""Birth and death of tensors: spares that are used again, instances of subclasses, and freeing without recursion."""

from cpython.object cimport PyObject, PyTypeObject
from cpython.ref cimport Py_INCREF

from autograd_cy._core.arrays.buffers cimport keep_spare
from autograd_cy._core.runtime cimport numpy_api as cnp
from autograd_cy._core.runtime.free_threading cimport FREE_THREADED, is_unique, peek_int
from autograd_cy._core.runtime.state cimport (
    TENSOR, TENSORS, Destructor, Link, Spares, begin_death, declare_store, declared_store, drop_all, end_life,
    in_inference_mode, inference_settings, lay_aside, owner_of, release, revived, watch)


ctypedef object (*Constructor)(PyTypeObject *, PyObject *, PyObject *)

cdef extern from *:
    """
    #define attributes_slot(tensor) (&(tensor)->attributes)
    #define link_of(tensor) (&(tensor)->link)
    #define weak_references(tensor) ((tensor)->__weakref__)
    #define clear_plain_data(tensor) \
        memset(&(tensor)->accumulator, 0, (char *) ((tensor) + 1) - (char *) &(tensor)->accumulator)
    """
    PyObject **attributes_slot(Tensor tensor)
    Link *link_of(Tensor tensor) noexcept
    void *weak_references(Tensor tensor)
    void clear_plain_data(Tensor tensor)

cdef extern from "Python.h":
    void Py_CLEAR(PyObject *)
    PyTypeObject *Py_TYPE(PyObject *)
    ctypedef struct TypeObject "PyTypeObject":
        Destructor tp_dealloc
        Constructor tp_new
        void *tp_vectorcall
        unsigned long tp_flags
    unsigned long Py_TPFLAGS_HEAPTYPE

cdef Destructor compiled_dealloc = NULL
cdef Constructor compiled_new = NULL
cdef Spares spares              # of all threads; without a GIL each thread has its own
spares.n = 0


cdef Tensor new_tensor(cnp.ndarray array):
    """A Tensor on an array with a supported dtype, which is not checked."""
    cdef Tensor tensor
    cdef PyObject *spare = revived(spares_here())
    if spare != NULL:
        tensor = <Tensor> spare
        clear_plain_data(tensor)
        watch(&tensor.link, TENSOR)
    else:
        tensor = compiled_new(<PyTypeObject *> Tensor, <PyObject *> (), NULL)
    tensor.array = array
    if peek_int(&inference_settings):
        tensor.inference = in_inference_mode()
    return tensor


cdef object constructed(PyTypeObject *cls, PyObject *args, PyObject *kwargs):
    """tp_new for calls of Tensor or a subclass: the facade makes the tensor."""
    if not (<TypeObject *> cls).tp_flags & Py_TPFLAGS_HEAPTYPE and <void *> cls != tensor_type:
        # a compiled subclass, BatchedTensor: its __new__ and __init__ refuse users
        return compiled_new(cls, <PyObject *> (), NULL)
    made = facade["construct"](() if args == NULL else <object> args, {} if kwargs == NULL else <object> kwargs)
    return moved_into(<object> cls, <Tensor> made)


cdef Tensor moved_into(object cls, Tensor tensor):
    """An instance of a subclass with all data of `tensor`, which is not used elsewhere; calls no __new__ or __init__."""
    cdef Tensor instance
    if <void *> cls == tensor_type:
        return tensor
    if tensor.batched:                  # an instance would hold one sample only
        raise RuntimeError("vmap: a tensor within vmap stands for all samples of a batch, and can't become an instance of the "
                           f"subclass {cls.__name__} of Tensor: do that with the whole batch, outside of vmap.")
    instance = compiled_new(<PyTypeObject *> cls, <PyObject *> (), NULL)
    instance.array, instance.grad_fn, instance.output_number = tensor.array, tensor.grad_fn, tensor.output_number
    instance.counter, instance.extras = tensor.counter, tensor.extras
    instance.needs_grad, instance.is_number, instance.inference = tensor.needs_grad, tensor.is_number, tensor.inference
    tensor.grad_fn = tensor.extras = None
    return instance


# death

cdef void free_tensor(PyObject *self) noexcept:
    """tp_dealloc: passes on `grad_fn`, and keeps the rest as a spare, or frees it as Cython does; see free_node."""
    begin_death(self, &(<Tensor> self).link, TENSOR, weak_references(<Tensor> self))
    hand_grad_fn_over(<Tensor> self)
    if Py_TYPE(self) != <PyTypeObject *> tensor_type:
        end_life(self, compiled_dealloc)
        return
    empty(<Tensor> self)
    lay_aside(self, spares_here(), compiled_dealloc)


cdef int empty(Tensor tensor) noexcept:
    """Release all fields of a dying tensor; each one is None afterwards."""
    if tensor.array is not None:
        keep_spare(<PyObject *> tensor.array)
        tensor.array = None
    if tensor.grad_fn is not None:
        tensor.grad_fn = None
    if tensor.gradient is not None:
        tensor.gradient = None
    if tensor.counter is not None:
        tensor.counter = None
    if tensor.extras is not None:
        tensor.extras = None
    if attributes_slot(tensor)[0] != NULL:
        Py_CLEAR(attributes_slot(tensor)[0])
    return 0


cdef int hand_grad_fn_over(Tensor tensor) noexcept:
    cdef Link *link
    if tensor.grad_fn is not None and is_unique(<PyObject *> tensor.grad_fn):
        link = &tensor.grad_fn.link
        Py_INCREF(tensor.grad_fn)      # the reference that release() gives up
        tensor.grad_fn = None
        release(link)
    return 0


# spares

cdef inline Spares *spares_here() noexcept:
    return <Spares *> declared_store(TENSORS) if FREE_THREADED else &spares


cdef void empty_store(void *store) noexcept:
    drop_all(<Spares *> store, compiled_dealloc)


def drop_spares():
    """drop_spares(): free the spare tensors (without a GIL, this thread's)."""
    drop_all(spares_here(), compiled_dealloc)


cdef void take_over():
    """Give the type its own allocation and deallocation."""
    global compiled_dealloc, compiled_new
    cdef TypeObject *type = <TypeObject *> Tensor
    compiled_dealloc, compiled_new = type.tp_dealloc, type.tp_new
    type.tp_dealloc, type.tp_new = free_tensor, constructed
    type.tp_vectorcall = NULL                          # Cython's calls the compiled tp_new


if owner_of(link_of(<Tensor> None)) != <PyObject *> None:    # only an address is computed
    raise ImportError("Tensor.link is not where lifetime.owner_of expects it")
take_over()
declare_store(TENSORS, sizeof(Spares), empty_store)
