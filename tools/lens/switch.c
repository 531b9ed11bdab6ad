/* Has callgrind count one call of a Python function, as a part of its own: loaded by tools/lens/subject.py.

   What is called from here is all that it sees, so each frame begins and ends while it looks: one that was entered before would
   be taken for another. */
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
