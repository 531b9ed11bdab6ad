"""What the core needs without a GIL: see free_threading.h, and NOTE [Free threading] in own.pyx."""

from cpython.object cimport PyObject

cdef extern from "free_threading.h" nogil:
    const bint FREE_THREADED "AUTOGRAD_CY_FREE_THREADED"    # hot functions test it: if it is 0 they skip try and finally
    ctypedef struct Hold "AutogradHold":
        pass
    void hold "autograd_cy_hold"(Hold *section, PyObject *object)
    void let_go "autograd_cy_let_go"(Hold *section)
    ctypedef struct HoldBoth "AutogradHoldBoth":
        pass
    void hold_both "autograd_cy_hold_both"(HoldBoth *section, PyObject *a, PyObject *b)
    void let_both_go "autograd_cy_let_both_go"(HoldBoth *section)
    ctypedef int Spin "AutogradSpin"
    void spin "autograd_cy_spin"(Spin *lock)
    void unspin "autograd_cy_unspin"(Spin *lock)
    bint claim "autograd_cy_claim"(void **place, void *value)
    bint is_unique "autograd_cy_is_unique"(PyObject *object)
    void open_to_all "autograd_cy_open_to_all"(PyObject *object)
    void take_over "autograd_cy_take_over"(PyObject *object, unsigned int references)
    void may_be_asked_for "autograd_cy_may_be_asked_for"(PyObject *object)
    bint ask_for "autograd_cy_ask_for"(PyObject *object)
    # for numbers and pointers
    void *load_pointer "autograd_cy_load"(void **place)
    void *peek_pointer "autograd_cy_peek"(void **place)
    void store_pointer "autograd_cy_store"(void **place, void *value)
    int peek_int "autograd_cy_peek"(int *place)
    int load_int "autograd_cy_load"(int *place)
    void store_int "autograd_cy_store"(int *place, int value)
    int add_int "autograd_cy_add"(int *place, int n)
    long load_long "autograd_cy_load"(long *place)
    void store_long "autograd_cy_store"(long *place, long value)
    long long add_long_long "autograd_cy_add"(long long *place, long long n)
    unsigned long long load_number "autograd_cy_load"(unsigned long long *place)
    unsigned long long add_number "autograd_cy_add"(unsigned long long *place, unsigned long long n)
    size_t peek_size "autograd_cy_peek"(size_t *place)
    void store_size "autograd_cy_store"(size_t *place, size_t value)
    Py_ssize_t add_size "autograd_cy_add"(Py_ssize_t *place, Py_ssize_t n)

cdef inline bint is_unset(PyObject **place) noexcept:
    """Whether the place holds None, which `set_once` may replace: must be checked before such a field is read."""
    return load_pointer(<void **> place) == <void *> None

cdef extern from "free_threading.h":
    void set_once "autograd_cy_set_once"(object owner, PyObject **place, object value)
