/* Lets callgrind count one call of a Python function as a separate part: loaded by tools/lens/subject.py.

   callgrind counts only this call, so every frame begins and ends while it counts. It would mistake a frame that was entered
   before for another one. */
#include <Python.h>
#include <valgrind/callgrind.h>

PyObject *record(PyObject *function, const char *title) {
    PyObject *result;
    CALLGRIND_START_INSTRUMENTATION;
    result = PyObject_CallNoArgs(function);
    CALLGRIND_STOP_INSTRUMENTATION;
    CALLGRIND_DUMP_STATS_AT(title);
    return result;
}
