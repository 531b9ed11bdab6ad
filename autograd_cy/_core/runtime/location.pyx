"""Where in the user's code an operation was called: kept as a code object and an instruction, resolved when asked for.

To keep both costs some nanoseconds, so every node and every write does; the line is looked up for a message only. Frames
of this package are passed over: the place is that of the caller.
"""

from cpython.object cimport PyObject
from cpython.ref cimport Py_DECREF, Py_INCREF

import sys
from os.path import dirname

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
cdef object last_code = None        # of the user's that was seen last: most calls come from the same function

cdef enum:
    REMEMBERED = 128

cdef PyObject *seen_codes[REMEMBERED]   # code objects by address, kept alive: most calls come from few ...
cdef bint seen_own[REMEMBERED]          # ... and whether they are of this package


cdef object here(int *instruction):
    """The code object that called, with its instruction; None if no Python code of the user runs."""
    cdef Frame *frame = current_frame()
    if frame != NULL and code_of_frame(frame) == <PyObject *> last_code:
        instruction[0] = instruction_of(frame)
        return last_code
    return outside_of_package(frame, instruction)


cdef object outside_of_package(Frame *frame, int *instruction):
    global last_code
    while frame != NULL:
        if code_of_frame(frame) == <PyObject *> last_code:
            instruction[0] = instruction_of(frame)
            return last_code
        if PyCode_Check(code_of_frame(frame)) and not is_own(code_of_frame(frame)):
            last_code = <object> code_of_frame(frame)
            instruction[0] = instruction_of(frame)
            return last_code
        frame = outer_frame(frame)
    return None


cdef bint is_own(PyObject *code):
    """Whether a code object is of this package. Takes no memory: nodes ask while they are born."""
    cdef size_t place = (<size_t> code >> 5) % REMEMBERED
    cdef PyObject *before = seen_codes[place]
    cdef str file
    if before == code:
        return seen_own[place]
    file = (<object> code).co_filename
    Py_INCREF(<object> code)
    seen_codes[place] = code
    seen_own[place] = file.startswith(PACKAGE)
    if before != NULL:
        Py_DECREF(<object> before)
    return seen_own[place]


cdef int frames_here(PyObject **codes, int *instructions, int most) noexcept:
    """The user's frames that are running, innermost first, borrowed; returns how many."""
    cdef Frame *frame = current_frame()
    cdef int n = 0
    while frame != NULL and n < most:
        if PyCode_Check(code_of_frame(frame)) and not is_own(code_of_frame(frame)):
            codes[n], instructions[n] = code_of_frame(frame), instruction_of(frame)
            n += 1
        frame = outer_frame(frame)
    return n


cdef tuple place_of(object code, int instruction):
    """(file, line, function), or None."""
    return None if code is None else (code.co_filename, line_of(code, instruction), code.co_qualname)


cdef str described(object code, int instruction):
    """`file.py:12, in train`, or an empty string."""
    if code is None:
        return ""
    return f"{code.co_filename}:{line_of(code, instruction)}, in {code.co_qualname}"
