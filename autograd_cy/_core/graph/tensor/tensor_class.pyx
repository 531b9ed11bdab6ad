"""Tensor's type object: its name, its `__dict__`, and the methods that operations and the Python layer attach."""

import numpy as np

from cpython.object cimport PyObject, PyTypeObject

cdef extern from *:
    """
    #define offset_of_attributes(tensor) ((char *) &(tensor)->attributes - (char *) (tensor))
    """
    Py_ssize_t offset_of_attributes(Tensor tensor)

cdef extern from "Python.h":
    object PyObject_GenericGetDict(object, void *)
    void PyType_Modified(PyTypeObject *type)
    ctypedef struct ClassFields "PyTypeObject":
        Py_ssize_t tp_dictoffset
        const char *tp_name
        PyObject *tp_dict
        unsigned long tp_flags
    unsigned long Py_TPFLAGS_IMMUTABLETYPE

cdef dict facade = {}      # set by the Python layer: special methods, the Size class

delegated = {
    "Size", "check_without_tangent", "construct", "warn_grad_of_non_leaf", "__pos__", "__abs__",
    "__iadd__", "__isub__", "__imul__", "__itruediv__", "__ipow__", "__iand__", "__ior__", "__ixor__",
    "__mod__", "__floordiv__", "__lshift__", "__rshift__", "__imod__", "__ifloordiv__", "__ilshift__", "__irshift__",
    "__setitem__", "__contains__", "__iter__",
    "__bool__", "__int__", "__float__", "__complex__", "__index__", "__repr__"}


cpdef extend(str name, value):
    """Attach `value` to Tensor as `name`: a special method that the type delegates, or a plain attribute."""
    if name in delegated:
        facade[name] = value
        return
    (<dict> (<ClassFields *> TensorBase).tp_dict)[name] = value
    (<dict> (<ClassFields *> Tensor).tp_dict)[name] = value
    PyType_Modified(<PyTypeObject *> TensorBase)


def attached():
    """attached() -> list: the attributes of Tensor, including the special methods that it delegates."""
    return [*vars(Tensor).values(), *facade.values()]


cdef object written_by(str name, Tensor self, object other):
    """An in-place operator; NotImplemented for an operand of another library, so that its operator is tried."""
    try:
        return facade[name](self, other)
    except TypeError:
        if isinstance(other, (Tensor, int, float, complex, np.ndarray, np.generic)) or hasattr(other, "__torch_function__"):
            raise
        return NotImplemented


def name_tensor(bint as_torch):
    """name_tensor(as_torch): name the type torch.Tensor or autograd_cy.Tensor."""
    (<ClassFields *> Tensor).tp_name = b"torch.Tensor" if as_torch else b"autograd_cy.Tensor"
    PyType_Modified(<PyTypeObject *> Tensor)


def attributes_of(tensor):
    return PyObject_GenericGetDict(tensor, NULL)


cdef int open_type() except -1:
    """Give the type its lazy `__dict__` and its public name, and let users attach methods, as in PyTorch."""
    cdef ClassFields *type = <ClassFields *> Tensor
    type.tp_dictoffset = offset_of_attributes(<Tensor> None)        # only an address is computed
    type.tp_name = b"autograd_cy.Tensor"
    type.tp_flags &= ~Py_TPFLAGS_IMMUTABLETYPE
    own = vars(Tensor)
    for name in own.keys() - vars(TensorBase):
        (<dict> (<ClassFields *> TensorBase).tp_dict)[name] = own[name]
    extend("__dict__", property(attributes_of))
    extend("_grad", property(gradient_of, own["grad"].__set__, own["grad"].__delete__))
    return 0


open_type()
