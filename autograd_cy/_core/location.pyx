"""Where in the user's code an operation was called: kept as a code object and an instruction, resolved when asked for.

To keep both costs some nanoseconds, so every node and every write does; the line is looked up for a message only. Frames
of this package are passed over: the place is that of the caller.
"""

from cpython.object cimport PyObject

from pathlib import Path

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

cdef str PACKAGE = str(Path(__file__).parents[1])
cdef object last_code = None        # of the user's that was seen last: most calls come from the same function


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
        if PyCode_Check(code_of_frame(frame)):
            code = <object> code_of_frame(frame)
            if not code.co_filename.startswith(PACKAGE):
                last_code = code
                instruction[0] = instruction_of(frame)
                return code
        frame = outer_frame(frame)
    return None


cdef str described(object code, int instruction):
    """`file.py:12, in train`, or an empty string."""
    if code is None:
        return ""
    return f"{code.co_filename}:{line_of(code, instruction)}, in {code.co_qualname}"
