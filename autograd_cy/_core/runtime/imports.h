/* How the modules of the core import each other: 1800 times, once for each module and each module that it cimports.

   Python's own function also imports the package, which is being imported at that time. So it takes and releases the package's
   lock, in Python: a fifth of the time to import this package. A lookup in sys.modules needs no lock. Code that imports a
   module of the core has already waited for the package. */
#ifndef AUTOGRAD_CY_IMPORTS
#define AUTOGRAD_CY_IMPORTS

static PyObject *autograd_cy_import(const char *name) {
    PyObject *text = PyUnicode_FromString(name), *module;
    if (text == NULL) return NULL;
    module = PyImport_GetModule(text);
    Py_DECREF(text);
    return module != NULL || PyErr_Occurred() ? module : PyImport_ImportModule(name);
}

#define PyImport_ImportModule autograd_cy_import
#endif
