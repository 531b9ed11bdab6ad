/* What the core needs without a GIL: NOTE [Free threading] in own.pyx. With a GIL these are no-ops or plain operations. */
#ifndef AUTOGRAD_CY_FREE_THREADING_H
#define AUTOGRAD_CY_FREE_THREADING_H

#ifdef Py_GIL_DISABLED
#define AUTOGRAD_CY_FREE_THREADED 1
#include <sched.h>

/* The lock of an object. It is released where the GIL would be: while its holder waits for another lock, or leaves Python. */
typedef PyCriticalSection AutogradHold;
#define autograd_cy_hold(section, object) PyCriticalSection_Begin(section, object)
#define autograd_cy_let_go(section) PyCriticalSection_End(section)
typedef PyCriticalSection2 AutogradHoldBoth;
#define autograd_cy_hold_both(section, a, b) PyCriticalSection2_Begin(section, a, b)
#define autograd_cy_let_both_go(section) PyCriticalSection2_End(section)

/* A lock for a few instructions, during which no thread blocks and no Python code runs. */
typedef int AutogradSpin;
static inline void autograd_cy_spin(AutogradSpin *lock) {
    int tries = 0;
    while (__atomic_exchange_n(lock, 1, __ATOMIC_ACQUIRE))
        if (++tries % 64 == 0)
            sched_yield();
}
#define autograd_cy_unspin(lock) __atomic_store_n(lock, 0, __ATOMIC_RELEASE)

#define autograd_cy_load(place) __atomic_load_n(place, __ATOMIC_ACQUIRE)
#define autograd_cy_peek(place) __atomic_load_n(place, __ATOMIC_RELAXED)
#define autograd_cy_store(place, value) __atomic_store_n(place, value, __ATOMIC_RELEASE)
#define autograd_cy_add(place, n) __atomic_add_fetch(place, n, __ATOMIC_ACQ_REL)

/* Store a value if there is NULL; 0 if something else is there. */
static inline int autograd_cy_claim(void **place, void *value) {
    void *nothing = NULL;
    return __atomic_compare_exchange_n(place, &nothing, value, 0, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE);
}

/* Store an object in a field of `owner` if that is None (which needs no count), unless another thread did. */
static inline void autograd_cy_set_once(PyObject *owner, PyObject **place, PyObject *object) {
    AutogradHold section;
    PyCriticalSection_Begin(&section, owner);
    if (*place == Py_None) {
        Py_INCREF(object);
        __atomic_store_n(place, object, __ATOMIC_RELEASE);
    }
    PyCriticalSection_End(&section);
}

enum {
    AUTOGRAD_CY_MERGED = 3,             /* in ob_ref_shared, below the count: all references are counted there */
    AUTOGRAD_CY_MAY_BE_ASKED_FOR = 1,   /* likewise: a dying object is first marked as MERGED */
};

/* Whether the caller's reference is the only one. False if it can't know another thread's count. */
static inline int autograd_cy_is_unique(PyObject *object) {
    Py_ssize_t shared = __atomic_load_n(&object->ob_ref_shared, __ATOMIC_ACQUIRE);
    if (__atomic_load_n(&object->ob_tid, __ATOMIC_RELAXED) == _Py_ThreadId())
        return __atomic_load_n(&object->ob_ref_local, __ATOMIC_RELAXED) == 1 && shared >> 2 == 0;
    return shared == (1 << 2 | AUTOGRAD_CY_MERGED);
}

/* Move all references of this thread's object into the shared count, so that any thread can tell whether its own is unique. */
static inline void autograd_cy_open_to_all(PyObject *object) {
    Py_ssize_t shared, merged;
    unsigned local = __atomic_load_n(&object->ob_ref_local, __ATOMIC_RELAXED);
    if (__atomic_load_n(&object->ob_tid, __ATOMIC_RELAXED) != _Py_ThreadId() || local == UINT32_MAX)
        return;
    shared = __atomic_load_n(&object->ob_ref_shared, __ATOMIC_RELAXED);
    do {
        merged = (((shared >> 2) + (Py_ssize_t) local) << 2) | AUTOGRAD_CY_MERGED;
    } while (!__atomic_compare_exchange_n(&object->ob_ref_shared, &shared, merged, 0, __ATOMIC_ACQ_REL, __ATOMIC_RELAXED));
    __atomic_store_n(&object->ob_ref_local, 0, __ATOMIC_RELAXED);
    __atomic_store_n(&object->ob_tid, 0, __ATOMIC_RELAXED);
}

/* Make a dead or dying object belong to this thread, with that many references. */
static inline void autograd_cy_take_over(PyObject *object, unsigned references) {
    __atomic_store_n(&object->ob_tid, _Py_ThreadId(), __ATOMIC_RELAXED);
    __atomic_store_n(&object->ob_ref_local, references, __ATOMIC_RELAXED);
    __atomic_store_n(&object->ob_ref_shared, 0, __ATOMIC_RELAXED);
}

/* Must be called on a new object that a pointer without a reference will point to. */
static inline void autograd_cy_may_be_asked_for(PyObject *object) {
    __atomic_store_n(&object->ob_ref_shared, AUTOGRAD_CY_MAY_BE_ASKED_FOR, __ATOMIC_RELAXED);
}

/* Take a reference to such an object, whose memory must exist; 0 if it is dead or dying. */
static inline int autograd_cy_ask_for(PyObject *object) {
    Py_ssize_t shared;
    if (__atomic_load_n(&object->ob_tid, __ATOMIC_RELAXED) == _Py_ThreadId()) {
        Py_INCREF(object);
        return 1;
    }
    shared = __atomic_load_n(&object->ob_ref_shared, __ATOMIC_RELAXED);
    do {
        if (shared == AUTOGRAD_CY_MERGED)
            return 0;
    } while (!__atomic_compare_exchange_n(&object->ob_ref_shared, &shared, shared + (1 << 2), 0, __ATOMIC_ACQ_REL,
                                          __ATOMIC_RELAXED));
    return 1;
}

#else
#define AUTOGRAD_CY_FREE_THREADED 0
typedef char AutogradHold;
#define autograd_cy_hold(section, object) ((void) 0)
#define autograd_cy_let_go(section) ((void) 0)
typedef char AutogradHoldBoth;
#define autograd_cy_hold_both(section, a, b) ((void) 0)
#define autograd_cy_let_both_go(section) ((void) 0)
typedef int AutogradSpin;
#define autograd_cy_spin(lock) ((void) 0)
#define autograd_cy_unspin(lock) ((void) 0)
#define autograd_cy_load(place) (*(place))
#define autograd_cy_peek(place) (*(place))
#define autograd_cy_store(place, value) (*(place) = (value))
#define autograd_cy_add(place, n) (*(place) += (n))

static inline int autograd_cy_claim(void **place, void *value) {
    if (*place != NULL)
        return 0;
    *place = value;
    return 1;
}

static inline void autograd_cy_set_once(PyObject *owner, PyObject **place, PyObject *object) {
    PyObject *before = *place;
    (void) owner;
    Py_INCREF(object);
    *place = object;
    Py_DECREF(before);
}

#define autograd_cy_is_unique(object) (Py_REFCNT(object) == 1)
#define autograd_cy_open_to_all(object) ((void) 0)
#define autograd_cy_take_over(object, references) Py_SET_REFCNT(object, references)
#define autograd_cy_may_be_asked_for(object) ((void) 0)
#define autograd_cy_ask_for(object) (Py_INCREF(object), 1)
#endif

#define autograd_cy_extras(owner) ((PyObject **) &(owner)->extras)

#endif
