"""How modules find their members and are called, which a model does several times per operation.

In Python, a parameter is found only after the usual search has failed and raised an error, and each call looks into eight
dicts of hooks. `member_of` and `called` fill the slots of Module and of each subclass without its own `__getattr__` or
`__call__`. In other classes, and if a class gets one later, Python fills the slots as usual.
"""

from cpython.dict cimport PyDict_GetItem
from cpython.object cimport PyObject
from cpython.ref cimport Py_DECREF, Py_INCREF, Py_XINCREF

cdef extern from *:
    """
    /* NULL without an error if there is no such attribute */
    static PyObject *found_as_usual(PyObject *x, PyObject *name) {
        return _PyObject_GenericGetAttrWithDict(x, name, NULL, 1);
    }
    /* The function that the class has under that name: calling it with the instance first calls the method. */
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
    PyObject *PyObject_Vectorcall(PyObject *, PyObject **, size_t, PyObject *)
    Py_ssize_t PyDict_Size(PyObject *)
    bint PyDict_Check(PyObject *)
    void PyType_Modified(TypeObject *)

cdef enum:
    FEW = 6                     # number of arguments that are passed on without a tuple

cdef tuple MEMBERS = ("_parameters", "_buffers", "_modules")
cdef tuple HOOKS = ("_backward_hooks", "_backward_pre_hooks", "_forward_hooks", "_forward_pre_hooks")
cdef tuple common_hooks = ()                # the hook dicts that all modules share
cdef object call_with_hooks = None
cdef object usual_getattr = None            # Module's `__getattr__`


cdef PyObject *called(PyObject *module, PyObject *args, PyObject *kwargs) except NULL:
    """tp_call: forward(), with hooks if there are any."""
    cdef PyObject *function
    cdef PyObject *result
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
    Py_INCREF(<object> function)        # the class may get another one during the call
    result = PyObject_Vectorcall(function, passed, n + 1, NULL)
    Py_DECREF(<object> function)
    return result


cdef PyObject *new_reference(object x) noexcept:
    Py_INCREF(x)
    return <PyObject *> x


def call_module(self, *args, **kwargs):
    """Module.__call__: forward(), and the hooks around it."""
    cdef PyObject *result = called(<PyObject *> self, <PyObject *> args, <PyObject *> kwargs)
    value = <object> result
    Py_DECREF(value)
    return value


cdef bint has_hooks(dict own) except -1:
    """Whether a call has to run hooks; also true if `__init__` has not made the dicts of hooks."""
    cdef PyObject *hooks
    for name in HOOKS:
        hooks = PyDict_GetItem(own, name)
        if hooks == NULL or not PyDict_Check(hooks) or PyDict_Size(hooks):
            return True
    for common in common_hooks:
        if common:
            return True
    return False


cdef PyObject *member_of(PyObject *module, PyObject *name) except NULL:
    """tp_getattro: the usual lookup, then a parameter, a buffer or a submodule."""
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
    """fill_slots(cls): use the C slots for a class of modules, for each of the two that the class does not override."""
    cdef TypeObject *slots = <TypeObject *> cls
    if not isinstance(cls, type):
        raise TypeError(f"fill_slots() takes a class, not {cls!r}")
    if cls.__getattr__ is usual_getattr and cls.__getattribute__ is object.__getattribute__:
        slots.tp_getattro = member_of
    if cls.__call__ is call_module:
        slots.tp_call = called
    PyType_Modified(slots)


def set_up(cls, hooks, call):
    """set_up(cls, hooks, call): set Module, the hook dicts that all modules share, and the function that calls hooks."""
    global usual_getattr, common_hooks, call_with_hooks
    usual_getattr, common_hooks, call_with_hooks = cls.__getattr__, hooks, call
    fill_slots(cls)
