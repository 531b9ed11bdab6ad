/* An error shows one frame of this package wherever it came through it: the function that was called, by its name.

   Cython adds a frame for each function that an error leaves, ten for `x @ y`, whose source a user doesn't have. Here a frame of
   the core takes the place of those of the package that stand right above it, of Python's functions, too; what a hook or a custom
   Function has added in between stays. Steps take nobody's place. Public functions in Python do the same by an entry (entry.pyx).
   The debug build keeps all of them. */
#ifndef AUTOGRAD_CY_TRACEBACKS
#define AUTOGRAD_CY_TRACEBACKS

/* Whether an entry of a traceback is of the package: what its code calls itself by `__name__` says so. */
static int autograd_cy_is_of_package(PyTracebackObject *entry) {
    static const char package[] = "autograd_cy";
    const Py_ssize_t n = (Py_ssize_t) sizeof(package) - 1;
    PyObject *globals = PyFrame_GetGlobals(entry->tb_frame);
    PyObject *module = PyDict_GetItemString(globals, "__name__");
    const char *name = module != NULL && PyUnicode_Check(module) ? PyUnicode_AsUTF8(module) : NULL;
    int is_one = name != NULL && strncmp(name, package, n) == 0 && (name[n] == '.' || name[n] == '\0');
    if (PyErr_Occurred()) PyErr_Clear();
    Py_DECREF(globals);
    return is_one;
}

/* The first entry from that one on that is not of the package, a new reference; NULL if there is none. */
static PyObject *autograd_cy_beyond_package(PyTracebackObject *entry) {
    while (entry != NULL && autograd_cy_is_of_package(entry)) entry = entry->tb_next;
    Py_XINCREF(entry);
    return (PyObject *) entry;
}

/* Whether a frame is one of the steps by which functions are entered (NOTE [Overrides]), of which a user knows nothing. */
static int autograd_cy_is_step(PyFrameObject *frame) {
    static const char module[] = "autograd_cy._core.ops.overrides.";
    PyCodeObject *code = PyFrame_GetCode(frame);
    const char *name = PyUnicode_AsUTF8(code->co_name);
    int is_one = name != NULL && strncmp(name, module, sizeof(module) - 1) == 0;
    if (name == NULL) PyErr_Clear();
    Py_DECREF(code);
    return is_one;
}

static int autograd_cy_add_frame(PyFrameObject *frame) {
    PyObject *type, *error, *traceback;
    int is_shown = 1;
    PyErr_Fetch(&type, &error, &traceback);
    if (traceback != NULL && PyTraceBack_Check(traceback) && autograd_cy_is_of_package((PyTracebackObject *) traceback)) {
        if (autograd_cy_is_step(frame)) is_shown = 0;
        else Py_SETREF(traceback, autograd_cy_beyond_package((PyTracebackObject *) traceback));
#if PY_VERSION_HEX >= 0x030E0000                        /* where to restore NULL leaves the traceback as it was */
        if (traceback == NULL) PyException_SetTraceback(error, Py_None);
#endif
    }
    PyErr_Restore(type, error, traceback);
    return is_shown ? PyTraceBack_Here(frame) : 0;
}

#if !AUTOGRAD_CY_DEBUG
#define PyTraceBack_Here autograd_cy_add_frame
#endif
#endif
