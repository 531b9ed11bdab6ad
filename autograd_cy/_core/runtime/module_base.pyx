"""What Module derives from: its attributes and its calls, of which a model has several for each operation.

In Python, a parameter would be found only after the usual search had failed and made an error of that, and each call would
pay for looking at eight dicts of hooks. `member_of` is put into the slot of Module and of each class below it that has no
`__getattr__` of its own; where there is one, Python asks it in its usual way.
"""

from cpython.dict cimport PyDict_GetItem
from cpython.object cimport PyObject
from cpython.ref cimport Py_XINCREF

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
    ctypedef struct TypeObject "PyTypeObject":
        Getter tp_getattro
    PyObject *found_as_usual(PyObject *x, PyObject *name)
    PyObject *function_of_class(PyObject *x, PyObject *name)

cdef extern from "Python.h":
    PyObject *PyErr_Occurred()
    object PyObject_GenericGetDict(PyObject *, void *)
    object PyObject_Vectorcall(PyObject *, PyObject **, size_t, PyObject *)
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


cdef class ModuleBase:
    """Finds members under the names of attributes, and calls `forward`."""

    def __call__(self, *args, **kwargs):
        cdef PyObject *function
        cdef PyObject *passed[FEW + 1]
        cdef Py_ssize_t i, n = len(args)
        cdef dict own = PyObject_GenericGetDict(<PyObject *> self, NULL)
        if has_hooks(own):
            return call_with_hooks(self, args, kwargs)
        if kwargs or n > FEW or "forward" in own:
            return self.forward(*args, **kwargs)
        function = function_of_class(<PyObject *> self, <PyObject *> "forward")
        if function == NULL:
            return self.forward(*args)
        passed[0] = <PyObject *> self
        for i in range(n):
            passed[i + 1] = <PyObject *> args[i]
        return PyObject_Vectorcall(function, passed, n + 1, NULL)


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
    return usual_answer(<object> module, <object> name)


cdef PyObject *usual_answer(object module, object name) except NULL:
    answer = usual_getattr(module, name)
    Py_XINCREF(<PyObject *> answer)
    return <PyObject *> answer


def find_members(cls):
    """find_members(cls): let C find the members of modules of a class, if its `__getattr__` is the usual one."""
    if cls.__getattr__ is usual_getattr and cls.__getattribute__ is object.__getattribute__:
        (<TypeObject *> cls).tp_getattro = member_of
        PyType_Modified(<TypeObject *> cls)


def set_up(cls, hooks, call):
    """set_up(cls, hooks, call): Module, the dicts with the hooks of all modules, and what calls a module that has hooks."""
    global usual_getattr, common_hooks, call_with_hooks
    usual_getattr, common_hooks, call_with_hooks = cls.__getattr__, hooks, call
    find_members(cls)
