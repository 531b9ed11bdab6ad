/* Recorded events of a program, in a ring for each thread, and the clock that times them. */
#ifndef AUTOGRAD_CY_EVENTS_H
#define AUTOGRAD_CY_EVENTS_H

typedef struct {
    unsigned long long start, end;   /* ticks; end is 0 while the event is open */
    unsigned long long sequence_nr;  /* of the running node, or of the next node to be recorded */
    PyObject *what;                  /* owned: the function, the class of the node, or a name */
    PyObject *code;                  /* owned, or NULL: the calling code of the user; `instruction` is its position */
    int instruction;
    unsigned int n_nodes;            /* number of nodes recorded within the event */
    unsigned int parent;             /* index of the enclosing event plus one; 0: none */
    unsigned int details, result;    /* likewise, positions of the descriptions of operands and result */
    unsigned char kind, n_operands, n_frames;
} AutogradEvent;

typedef struct AutogradRing {
    AutogradEvent *events;
    Py_ssize_t size, capacity;
    Py_ssize_t open;                 /* index of the innermost open event plus one; 0: none */
    long long *details;              /* stacks and arrays of the events */
    Py_ssize_t details_size, details_capacity;
    unsigned long long dropped;      /* number of events for which there was no room */
    unsigned long long undescribed;  /* number of arrays and stacks for which there was no room */
    unsigned long long epoch;        /* of the recording whose events it holds */
    unsigned long ident;             /* of the thread */
    PyObject *name;                  /* owned: the thread's name, or NULL */
    int has_thread;
    struct AutogradRing *next;
} AutogradRing;

/* An open event. Its ring may be freed or emptied; the epoch tells whether the ring still holds the event. */
typedef struct {
    AutogradRing *ring;
    Py_ssize_t place;
    unsigned long long epoch;
} AutogradSpan;

/* The processor's own counter, if it has one with a constant rate: it takes a third of the time of the system's clock.
   The reader measures the length of a tick. */
#if defined(__x86_64__) && defined(__GNUC__)
static inline unsigned long long autograd_cy_ticks(void) { return __builtin_ia32_rdtsc(); }
#elif defined(_M_X64)
#include <intrin.h>
static inline unsigned long long autograd_cy_ticks(void) { return __rdtsc(); }
#elif defined(__aarch64__) && defined(__GNUC__)
static inline unsigned long long autograd_cy_ticks(void) {
    unsigned long long ticks;
    __asm__ volatile("mrs %0, cntvct_el0" : "=r"(ticks));
    return ticks;
}
#else
#include <time.h>
static inline unsigned long long autograd_cy_ticks(void) {
    struct timespec now;
    timespec_get(&now, TIME_UTC);
    return (unsigned long long) now.tv_sec * 1000000000ULL + (unsigned long long) now.tv_nsec;
}
#endif

#endif
