"""The entry of public functions in Python: an error shows one frame of them, and wrong arguments are explained.

Errors of the caller hide the frames of helpers. A function is entered through a C step, which adds no frame itself. Where even
the step would show in benchmarks, a try statement calls `show_one_frame(error)` instead. Hooks and custom Functions called in
between keep their frames. While calls are passed to handlers (case 8 of NOTE [Overrides]), the step asks these first.
"""

import functools

from cpython.object cimport PyObject
from cpython.ref cimport Py_INCREF, Py_XDECREF

from autograd_cy._core.runtime.state cimport check_room

from autograd_cy._core.runtime.argument_errors import explained, lacking_names, refusal_of, without_lacking

cdef extern from *:
    """
    typedef PyObject *(*autograd_cy_vectorcall)(PyObject *, PyObject **, size_t, PyObject *);
    static autograd_cy_vectorcall refused = NULL;
    static int (*room)(void) = NULL;
    static int watching = 0;
    static autograd_cy_vectorcall watcher = NULL;           /* NULL without an error: continue with the call */
    static PyObject *wrapped_name = NULL;

    static void trim(PyObject *traceback) {
    #if !AUTOGRAD_CY_DEBUG
        PyTracebackObject *first = (PyTracebackObject *) traceback;
        if (traceback == NULL || !PyTraceBack_Check(traceback) || !autograd_cy_is_of_package(first)) return;
        Py_XSETREF(first->tb_next, (PyTracebackObject *) autograd_cy_beyond_package(first->tb_next));
    #endif
    }

    static PyObject *step(PyObject *entry, PyObject **args, size_t n, PyObject *names) {
        PyObject *attributes = PyObject_GenericGetDict(entry, NULL), *function, *result;
        PyObject *type, *error, *traceback;
        if (attributes == NULL) return NULL;
        if (room() < 0) {
            Py_DECREF(attributes);
            return NULL;
        }
        function = PyDict_GetItemWithError(attributes, wrapped_name);
        Py_XINCREF(function);
        Py_DECREF(attributes);
        if (watching) {
            result = watcher(entry, args, n, names);
            if (result != NULL || PyErr_Occurred()) {
                Py_XDECREF(function);
                return result;
            }
        }
        if (function == NULL) return PyErr_Occurred() ? NULL : PyErr_Format(PyExc_AttributeError, "%U", wrapped_name);
        result = PyObject_Vectorcall(function, args, n, names);
        if (result == NULL) result = refused(function, args, n, names);
        Py_DECREF(function);
        if (result == NULL) {
            PyErr_Fetch(&type, &error, &traceback);
            trim(traceback);
            PyErr_Restore(type, error, traceback);
        }
        return result;
    }

    static int put_step(PyObject *entry) {
        Py_ssize_t offset = Py_TYPE(entry)->tp_vectorcall_offset;
        if (offset <= 0) return 0;
        *(autograd_cy_vectorcall *) ((char *) entry + offset) = step;
        return 1;
    }
    """
    ctypedef PyObject *(*Refused "autograd_cy_vectorcall")(PyObject *, PyObject **, size_t, PyObject *) except NULL
    Refused refused
    int (*room)() except -1
    int watching
    Watcher watcher
    PyObject *wrapped_name
    void trim(PyObject *traceback)
    bint put_step(object entry)

cdef extern from "Python.h":
    Py_ssize_t PyVectorcall_NARGS(size_t)
    bint PyErr_ExceptionMatches(object)
    void PyErr_Fetch(PyObject **, PyObject **, PyObject **)
    void PyErr_SetObject(object, object)
    void PyErr_Restore(PyObject *, PyObject *, PyObject *)


cdef int watch_entries(Watcher function, int by) except -1:
    """Let `function` see calls of public functions in Python first; `by` is 1 for a new handler, or -1."""
    global watcher, watching
    watcher = function
    watching += by
    return 0


cdef object answered_error = None
cdef object answer = None


def public(function):
    """public(function): a wrapper of the function that is entered through the step."""
    vars(function).setdefault("_home", function.__module__)      # install_as_torch() changes __module__

    @functools.wraps(function)
    def entry(*args, **kwargs):
        return function(*args, **kwargs)
    if not put_step(entry):
        raise ImportError(f"{function.__name__}() can't be entered by way of a step")
    return entry


def show_one_frame(error):
    """show_one_frame(error): drop the package's frames directly below the one that caught the error."""
    cdef object traceback = error.__traceback__
    trim(<PyObject *> traceback)


cdef PyObject *call_refused(PyObject *function, PyObject **args, size_t n, PyObject *names) except NULL:
    """Call again without harmless unsupported keywords; else NULL, with an error that explains wrong arguments."""
    cdef PyObject *error = NULL
    cdef PyObject *value = NULL
    cdef PyObject *trace = NULL
    if answered_error is not None and PyErr_ExceptionMatches(answered_error):
        return call_answered(function, args, n, names)
    if not PyErr_ExceptionMatches(TypeError):
        return NULL
    PyErr_Fetch(&error, &value, &trace)
    if trace == NULL:                   # the function was not entered
        if names != NULL and lacking_names((<object> function).__name__, <tuple> names):
            Py_XDECREF(error)
            Py_XDECREF(value)
            kwargs = {name: <object> args[PyVectorcall_NARGS(n) + i] for i, name in enumerate(<tuple> names)}
            refusal = refusal_of((<object> function).__name__, kwargs)
            if refusal is not None:
                PyErr_SetObject(type(refusal), refusal)         # as Python does, without a frame of ours
                return NULL
            return call_without_lacking(<object> function, [<object> args[i] for i in range(PyVectorcall_NARGS(n))], kwargs)
        explain_arguments(function, n, names, &value)
    PyErr_Restore(error, value, trace)
    return NULL


cdef PyObject *call_answered(PyObject *function, PyObject **args, size_t n, PyObject *names) except NULL:
    """The result of the function given to `answer_errors`; the original error if that is NotImplemented."""
    cdef PyObject *error = NULL
    cdef PyObject *value = NULL
    cdef PyObject *trace = NULL
    PyErr_Fetch(&error, &value, &trace)
    n_args = PyVectorcall_NARGS(n)
    kwargs = {} if names == NULL else {name: <object> args[n_args + i] for i, name in enumerate(<tuple> names)}
    result = answer(<object> function, tuple([<object> args[i] for i in range(n_args)]), kwargs)
    if result is NotImplemented:
        PyErr_Restore(error, value, trace)
        return NULL
    Py_XDECREF(error)
    Py_XDECREF(value)
    Py_XDECREF(trace)
    Py_INCREF(result)
    return <PyObject *> result


def answer_errors(error, function):
    """answer_errors(error, function): if a public function raises it, return function(called, args, kwargs) instead.

    If that is NotImplemented, the error is raised.
    """
    global answered_error, answer
    answered_error, answer = error, function


cdef PyObject *call_without_lacking(object function, list args, dict kwargs) except NULL:
    result = public(function)(*args, **without_lacking(function.__name__, kwargs))
    Py_INCREF(result)
    return <PyObject *> result


cdef int explain_arguments(PyObject *function, size_t n, PyObject *names, PyObject **value) except -1:
    """Replace the message of a TypeError that was caused by wrong arguments."""
    if value[0] == NULL:
        return 0
    cdef object keywords = () if names == NULL else <tuple> names
    message = explained(<object> function, PyVectorcall_NARGS(n), keywords, str(<object> value[0]))
    if message is not None:
        Py_XDECREF(value[0])
        Py_INCREF(message)
        value[0] = <PyObject *> message
    return 0


refused = call_refused
room = check_room
wrapped = "__wrapped__"
Py_INCREF(wrapped)
wrapped_name = <PyObject *> wrapped
