/* This thread's current code object and instruction, without making a frame object.

   No version of CPython has an API for that. Up to 3.13 the frame's layout is read; in 3.14, and in 3.13 without a GIL, its
   first two fields; in later versions a frame object is made. */
#ifndef AUTOGRAD_CY_LOCATION_H
#define AUTOGRAD_CY_LOCATION_H

#if !defined(PYPY_VERSION) && PY_VERSION_HEX < 0x030E0000 && !defined(Py_GIL_DISABLED)
#define AUTOGRAD_CY_READS_FRAMES 1
#ifndef Py_BUILD_CORE
#define Py_BUILD_CORE 1
#endif
#include "internal/pycore_frame.h"

typedef struct _PyInterpreterFrame AutogradFrame;

static inline AutogradFrame *autograd_cy_python_frame(AutogradFrame *frame) {
#if PY_VERSION_HEX >= 0x030C0000
    while (frame != NULL && frame->owner == FRAME_OWNED_BY_CSTACK)     /* the interpreter's entry from C */
        frame = frame->previous;
#endif
    return frame;
}

static inline AutogradFrame *autograd_cy_frame(void) {
#if PY_VERSION_HEX >= 0x030D0000
    return autograd_cy_python_frame(PyThreadState_GetUnchecked()->current_frame);
#else
    return autograd_cy_python_frame(_PyThreadState_UncheckedGet()->cframe->current_frame);
#endif
}

static inline AutogradFrame *autograd_cy_outer_frame(AutogradFrame *frame) {
    return autograd_cy_python_frame(frame->previous);
}

static inline PyObject *autograd_cy_code(AutogradFrame *frame) {        /* borrowed */
#if PY_VERSION_HEX >= 0x030D0000
    return frame->f_executable;
#else
    return (PyObject *) frame->f_code;
#endif
}

static inline int autograd_cy_instruction(AutogradFrame *frame) {
    return _PyInterpreterFrame_LASTI(frame) * (int) sizeof(_Py_CODEUNIT);
}

#elif !defined(PYPY_VERSION) && PY_VERSION_HEX < 0x030F0000

#define AUTOGRAD_CY_READS_FRAMES 1
#include <stdint.h>

typedef struct AutogradFrame {              /* the first fields of struct _PyInterpreterFrame */
    uintptr_t executable;                   /* a code object or another one; the last bits are flags */
    struct AutogradFrame *previous;
} AutogradFrame;

static inline AutogradFrame *autograd_cy_frame(void) {
    return (AutogradFrame *) PyThreadState_GetUnchecked()->current_frame;
}

static inline AutogradFrame *autograd_cy_outer_frame(AutogradFrame *frame) { return frame->previous; }

static inline PyObject *autograd_cy_code(AutogradFrame *frame) {        /* borrowed */
    return (PyObject *) (frame->executable & ~(uintptr_t) 3);
}

static inline int autograd_cy_instruction(AutogradFrame *frame) {
    return PyUnstable_InterpreterFrame_GetLasti((struct _PyInterpreterFrame *) frame);
}

#else

#define AUTOGRAD_CY_READS_FRAMES 0
typedef PyFrameObject AutogradFrame;

static inline AutogradFrame *autograd_cy_frame(void) {
    return PyEval_GetFrame();                                           /* borrowed */
}

static inline AutogradFrame *autograd_cy_outer_frame(AutogradFrame *frame) {
    AutogradFrame *outer = PyFrame_GetBack(frame);
    Py_XDECREF(outer);                                                  /* the inner frame keeps it alive */
    return outer;
}

static inline PyObject *autograd_cy_code(AutogradFrame *frame) {
    PyObject *code = (PyObject *) PyFrame_GetCode(frame);
    Py_DECREF(code);                                                    /* the frame keeps it alive */
    return code;
}

static inline int autograd_cy_instruction(AutogradFrame *frame) {
    return PyFrame_GetLasti(frame);
}

#endif

static inline int autograd_cy_line(PyObject *code, int instruction) {
    return PyCode_Addr2Line((PyCodeObject *) code, instruction);
}

#endif
