/* How the modules of the core import each other: 4300 times, once for each module and each module that it cimports, and 6800
   times a function or variable of one.

   Python's own functions also import the package, which is being imported at that time. So they take and release the package's
   lock, in Python: a fifth of the time to import this package. A lookup in sys.modules needs no lock. Code that imports a
   module of the core has already waited for the package. */
#ifndef AUTOGRAD_CY_IMPORTS
#define AUTOGRAD_CY_IMPORTS

/* The module of that name. `load` of modules.py imports it, if that module is there, as it is while the core is imported. */
static PyObject *autograd_cy_import(const char *name) {
    PyObject *text = PyUnicode_FromString(name), *loader, *module;
    if (text == NULL) return NULL;
    module = PyImport_GetModule(text);
    if (module == NULL && !PyErr_Occurred()) {
        PyObject *modules = PyUnicode_FromString("autograd_cy._core.modules");
        loader = modules == NULL ? NULL : PyImport_GetModule(modules);
        Py_XDECREF(modules);
        if (loader != NULL)
            module = PyObject_CallMethod(loader, "load", "O", text);
        else if (!PyErr_Occurred())
            module = PyImport_ImportModule(name);
        Py_XDECREF(loader);
    }
    Py_DECREF(text);
    return module;
}

/* The attribute of that name, for a module a key of its dict: that needs no lookup in the module's type. The key under which a
   module exports functions is made once, not for each function. */
static PyObject *autograd_cy_attribute(PyObject *object, const char *name) {
    static PyObject *exports = NULL;
    PyObject *dict, *found;
    if (!PyModule_CheckExact(object)) return PyObject_GetAttrString(object, name);
    dict = PyModule_GetDict(object);
    if (strcmp(name, "__pyx_capi__") != 0)
        found = PyDict_GetItemString(dict, name);
    else {
        if (exports == NULL) exports = PyUnicode_InternFromString(name);
        found = exports == NULL ? NULL : PyDict_GetItemWithError(dict, exports);
    }
    if (found == NULL && !PyErr_Occurred()) return PyObject_GetAttrString(object, name);
    Py_XINCREF(found);
    return found;
}

#define PyImport_ImportModule autograd_cy_import
#define PyObject_GetAttrString autograd_cy_attribute
#endif
