/* How the modules of the core find each other when they are imported: 1800 times, one for each module and what it declares.

   Python's own function then imports the package, too, which is being imported at that time, and so takes and gives back its
   lock, in Python: a fifth of the time to import this package. What is in sys.modules needs none of that. Whoever imports a
   module of the core has waited for the package before. */
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
