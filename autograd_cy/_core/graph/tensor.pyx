"""Tensor: an array and its place in the graph.

The type holds only data and operators; all other methods are attached to it at import (`extend`): operations from the op
table, the facade's methods from `_tensor`. Results of operations have exactly this type, so that dead ones can be reused;
if an operand has a subclass, NOTE [Overrides] moves the results into instances of that.
"""

cimport cython
from cpython.object cimport Py_EQ, Py_GT, Py_LE, Py_LT, Py_NE, PyObject, PyTypeObject
from cpython.buffer cimport PyBUF_WRITABLE, PyObject_GetBuffer
from cpython.ref cimport Py_INCREF

from autograd_cy._core.arrays.buffers cimport keep_spare, strided_view
from autograd_cy._core.arrays.dtypes cimport as_dtype, code_of, dtype, dtype_of, is_differentiable, long_word, type_word
from autograd_cy._core.arrays.row_zeros cimport forget_rows
from autograd_cy._core.graph.guard cimport note_view, view_of
from autograd_cy._core.graph.layouts cimport is_sparse
from autograd_cy._core.graph.operators cimport (
    ADD, AND, DIV, EQ, GE, GT, INVERT, ITEM, LE, LT, MATMUL, MUL, NE, NEG, OR, POW, RDIV, RSUB, SUB, XOR, operate)
from autograd_cy._core.graph.versions cimport VersionCounter, count_named, count_unnamed
from autograd_cy._core.runtime cimport numpy_api as cnp
from autograd_cy._core.runtime.inference cimport flag_error, in_inference_mode, version_error
from autograd_cy._core.runtime.free_threading cimport (
    FREE_THREADED, Hold, hold, is_unique, is_unset, let_go, load_long, peek_int, set_once)
from autograd_cy._core.runtime.lifetime cimport (
    TENSOR, Destructor, Link, Spares, begin_death, drop_all, end_life, hide, lay_aside, owner_of, release, revived, watch)
from autograd_cy._core.runtime.modes cimport ask, inference_settings, own_modes
from autograd_cy._core.runtime.own cimport TENSORS, declare_store, declared_store
from autograd_cy._core.runtime.state cimport INFERENCE, NO_GRAD, REPLAY_VIEWS, ThreadState, thread_state

import numpy as np

from autograd_cy._core.runtime.argument_errors import wrong_self

cnp.import_array()

cdef extern from *:
    """
    #define attributes_slot(tensor) (&(tensor)->attributes)
    #define counter_slot(tensor) ((PyObject **) &(tensor)->counter)
    #define seldom_slot(extras) ((PyObject **) &(extras)->seldom)
    #define weak_references(tensor) ((tensor)->__weakref__)
    #define clear_plain_data(tensor) \
        memset(&(tensor)->accumulator, 0, (char *) ((tensor) + 1) - (char *) &(tensor)->accumulator)
    """
    PyObject **attributes_slot(Tensor tensor)
    PyObject **counter_slot(Tensor tensor) noexcept
    PyObject **seldom_slot(TensorExtras extras) noexcept
    void *weak_references(Tensor tensor)
    void clear_plain_data(Tensor tensor)

ctypedef object (*Constructor)(PyTypeObject *, PyObject *, PyObject *)

cdef extern from "Python.h":
    void Py_CLEAR(PyObject *)
    PyTypeObject *Py_TYPE(PyObject *)
    void PyType_Modified(PyTypeObject *type)
    ctypedef struct TypeObject "PyTypeObject":
        Py_ssize_t tp_dictoffset
        const char *tp_name
        PyObject *tp_dict
        Destructor tp_dealloc
        Constructor tp_new
        void *tp_vectorcall
        unsigned long tp_flags
    unsigned long Py_TPFLAGS_HEAPTYPE
    unsigned long Py_TPFLAGS_IMMUTABLETYPE

cdef Destructor compiled_dealloc = NULL
cdef Constructor compiled_new = NULL
cdef Spares spares              # of all threads; without a GIL each thread has its own
spares.n = 0
cdef dict facade = {}      # set by the Python layer: special methods, the Size class


@cython.final
@cython.freelist(256)
cdef class TensorExtras:
    pass


@cython.final
cdef class Seldom:
    pass


cdef class TensorBase:
    """The base of Tensor: it has all of Tensor's own methods, so that `del Tensor.exp` undoes `Tensor.exp = f`."""


cdef class Tensor(TensorBase):
    """A NumPy array that knows how it was computed.

    >>> import autograd_cy as ag
    >>> x = ag.tensor([1.0, 2.0], requires_grad=True)
    >>> (x * x).sum().backward()
    >>> x.grad
    tensor([2., 4.])
    """

    def __cinit__(self):
        hide(&self.link)
        watch(&self.link, TENSOR)
        attributes_slot(self)[0] = NULL        # was None

    cdef VersionCounter version_counter(self):
        if is_unset(counter_slot(self)):
            set_once(self, counter_slot(self), VersionCounter.__new__(VersionCounter))
        return self.counter

    # attributes

    @property
    def shape(self):
        """The sizes of the dimensions, a Size (a subclass of tuple)."""
        cdef int axis
        sizes = tuple([cnp.PyArray_DIM(self.array, axis) for axis in range(cnp.PyArray_NDIM(self.array))])
        return tuple.__new__(facade["Size"], sizes)

    @property
    def ndim(self):
        """The number of dimensions."""
        return self.array.ndim

    @property
    def dtype(self):
        """The dtype of the elements."""
        return dtype_of(code_of(self.array))

    @property
    def is_leaf(self):
        """Whether no recorded operation computed the tensor."""
        make_current(self)
        return self.grad_fn is None

    @property
    def output_nr(self):
        """The index of this tensor among the outputs of `grad_fn`."""
        make_current(self)
        return self.output_number

    @property
    def retains_grad(self):
        """Whether `.grad` of this non-leaf tensor is kept."""
        return self.keeps_grad != 0 and self.grad_fn is not None

    @property
    def _version(self):
        """The number of in-place writes to the tensor's memory; RuntimeError for an inference tensor."""
        if self.inference:
            raise version_error()
        return version_of(self)

    def is_inference(self):
        """is_inference() -> bool: whether the tensor was made in inference mode.

        >>> import autograd_cy as ag
        >>> with ag.inference_mode():
        ...     ag.ones(2).is_inference()
        True
        """
        if not isinstance(self, Tensor):
            raise wrong_self(self, Tensor)
        return self.inference != 0

    @property
    def _base(self):
        """The tensor that this one is a view of (for a view of a view, the first one), or None."""
        return self.extras.base if has_extras(self) else None

    def _is_view(self):
        """_is_view() -> bool: whether the tensor is recorded as a view of another tensor, whose memory it shares."""
        if not isinstance(self, Tensor):
            raise wrong_self(self, Tensor)
        return has_extras(self) and self.extras.base is not None

    @property
    def requires_grad(self):
        """Whether operations on the tensor are recorded; it may be set on leaves only."""
        return wants_grad(self)

    @requires_grad.setter
    def requires_grad(self, value):
        make_current(self)
        if not isinstance(value, bool):
            raise RuntimeError(f"requires_grad must be a bool, not {type(value).__name__}")
        if self.grad_fn is not None and value:
            raise RuntimeError("you can only change requires_grad flags of leaf variables. This one was computed by "
                               f"{self.grad_fn.name()} and requires grad already.")
        set_requires_grad(self, value, "only Tensors of floating point and complex dtype can require gradients")

    @requires_grad.deleter
    def requires_grad(self):
        raise RuntimeError("requires_grad must be a bool: it can be set to False, but not deleted")

    def requires_grad_(self, bint requires_grad=True):
        """requires_grad_(requires_grad=True) -> Tensor: set the flag in place and return the tensor."""
        if not isinstance(self, Tensor):
            raise wrong_self(self, Tensor)
        set_requires_grad(self, requires_grad, "only Tensors of floating point dtype can require gradients")
        return self

    @property
    def grad(self):
        """The gradient that backward() accumulated: a Tensor of the same shape, or None."""
        if self.gradient is None and self.grad_fn is not None and not self.keeps_grad:
            facade["warn_grad_of_non_leaf"](self)
        return shown_gradient(self)

    @grad.setter
    def grad(self, value):
        if value is not None:
            check_gradient(self, value)
        set_gradient(self, <Tensor> value)

    @grad.deleter
    def grad(self):
        set_gradient(self, None)

    @property
    def grad_dtype(self):
        """The dtype that the `.grad` of this leaf must have: by default the leaf's own; None if any dtype is allowed."""
        if not self.is_leaf:
            raise RuntimeError("grad_dtype can only be accessed on leaf tensors.")
        cdef int dtype_code = self.extras.grad_code if has_extras(self) else 0
        return None if dtype_code == ANY_TYPE else dtype_of(dtype_code - 1 if dtype_code else code_of(self.array))

    @grad_dtype.setter
    def grad_dtype(self, value):
        set_grad_type(self, value)

    @grad_dtype.deleter
    def grad_dtype(self):
        raise RuntimeError("grad_dtype can't be deleted; set it to the tensor's own dtype")

    # operators

    def __add__(self, other):
        return operate(ADD, self, other)

    def __radd__(self, other):
        return operate(ADD, self, other)

    def __sub__(self, other):
        return operate(SUB, self, other)

    def __rsub__(self, other):
        return operate(RSUB, self, other)

    def __mul__(self, other):
        return operate(MUL, self, other)

    def __rmul__(self, other):
        return operate(MUL, self, other)

    def __truediv__(self, other):
        return operate(DIV, self, other)

    def __rtruediv__(self, other):
        return operate(RDIV, self, other)

    def __pow__(self, exponent, modulo):
        return NotImplemented if modulo is not None else operate(POW, self, exponent)

    def __rpow__(self, base, modulo):
        return NotImplemented if modulo is not None else operate(POW, base, self)

    def __matmul__(self, other):
        return operate(MATMUL, self, other)

    def __rmatmul__(self, other):
        return operate(MATMUL, other, self)

    def __and__(self, other):
        return operate(AND, self, other)

    def __rand__(self, other):
        return operate(AND, self, other)

    def __or__(self, other):
        return operate(OR, self, other)

    def __ror__(self, other):
        return operate(OR, self, other)

    def __xor__(self, other):
        return operate(XOR, self, other)

    def __rxor__(self, other):
        return operate(XOR, self, other)

    def __neg__(self):
        return operate(NEG, self, None)

    def __invert__(self):
        return operate(INVERT, self, None)

    def __richcmp__(self, other, int operation):
        if operation == Py_EQ:
            return operate(EQ, self, other)
        if operation == Py_NE:
            return operate(NE, self, other)
        if operation == Py_LT:
            return operate(LT, self, other)
        if operation == Py_LE:
            return operate(LE, self, other)
        if operation == Py_GT:
            return operate(GT, self, other)
        return operate(GE, self, other)

    def __hash__(self):
        return <Py_hash_t> (<size_t> <PyObject *> self >> 4)

    # special methods that operations and the Python layer set

    def __pos__(self):
        return facade["__pos__"](self)

    def __abs__(self):
        return facade["__abs__"](self)

    def __iadd__(self, other):
        return written_by("__iadd__", self, other)

    def __isub__(self, other):
        return written_by("__isub__", self, other)

    def __imul__(self, other):
        return written_by("__imul__", self, other)

    def __itruediv__(self, other):
        return written_by("__itruediv__", self, other)

    def __ipow__(self, other):
        return written_by("__ipow__", self, other)

    def __iand__(self, other):
        return written_by("__iand__", self, other)

    def __ior__(self, other):
        return written_by("__ior__", self, other)

    def __ixor__(self, other):
        return written_by("__ixor__", self, other)

    def __mod__(self, other):
        return facade["__mod__"](self, other)

    def __rmod__(self, other):
        return facade["__mod__"](other, self)

    def __imod__(self, other):
        return written_by("__imod__", self, other)

    def __floordiv__(self, other):
        return facade["__floordiv__"](self, other)

    def __rfloordiv__(self, other):
        return facade["__floordiv__"](other, self)

    def __ifloordiv__(self, other):
        return written_by("__ifloordiv__", self, other)

    def __lshift__(self, other):
        return facade["__lshift__"](self, other)

    def __rlshift__(self, other):
        return facade["__lshift__"](other, self)

    def __ilshift__(self, other):
        return written_by("__ilshift__", self, other)

    def __rshift__(self, other):
        return facade["__rshift__"](self, other)

    def __rrshift__(self, other):
        return facade["__rshift__"](other, self)

    def __irshift__(self, other):
        return written_by("__irshift__", self, other)

    def __getitem__(self, index):
        return operate(ITEM, self, index)

    def __setitem__(self, index, value):
        facade["__setitem__"](self, index, value)

    def __delitem__(self, index):
        raise TypeError("Tensor does not support deleting items")

    def __getbuffer__(self, Py_buffer *buffer, int flags):
        """memoryview(tensor) has the memory of numpy(). A request for a writable buffer (`readinto`) counts as a write."""
        try:
            if has_extras(self) and self.extras.tangents is not None:
                facade["check_without_tangent"](self)
            if <void *> Py_TYPE(<PyObject *> self) != tensor_type and (<object> self).is_meta:
                raise BufferError("a tensor on the device 'meta' has no elements")
            array = numpy(self)
        except RuntimeError as error:
            raise BufferError(str(error)) from None
        PyObject_GetBuffer(array, buffer, flags)
        if flags & PyBUF_WRITABLE:
            bump_version(self)

    def __contains__(self, element):
        return facade["__contains__"](self, element)

    def __len__(self):
        if self.array.ndim == 0:
            raise TypeError("len() of a 0-d tensor")
        return self.array.shape[0]

    def __iter__(self):
        return facade["__iter__"](self)

    def __bool__(self):
        return facade["__bool__"](self)

    def __int__(self):
        return facade["__int__"](self)

    def __float__(self):
        return facade["__float__"](self)

    def __complex__(self):
        return facade["__complex__"](self)

    def __index__(self):
        return facade["__index__"](self)

    def __repr__(self):
        return facade["__repr__"](self)


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


cdef Tensor new_tensor(cnp.ndarray array):
    """A Tensor on an array with a supported dtype, which is not checked."""
    cdef Tensor tensor
    cdef PyObject *spare = revived(spares_here())
    if spare != NULL:
        tensor = <Tensor> spare
        clear_plain_data(tensor)
        watch(&tensor.link, TENSOR)
    else:
        tensor = Tensor.__new__(Tensor)
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


cdef inline Spares *spares_here() noexcept:
    return <Spares *> declared_store(TENSORS) if FREE_THREADED else &spares


cdef void empty_store(void *store) noexcept:
    drop_all(<Spares *> store, compiled_dealloc)


def drop_spares():
    """drop_spares(): free the spare tensors (without a GIL, this thread's)."""
    drop_all(spares_here(), compiled_dealloc)


cdef TensorExtras extras_of_tensor(Tensor tensor):
    if is_unset(extras_slot(tensor)):
        set_once(tensor, extras_slot(tensor), TensorExtras.__new__(TensorExtras))
    return tensor.extras


cdef Seldom seldom_of(TensorExtras extras):
    if is_unset(seldom_slot(extras)):
        set_once(extras, seldom_slot(extras), Seldom.__new__(Seldom))
    return extras.seldom


cpdef Tensor from_array(cnp.ndarray array):
    """from_array(array) -> Tensor: a tensor on the memory of an ndarray; TypeError for an unsupported dtype."""
    check_elements(array)
    return new_tensor(array)


cdef int check_elements(cnp.ndarray array) except -1:
    if not cnp.PyArray_ISNOTSWAPPED(array):
        raise ValueError("given numpy array has byte order different from the native byte order. "
                         "Conversion between byte orders is currently not supported.")
    code_of(array)
    return 0


cpdef Tensor sharing(cnp.ndarray array):
    """sharing(array) -> Tensor: like `from_array`, but on a view of the user's array, whose shape may then change."""
    cdef cnp.ndarray view
    check_elements(array)
    view = strided_view(array, cnp.PyArray_BYTES(array), cnp.PyArray_NDIM(array), cnp.PyArray_DIMS(array),
                        cnp.PyArray_STRIDES(array))
    if cnp.get_array_base(array) is not None:       # the view's base is then the owner of the memory
        note_view(view, array)
    return new_tensor(view)


def numpy(Tensor self, *, force=False):
    """numpy(force=False) -> ndarray: an array on the tensor's memory.

    RuntimeError if the tensor requires grad, unless forced or in no_grad mode.
    """
    if wants_grad(self) and not force and not own_modes() & NO_GRAD:
        raise RuntimeError("Can't call numpy() on Tensor that requires grad. Use tensor.detach().numpy() instead.")
    return view_of(array_of(self))


cpdef cnp.ndarray array_of(Tensor tensor):
    """array_of(tensor) -> ndarray: the tensor's own array; RuntimeError for batched and sparse tensors."""
    if is_sparse(tensor):
        raise RuntimeError("Cannot access data pointer of Tensor that doesn't have storage: the elements of a sparse tensor "
                           "are those of its values(); call to_dense() first")
    if tensor.batched:
        raise RuntimeError("Cannot access data pointer of Tensor that doesn't have storage: within vmap a tensor stands for "
                           "all samples of a batch, whose elements can't be read")
    return tensor.array


def metadata_of(Tensor tensor):
    """metadata_of(tensor) -> ndarray: an array with the tensor's shape, dtype and strides; its elements must not be read."""
    return tensor.array


cpdef Tensor data_of(Tensor tensor):
    """data_of(tensor) -> Tensor: the same memory without history, with its own version."""
    if is_sparse(tensor):
        return <Tensor> (<object> tensor).detach()
    cdef Tensor alias = new_tensor(tensor.array)
    alias.inference = tensor.inference
    return alias


cdef long version_of(Tensor tensor) noexcept:
    return 0 if tensor.counter is None else load_long(&tensor.counter.version)


cdef void bump_version(Tensor tensor):
    """Count a write without naming an operation."""
    if not tensor.inference:
        count_unnamed(tensor.version_counter())


cdef int count_write(Tensor tensor, str operation) except -1:
    """Count a write, and note the operation and the user's code; a write through a view is noted as partial."""
    if not tensor.inference:
        count_named(tensor.version_counter(), tensor.array, has_extras(tensor) and tensor.extras.base is not None,
                    operation)
    return 0


cdef void share_version(Tensor source, Tensor alias):
    """Let a view or detached alias share the version counter of its source."""
    alias.inference = source.inference
    if not source.inference:
        alias.counter = source.version_counter()


cdef int link_view(Tensor source, Tensor view, int creation=IN_GRAD_MODE) except -1:
    """Make `view`, which shares memory with `source`, a view of it, or of its base if it is a view."""
    cdef TensorExtras extras = TensorExtras.__new__(TensorExtras), own = source.extras if has_extras(source) else None
    cdef ThreadState *state = thread_state()
    cdef int mode
    share_version(source, view)
    if source.inference:                        # it counts no writes, and operations on it are not recorded
        view.grad_fn, view.needs_grad = None, False
        return 0
    if state.mode:
        mode = ask(state)
        if mode & (NO_GRAD | INFERENCE):
            creation = IN_INFERENCE if mode & INFERENCE else IN_NO_GRAD
    if own is not None and own.base is not None:
        extras.base = own.base
        extras.creation = creation if creation != IN_GRAD_MODE else own.creation
        if own.is_dual:
            seldom_of(extras).dual = source
        elif own.seldom is not None and own.seldom.dual is not None:
            seldom_of(extras).dual = own.seldom.dual
    else:
        extras.base = source
        extras.creation = creation
    extras.current = load_long(&view.counter.version)
    extras.tangent_version = extras.current
    if view.extras is not None:                 # it already has a tangent
        extras.tangents = view.extras.tangents
    view.extras = extras
    if state.mode & REPLAY_VIEWS:
        note_replay(source, view)
    return 0


cdef int note_replay(Tensor source, Tensor view) except -1:
    """Under _force_original_view_tracking(), keep on a view the nodes between it and its base."""
    cdef tuple before = ()
    if view.extras.base is not source:
        if source.extras.seldom is None or source.extras.seldom.replay is None:
            return 0
        before = source.extras.seldom.replay
    if view.grad_fn is not None and view.extras.creation == IN_GRAD_MODE:
        seldom_of(view.extras).replay = (*before, (type(view.grad_fn), view.grad_fn.constants))
    return 0


cdef bint gained_grad(Tensor view) noexcept:
    """Whether the base of a view requires grad: then the view does, too, even if it was made in no_grad mode."""
    return view.extras.base is not None and view.extras.base.needs_grad


def gradient_of(Tensor self):
    """`.grad` without the warning for non-leaf tensors."""
    return shown_gradient(self)


cdef inline Tensor shown_gradient(Tensor self):
    """`.grad` for a caller that may write to it: case 2 of NOTE [Rows]."""
    cdef Tensor gradient
    cdef Hold section
    hold(&section, <PyObject *> self)
    gradient = self.gradient
    if gradient is not None:
        forget_rows(gradient.array)
    let_go(&section)
    return gradient


cdef void set_gradient(Tensor tensor, Tensor gradient) noexcept:
    cdef Hold section
    cdef Tensor _before                     # released after the lock
    hold(&section, <PyObject *> tensor)
    _before, tensor.gradient = tensor.gradient, gradient
    let_go(&section)


cdef str type_name(Tensor tensor):
    """PyTorch's name of a tensor type for messages: `torch.FloatTensor`."""
    return f"torch.{type_word(code_of(tensor.array))}Tensor"


cdef int set_requires_grad(Tensor tensor, bint value, str message) except -1:
    make_current(tensor)
    if tensor.batched:
        raise RuntimeError("You are attempting to call Tensor.requires_grad_() inside of a function being transformed by "
                           "vmap. This is unsupported, please attempt to use the transforms of func (e.g. grad, vjp, jacrev, "
                           "jacfwd, hessian) or call requires_grad_() outside of a function being transformed instead.")
    if tensor.grad_fn is not None:
        if value:
            return 0
        raise RuntimeError("you can only change requires_grad flags of leaf variables. If you want to use a computed "
                           "variable in a subgraph that doesn't require differentiation use "
                           "var_no_grad = var.detach().")
    if value and not is_differentiable(code_of(tensor.array)):
        raise RuntimeError(f"{message}, not {dtype_of(code_of(tensor.array))}")
    if value and tensor.inference and not in_inference_mode():
        raise flag_error()
    tensor.needs_grad = value
    return 0


cdef int check_gradient(Tensor tensor, object value) except -1:
    """Refuse a value that can't be the `.grad` of `tensor`."""
    if not isinstance(value, Tensor):
        raise TypeError(f"assigned grad expected to be a Tensor or None but got grad of type {type(value).__name__}")
    if value is tensor:
        raise RuntimeError("can't assign Variable as its own grad")
    cdef Tensor g = <Tensor> value
    cdef int own = code_of(g.array), dtype_code = code_of(tensor.array)
    if has_extras(tensor) and tensor.extras.grad_code:
        dtype_code = own if tensor.extras.grad_code == ANY_TYPE else tensor.extras.grad_code - 1
    if own != dtype_code:
        raise RuntimeError(f"attempting to assign a gradient with dtype '{long_word(own)}' to a tensor with grad_dtype "
                           f"'{long_word(dtype_code)}'. The gradient must match the tensor's dtype")
    if not cnp.PyArray_SAMESHAPE(g.array, tensor.array):
        raise RuntimeError(f"attempting to assign a gradient of size '{list(g.shape)}' to a tensor of size "
                           f"'{list(tensor.shape)}'. Please ensure that the gradient and the tensor are the same size")
    return 0


cdef int set_grad_type(Tensor tensor, object value) except -1:
    """Let the `.grad` of a leaf have another dtype, or any dtype (None)."""
    cdef int dtype_code
    if value is not None and not isinstance(value, dtype):
        raise RuntimeError(f"grad_dtype must be a torch.dtype or None, but got {type(value).__name__}")
    if not tensor.is_leaf:
        raise RuntimeError("grad_dtype can only be set on leaf tensors.")
    dtype_code = ANY_TYPE if value is None else as_dtype(value).dtype_code + 1
    if value is not None and tensor.gradient is not None and tensor.gradient.dtype is not value:
        raise RuntimeError(f"Cannot set grad_dtype to '{value}' because there is already a gradient with dtype "
                           f"'{tensor.gradient.dtype}'. Please clear the gradient (.grad = None) before changing grad_dtype, "
                           "or ensure the new grad_dtype matches the existing gradient's dtype.")
    extras_of_tensor(tensor).grad_code = 0 if dtype_code == code_of(tensor.array) + 1 else dtype_code
    return 0


cpdef extend(str name, value):
    """Attach `value` to Tensor as `name`: a special method that the type delegates, or a plain attribute."""
    if name in delegated:
        facade[name] = value
        return
    (<dict> (<TypeObject *> TensorBase).tp_dict)[name] = value
    (<dict> (<TypeObject *> Tensor).tp_dict)[name] = value
    PyType_Modified(<PyTypeObject *> TensorBase)


def attached():
    """attached() -> list: the attributes of Tensor, including the special methods that it delegates."""
    return [*vars(Tensor).values(), *facade.values()]


delegated = {
    "Size", "check_without_tangent", "construct", "warn_grad_of_non_leaf", "__pos__", "__abs__",
    "__iadd__", "__isub__", "__imul__", "__itruediv__", "__ipow__", "__iand__", "__ior__", "__ixor__",
    "__mod__", "__floordiv__", "__lshift__", "__rshift__", "__imod__", "__ifloordiv__", "__ilshift__", "__irshift__",
    "__setitem__", "__contains__", "__iter__",
    "__bool__", "__int__", "__float__", "__complex__", "__index__", "__repr__"}


cdef object written_by(str name, Tensor self, object other):
    """An in-place operator; NotImplemented for an operand of another library, so that its operator is tried."""
    try:
        return facade[name](self, other)
    except TypeError:
        if isinstance(other, (Tensor, int, float, complex, np.ndarray, np.generic)) or hasattr(other, "__torch_function__"):
            raise
        return NotImplemented


declare_store(TENSORS, sizeof(Spares), empty_store)


def name_tensor(bint as_torch):
    """name_tensor(as_torch): name the type torch.Tensor or autograd_cy.Tensor."""
    (<TypeObject *> Tensor).tp_name = b"torch.Tensor" if as_torch else b"autograd_cy.Tensor"
    PyType_Modified(<PyTypeObject *> Tensor)


cdef void open_type():
    """Give the type its lazy `__dict__`, its public name, and its own allocation and deallocation."""
    global compiled_dealloc, compiled_new, tensor_type
    cdef Tensor probe = Tensor.__new__(Tensor)
    cdef TypeObject *type = <TypeObject *> Tensor
    if owner_of(&probe.link) != <PyObject *> probe:
        raise ImportError("Tensor.link is not where lifetime.owner_of expects it")
    type.tp_dictoffset = <char *> attributes_slot(probe) - <char *> <PyObject *> probe
    type.tp_name = b"autograd_cy.Tensor"
    tensor_type = <void *> Tensor
    compiled_dealloc, compiled_new = type.tp_dealloc, type.tp_new
    type.tp_dealloc, type.tp_new = free_tensor, constructed
    type.tp_vectorcall = NULL                          # Cython's calls the compiled tp_new
    type.tp_flags &= ~Py_TPFLAGS_IMMUTABLETYPE         # users may attach methods, as in PyTorch
    own = vars(Tensor)
    for name in own.keys() - vars(TensorBase):
        (<dict> (<TypeObject *> TensorBase).tp_dict)[name] = own[name]
    extend("__dict__", property(attributes_of))
    extend("_grad", property(gradient_of, own["grad"].__set__, own["grad"].__delete__))


def attributes_of(tensor):
    return PyObject_GenericGetDict(tensor, NULL)


cdef extern from "Python.h":
    object PyObject_GenericGetDict(object, void *)


open_type()
