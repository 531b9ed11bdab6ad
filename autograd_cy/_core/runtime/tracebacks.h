/* An error that comes through compiled functions shows one frame of them: the one that was called, by its name.

   Cython adds a frame for each function that an error leaves, ten for `x @ y`, whose source a user doesn't have. Here a frame of
   the core takes the place of one that stands right above it; what a hook or a custom Function has added in between stays. The
   debug build keeps all of them. */
#ifndef AUTOGRAD_CY_TRACEBACKS
#define AUTOGRAD_CY_TRACEBACKS

static int autograd_cy_is_frame_of_core(PyObject *traceback) {
    PyCodeObject *code = PyFrame_GetCode(((PyTracebackObject *) traceback)->tb_frame);
    const char *name = PyUnicode_AsUTF8(code->co_name), package[] = "autograd_cy._core.";
    int is_one = name != NULL && strncmp(name, package, sizeof(package) - 1) == 0;
    if (name == NULL) PyErr_Clear();
    Py_DECREF(code);
    return is_one;
}

static int autograd_cy_add_frame(PyFrameObject *frame) {
    PyObject *type, *error, *traceback, *rest;
    PyErr_Fetch(&type, &error, &traceback);
    if (traceback != NULL && PyTraceBack_Check(traceback) && autograd_cy_is_frame_of_core(traceback)) {
        rest = (PyObject *) ((PyTracebackObject *) traceback)->tb_next;
        Py_XINCREF(rest);
        Py_SETREF(traceback, rest);
    }
    PyErr_Restore(type, error, traceback);
    return PyTraceBack_Here(frame);
}

#if !AUTOGRAD_CY_DEBUG
#define PyTraceBack_Here autograd_cy_add_frame
#endif
#endif
