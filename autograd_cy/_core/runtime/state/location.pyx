"""Where in the user's code an operation was called: stored as a code object and an instruction, resolved on demand.

Storing both takes a few nanoseconds, so every node and every write does; the line is looked up only for a message. Frames
of this package are skipped: the place is the caller's.
"""

from cpython.object cimport PyObject
from cpython.ref cimport Py_INCREF, Py_XDECREF

import sys
from os.path import dirname

from autograd_cy._core.runtime.free_threading cimport FREE_THREADED

cdef extern from "location.h":
    ctypedef struct Frame "AutogradFrame":
        pass
    Frame *current_frame "autograd_cy_frame"()
    Frame *outer_frame "autograd_cy_outer_frame"(Frame *)
    PyObject *code_of_frame "autograd_cy_code"(Frame *)
    int instruction_of "autograd_cy_instruction"(Frame *)
    int line_of "autograd_cy_line"(object code, int instruction)

cdef extern from "Python.h":
    bint PyCode_Check(PyObject *)

cdef str PACKAGE = dirname(sys.modules["autograd_cy"].__file__)

cdef enum:
    REMEMBERED = 128

cdef struct Codes:                      # code objects seen before, kept alive: most calls come from few
    PyObject *last                      # the user's code object seen last, or NULL ...
    PyObject *handle                    # ... and the object that represents it and keeps it alive
    PyObject *seen[REMEMBERED]          # hashed by address ...
    bint own[REMEMBERED]                # ... and whether they are of this package

cdef Codes codes                        # of all threads; without a GIL each thread has its own


cdef inline Codes *codes_here() noexcept:
    return <Codes *> declared_store(CODES) if FREE_THREADED else &codes


cdef void empty_store(void *store) noexcept:
    cdef Codes *met = <Codes *> store
    cdef int k
    Py_XDECREF(met.handle)
    for k in range(REMEMBERED):
        Py_XDECREF(met.seen[k])
        met.seen[k] = NULL
    met.last = met.handle = NULL


declare_store(CODES, sizeof(Codes), empty_store)


cdef object here(int *instruction):
    """An object for the user's code object that is running, with its instruction; None if no Python code of the user runs.

    With a GIL it is the code object. Without a GIL it is a tuple with it, one per thread, because counting references to a
    shared object would slow the threads down.
    """
    cdef Frame *frame = current_frame()
    cdef Codes *met = codes_here()
    if FREE_THREADED and met == NULL:           # the thread is ending
        return None
    if frame != NULL and code_of_frame(frame) == met.last:
        instruction[0] = instruction_of(frame)
        return <object> met.handle
    return outside_of_package(frame, met, instruction)


cdef object outside_of_package(Frame *frame, Codes *met, int *instruction):
    cdef PyObject *before
    cdef object handle
    while frame != NULL:
        if code_of_frame(frame) == met.last:
            instruction[0] = instruction_of(frame)
            return <object> met.handle
        if PyCode_Check(code_of_frame(frame)) and not is_own(code_of_frame(frame), met):
            handle = (<object> code_of_frame(frame),) if FREE_THREADED else <object> code_of_frame(frame)
            instruction[0] = instruction_of(frame)
            Py_INCREF(handle)
            before, met.handle, met.last = met.handle, <PyObject *> handle, code_of_frame(frame)
            Py_XDECREF(before)
            return handle
        frame = outer_frame(frame)
    return None


cdef bint is_own(PyObject *code, Codes *met):
    """Whether a code object belongs to this package. Allocates nothing, because it is called while nodes are made."""
    cdef size_t place = (<size_t> code >> 5) % REMEMBERED
    cdef PyObject *before = met.seen[place]
    cdef str file
    if before == code:
        return met.own[place]
    file = (<object> code).co_filename
    Py_INCREF(<object> code)
    met.seen[place] = code
    met.own[place] = file.startswith(PACKAGE)
    Py_XDECREF(before)
    return met.own[place]


cdef int frames_here(PyObject **codes, int *instructions, int most) noexcept:
    """The running frames of the user's code, innermost first, borrowed; returns their number."""
    cdef Frame *frame = current_frame()
    cdef Codes *met = codes_here()
    cdef int n = 0
    if FREE_THREADED and met == NULL:
        return 0
    while frame != NULL and n < most:
        if PyCode_Check(code_of_frame(frame)) and not is_own(code_of_frame(frame), met):
            codes[n], instructions[n] = code_of_frame(frame), instruction_of(frame)
            n += 1
        frame = outer_frame(frame)
    return n


cdef tuple place_of(object code, int instruction):
    """(file, line, function), or None if there is no code."""
    if type(code) is tuple:
        code = code[0]
    return None if code is None else (code.co_filename, line_of(code, instruction), code.co_qualname)


cdef str described(object code, int instruction):
    """A place as text: `file.py:12, in train`, or an empty string."""
    cdef tuple place = place_of(code, instruction)
    return "" if place is None else f"{place[0]}:{place[1]}, in {place[2]}"
