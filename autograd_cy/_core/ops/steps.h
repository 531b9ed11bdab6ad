/* The steps through which calls of operations are entered, and the stepped operators: NOTE [Overrides]. Only overrides.pyx
   includes this, and fills in the functions that a step hands over to. */
#ifndef AUTOGRAD_CY_STEPS_H
#define AUTOGRAD_CY_STEPS_H

typedef PyObject *(*autograd_cy_hand_over)(PyObject *, PyObject **, size_t, PyObject *, vectorcallfunc);
typedef PyObject *(*autograd_cy_failed)(PyObject *, PyObject **, size_t, PyObject *);
typedef PyObject *(*autograd_cy_binary)(PyObject *, PyObject *);
typedef PyObject *(*autograd_cy_unary)(PyObject *);
static vectorcallfunc originals[8];
static autograd_cy_hand_over with_subclasses = NULL, watched = NULL;
static autograd_cy_failed failed = NULL;
static int armed = 0;
static int handlers = 0;
static PyObject *handler_variables[2] = {NULL, NULL};
static PyTypeObject *plain_type = NULL, *parameter_type = NULL;

static int is_subclass(PyObject *x) {
    return Py_TYPE(x) != plain_type && Py_TYPE(x) != parameter_type && PyType_IsSubtype(Py_TYPE(x), plain_type);
}

/* Whether there is a handler in this context: cases 7 and 9. `handlers` counts the handlers of all contexts. */
static int has_handler(void) {
    PyObject *value;
    int k;
    for (k = 0; handlers && k < 2; k++) {
        if (PyContextVar_Get(handler_variables[k], NULL, &value) < 0) { PyErr_Clear(); return 1; }
        Py_XDECREF(value);
        if (value != NULL && value != Py_None) return 1;
    }
    return 0;
}

/* Whether a subclass of Tensor is among n arguments, or in a list or tuple among them. */
static int any_subclass(PyObject *const *args, Py_ssize_t n) {
    Py_ssize_t i, k;
    for (i = 0; i < n; i++) {
        if (Py_TYPE(args[i]) == plain_type) continue;
        if (PyList_CheckExact(args[i]) || PyTuple_CheckExact(args[i])) {
            for (k = 0; k < PySequence_Fast_GET_SIZE(args[i]); k++)
                if (is_subclass(PySequence_Fast_GET_ITEM(args[i], k))) return 1;
        }
        else if (is_subclass(args[i])) return 1;
    }
    return 0;
}

/* `armed` has SUBCLASSES once there is a subclass or a handler, WATCHED while calls are events. */
static PyObject *unwatched(PyObject *function, PyObject **args, size_t n, PyObject *names, vectorcallfunc original) {
    PyObject *result;
    if (armed & 1 && (has_handler()
                      || any_subclass(args, PyVectorcall_NARGS(n) + (names == NULL ? 0 : PyTuple_GET_SIZE(names)))))
        return with_subclasses(function, args, n, names, original);
    result = original(function, args, n, names);
    return result != NULL ? result : failed(function, (PyObject **) args, n, names);
}

#define STEP(k) static PyObject *step_##k(PyObject *function, PyObject *const *args, size_t n, PyObject *names) { \
    PyObject *result; \
    if (armed) \
        return (armed & 2 ? watched : unwatched)(function, (PyObject **) args, n, names, originals[k]); \
    result = originals[k](function, args, n, names); \
    return result != NULL ? result : failed(function, (PyObject **) args, n, names); \
}
STEP(0) STEP(1) STEP(2) STEP(3) STEP(4) STEP(5) STEP(6) STEP(7)
static vectorcallfunc steps[8] = {step_0, step_1, step_2, step_3, step_4, step_5, step_6, step_7};

static vectorcallfunc *vectorcall_slot(PyObject *function) {
    Py_ssize_t offset = Py_TYPE(function)->tp_vectorcall_offset;
    return offset > 0 ? (vectorcallfunc *) ((char *) function + offset) : NULL;
}

/* Functions with the same original entry share a step. 0 if there is no step left. */
static int put_step(PyObject *function) {
    vectorcallfunc *slot = vectorcall_slot(function);
    int k;
    if (slot == NULL || *slot == NULL) return 0;
    for (k = 0; k < 8; k++) {
        if (*slot == steps[k]) return 1;
        if (originals[k] == NULL) originals[k] = *slot;
        if (originals[k] == *slot) { *slot = steps[k]; return 1; }
    }
    return 0;
}

/* The replacements of the operators that tensor.pxd declares. */
static autograd_cy_binary plain_operators[32], unwatched_operators[32];
static autograd_cy_unary plain_signs[2], unwatched_signs[2];
static PyObject *(*watched_operator)(int, PyObject *, PyObject *) = NULL;
static PyObject *(*watched_sign)(int, PyObject *) = NULL;
static PyObject *(*operated)(int, PyObject *, PyObject *) = NULL;
static PyObject *(*signed_)(int, PyObject *) = NULL;

#define OPERATOR(k) static PyObject *operator_##k(PyObject *a, PyObject *b) { \
    PyObject *both[2] = {a, b}; \
    return has_handler() || any_subclass(both, 2) ? operated(k, a, b) : plain_operators[k](a, b); \
} \
static PyObject *event_##k(PyObject *a, PyObject *b) { return watched_operator(k, a, b); }
#define ALL(step) step(0) step(1) step(2) step(3) step(4) step(5) step(6) step(7) step(8) step(9) step(10) step(11) \
    step(12) step(13) step(14) step(15) step(16) step(17) step(18) step(19) step(20) step(21) step(22) step(23) \
    step(24) step(25) step(26) step(27) step(28) step(29) step(30) step(31)
#define OPERATOR_NAME(k) operator_##k,
#define EVENT_NAME(k) event_##k,
ALL(OPERATOR)
static autograd_cy_binary stepped_operators[32] = {ALL(OPERATOR_NAME)}, watched_operators[32] = {ALL(EVENT_NAME)};

static PyObject *negative_step(PyObject *a) { return has_handler() || is_subclass(a) ? signed_(0, a) : plain_signs[0](a); }
static PyObject *invert_step(PyObject *a) { return has_handler() || is_subclass(a) ? signed_(1, a) : plain_signs[1](a); }
static PyObject *negative_event(PyObject *a) { return watched_sign(0, a); }
static PyObject *invert_event(PyObject *a) { return watched_sign(1, a); }

#endif
