"""Tensor: an array and its place in the graph.

The type holds only data and operators; all other methods are attached to it at import (`extend`): operations from the op
table, the facade's methods from `_tensor`. Results of operations have exactly this type, so that dead ones can be reused;
if an operand has a subclass, NOTE [Overrides] moves the results into instances of that.
"""

cimport cython
from cpython.object cimport Py_EQ, Py_GT, Py_LE, Py_LT, Py_NE, PyObject

from autograd_cy._core.arrays.dtypes cimport code_of, dtype_of
from autograd_cy._core.graph.context cimport (
    ADD, AND, DIV, EQ, GE, GT, INVERT, ITEM, LE, LT, MATMUL, MUL, NE, NEG, OR, POW, RDIV, RSUB, SUB, XOR, operate)
from autograd_cy._core.graph.memory cimport VersionCounter
from autograd_cy._core.runtime cimport numpy_api as cnp
from autograd_cy._core.runtime.free_threading cimport is_unset, set_once
from autograd_cy._core.runtime.state cimport TENSOR, hide, version_error, watch

from autograd_cy._core.runtime.argument_errors import wrong_self

cdef extern from *:
    """
    #define attributes_slot(tensor) (&(tensor)->attributes)
    #define counter_slot(tensor) ((PyObject **) &(tensor)->counter)
    #define seldom_slot(extras) ((PyObject **) &(extras)->seldom)
    """
    PyObject **attributes_slot(Tensor tensor)
    PyObject **counter_slot(Tensor tensor) noexcept
    PyObject **seldom_slot(TensorExtras extras) noexcept


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
        assign_requires_grad(self, value)

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
        fill_buffer(self, buffer, flags)

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


cdef TensorExtras extras_of_tensor(Tensor tensor):
    if is_unset(extras_slot(tensor)):
        set_once(tensor, extras_slot(tensor), TensorExtras.__new__(TensorExtras))
    return tensor.extras


cdef Seldom seldom_of(TensorExtras extras):
    if is_unset(seldom_slot(extras)):
        set_once(extras, seldom_slot(extras), Seldom.__new__(Seldom))
    return extras.seldom


tensor_type = <void *> Tensor
