/* The steps through which calls of operations are entered: NOTE [Overrides]. Only overrides.pyx includes this, and fills in
   the functions that a step hands over to. */
#ifndef AUTOGRAD_CY_STEPS_H
#define AUTOGRAD_CY_STEPS_H

typedef PyObject *(*autograd_cy_hand_over)(PyObject *, PyObject **, size_t, PyObject *, vectorcallfunc);
typedef PyObject *(*autograd_cy_failed)(PyObject *, PyObject **, size_t, PyObject *);
static vectorcallfunc originals[8];
static autograd_cy_hand_over with_subclasses = NULL, watched = NULL;
static autograd_cy_failed failed = NULL;
static int armed = 0;
static int (*any_handler)(void) = NULL;
static PyTypeObject *plain_type = NULL, *parameter_type = NULL;

static int is_subclass(PyObject *x) {
    return Py_TYPE(x) != plain_type && Py_TYPE(x) != parameter_type && PyType_IsSubtype(Py_TYPE(x), plain_type);
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
    if (armed & 1 && (any_handler()
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

#endif
