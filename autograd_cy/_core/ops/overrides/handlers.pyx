"""Handlers of calls: cases 7 to 9 of NOTE [Overrides] in overrides.pyx, whose steps ask for the handler of a call."""

from contextvars import ContextVar

from cpython.object cimport PyObject
from cpython.ref cimport Py_INCREF, Py_XDECREF

cdef extern from "Python.h":
    int PyContextVar_Get(PyObject *variable, PyObject *default_value, PyObject **value)
    void PyErr_Clear()
    Py_ssize_t PyVectorcall_NARGS(size_t)

cdef int n_handlers = 0
call_handler = ContextVar("autograd_cy handler of calls", default=None)
sees_creations = ContextVar("autograd_cy handler of creations", default=False)
last_handler = ContextVar("autograd_cy last handler of calls", default=None)


cdef object handler_for(object arguments):
    """The handler that gets a call here: cases 7 and 9; None if there is none."""
    if not has_handler():
        return None
    handler = call_handler.get()
    return handler if handler is not None else last_handler_for(arguments)


cdef object last_handler_for(object arguments):
    handler = last_handler.get()
    cdef list found = overriding(arguments, True) if handler is not None else None
    return None if found and class_of_results(found) is None else handler


cdef PyObject *handled(object handler, object function, list arguments, tuple names) except? NULL:
    """A new reference to the answer; NULL without an error if the call is to be made as it is."""
    cdef Py_ssize_t n = len(arguments) - len(names)
    result = handled_call(handler, function, tuple(arguments[:n]), dict(zip(names, arguments[n:])))
    if result is NotImplemented:
        return NULL
    Py_INCREF(result)
    return <PyObject *> result


cdef object handled_call(object handler, object function, tuple args, dict kwargs):
    """The handler's answer. The handler does not get the calls that it makes itself."""
    handling = last_handler if call_handler.get() is None else call_handler
    token = handling.set(None)
    try:
        return handler(function, args, kwargs)
    finally:
        handling.reset(token)


def answer_of_handler(function, args, kwargs):
    """The answer of the handler of `calls_handed_to(handler, creations=True)` to a call; NotImplemented if there is none."""
    handler = handler_of_creations(args)
    return NotImplemented if handler is None else handled_call(handler, function, args, kwargs)


cdef object handler_of_creations(object arguments):
    """The handler that gets the calls of case 8 here; None if there is none."""
    handler = call_handler.get()
    if handler is None:
        return last_handler_for(arguments)
    return handler if sees_creations.get() else None


cdef bint has_handler() noexcept:
    """Whether a handler gets calls in this context. A fused function must then call the operations that it replaces."""
    return n_handlers and (is_set(<PyObject *> call_handler) or is_set(<PyObject *> last_handler))


cdef bint is_set(PyObject *variable) noexcept:
    cdef PyObject *value = NULL
    if PyContextVar_Get(variable, NULL, &value) < 0:
        PyErr_Clear()
        return True
    Py_XDECREF(value)
    return value != NULL and value != <PyObject *> None


def put_back(variable, token):
    """put_back(variable, token): variable.reset(token), but tolerate a thread that has ended within the block."""
    try:
        variable.reset(token)
    except ValueError:      # another context: the thread and its context are gone
        pass


cdef list arguments_of(PyObject **args, size_t n, PyObject *names):
    cdef Py_ssize_t i, total = PyVectorcall_NARGS(n) + len(keys_of(names))
    return [<object> args[i] for i in range(total)]


cdef tuple keys_of(PyObject *names):
    return () if names == NULL else <tuple> names
