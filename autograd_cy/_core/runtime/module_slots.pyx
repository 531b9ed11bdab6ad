"""How modules find their members and are called, of which a model does several for each operation.

In Python, a parameter would be found only after the usual search had failed and made an error of that, and each call would
pay for looking at eight dicts of hooks. `member_of` and `called` are put into the slots of Module, and of each class below it
that has no `__getattr__` or `__call__` of its own; there, and where a class is given one later, Python fills them as usual.
"""

from cpython.dict cimport PyDict_GetItem
from cpython.object cimport PyObject
from cpython.ref cimport Py_DECREF, Py_INCREF, Py_XINCREF

cdef extern from *:
    """
    /* NULL without an error if there is nothing */
    static PyObject *found_as_usual(PyObject *x, PyObject *name) {
        return _PyObject_GenericGetAttrWithDict(x, name, NULL, 1);
    }
    /* What the class has under a name, if calling it with the instance before the arguments is what calling the method means. */
    static PyObject *function_of_class(PyObject *x, PyObject *name) {
        PyObject *found = _PyType_Lookup(Py_TYPE(x), name);
        return found != NULL && PyFunction_Check(found) ? found : NULL;
    }
    """
    ctypedef PyObject *(*Getter)(PyObject *, PyObject *) except NULL
    ctypedef PyObject *(*Caller)(PyObject *, PyObject *, PyObject *) except NULL
    ctypedef struct TypeObject "PyTypeObject":
        Getter tp_getattro
        Caller tp_call
    PyObject *found_as_usual(PyObject *x, PyObject *name)
    PyObject *function_of_class(PyObject *x, PyObject *name)

cdef extern from "Python.h":
    PyObject *PyErr_Occurred()
    object PyObject_GenericGetDict(PyObject *, void *)
    Py_ssize_t PyTuple_GET_SIZE(PyObject *)
    PyObject *PyTuple_GET_ITEM(PyObject *, Py_ssize_t)
    PyObject *PyObject_Vectorcall(PyObject *, PyObject **, size_t, PyObject *) except NULL
    Py_ssize_t PyDict_Size(PyObject *)
    bint PyDict_Check(PyObject *)
    void PyType_Modified(TypeObject *)

cdef enum:
    FEW = 6                     # arguments, which are passed on without a tuple

cdef tuple MEMBERS = ("_parameters", "_buffers", "_modules")
cdef tuple HOOKS = ("_forward_hooks", "_forward_pre_hooks", "_backward_hooks", "_backward_pre_hooks")
cdef tuple common_hooks = ()                # the dicts of the hooks of all modules
cdef object call_with_hooks = None
cdef object usual_getattr = None            # Module's `__getattr__`


cdef PyObject *called(PyObject *module, PyObject *args, PyObject *kwargs) except NULL:
    """tp_call: forward(), or what has to be done around it."""
    cdef PyObject *function
    cdef PyObject *passed[FEW + 1]
    cdef Py_ssize_t i, n = PyTuple_GET_SIZE(args)
    cdef dict own = PyObject_GenericGetDict(module, NULL)
    if has_hooks(own):
        return new_reference(call_with_hooks(<object> module, <object> args, {} if kwargs == NULL else <object> kwargs))
    function = NULL if n > FEW or kwargs != NULL or "forward" in own else function_of_class(module, <PyObject *> "forward")
    if function == NULL:
        return new_reference((<object> module).forward(*<tuple> args, **({} if kwargs == NULL else <dict> kwargs)))
    passed[0] = module
    for i in range(n):
        passed[i + 1] = PyTuple_GET_ITEM(args, i)
    return PyObject_Vectorcall(function, passed, n + 1, NULL)


cdef PyObject *new_reference(object x) noexcept:
    Py_INCREF(x)
    return <PyObject *> x


def call_module(self, *args, **kwargs):
    """What calling a module does: forward(), and the hooks around it."""
    cdef PyObject *result = called(<PyObject *> self, <PyObject *> args, <PyObject *> kwargs)
    value = <object> result
    Py_DECREF(value)
    return value


cdef bint has_hooks(dict own) except -1:
    """Whether a call has to look closer; also where `__init__` has not made the dicts of hooks."""
    cdef PyObject *hooks
    for name in HOOKS:
        hooks = PyDict_GetItem(own, name)
        if hooks == NULL or not PyDict_Check(hooks) or PyDict_Size(hooks):
            return True
    for common in common_hooks:
        if <dict> common:
            return True
    return False


cdef PyObject *member_of(PyObject *module, PyObject *name) except NULL:
    """tp_getattro: what is found as usual, else a parameter, a buffer or a submodule."""
    cdef PyObject *found = found_as_usual(module, name)
    cdef PyObject *members
    if found != NULL:
        return found
    if PyErr_Occurred() != NULL:
        return NULL
    own = PyObject_GenericGetDict(module, NULL)
    for kind in MEMBERS:
        members = PyDict_GetItem(own, kind)
        if members != NULL and PyDict_Check(members):
            found = PyDict_GetItem(<object> members, <object> name)
            if found != NULL:
                Py_XINCREF(found)
                return found
    return new_reference(usual_getattr(<object> module, <object> name))


def fill_slots(cls):
    """fill_slots(cls): let C find the members of modules of a class and call them, where it does both in the usual way."""
    cdef TypeObject *slots = <TypeObject *> cls
    if cls.__getattr__ is usual_getattr and cls.__getattribute__ is object.__getattribute__:
        slots.tp_getattro = member_of
    if cls.__call__ is call_module:
        slots.tp_call = called
    PyType_Modified(slots)


def set_up(cls, hooks, call):
    """set_up(cls, hooks, call): Module, the dicts with the hooks of all modules, and what calls a module that has hooks."""
    global usual_getattr, common_hooks, call_with_hooks
    usual_getattr, common_hooks, call_with_hooks = cls.__getattr__, hooks, call
    fill_slots(cls)
