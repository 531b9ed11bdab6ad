/* An error shows one frame of this package wherever it passes through: the called function, under its name.

   Cython adds a frame for each function that an error leaves, ten for `x @ y`, whose source users don't have. Here a frame of
   the core replaces the package's frames directly above it, including Python functions. Frames that a hook or a custom
   Function added in between stay. Steps replace nothing, and are left out behind such a frame. Public functions in Python
   use an entry instead (entry.pyx). The debug build keeps all frames. */
#ifndef AUTOGRAD_CY_TRACEBACKS
#define AUTOGRAD_CY_TRACEBACKS

/* Whether an entry of a traceback belongs to the package, by the `__name__` of its globals. */
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

/* The first entry, from the given one on, outside the package, as a new reference; NULL if there is none. */
static PyObject *autograd_cy_beyond_package(PyTracebackObject *entry) {
    while (entry != NULL && autograd_cy_is_of_package(entry)) entry = entry->tb_next;
    Py_XINCREF(entry);
    return (PyObject *) entry;
}

/* Whether a frame is a step through which functions are entered (NOTE [Overrides]), which users don't know. */
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
#if PY_VERSION_HEX >= 0x030E0000                        /* otherwise restoring NULL keeps the traceback */
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
