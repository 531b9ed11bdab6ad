/* What is noted of a program while it is recorded: events, in a ring for each thread, and the clock that they are timed by. */
#ifndef AUTOGRAD_CY_EVENTS_H
#define AUTOGRAD_CY_EVENTS_H

typedef struct {
    unsigned long long start, end;   /* ticks; no end: the event is open */
    unsigned long long sequence_nr;  /* that of the node that runs, or that the next recorded node would get */
    PyObject *what;                  /* owned: the function, the class of the node, or a name */
    PyObject *code;                  /* owned, or NULL: the user's code that called, and where in it */
    int instruction;
    unsigned int n_nodes;            /* how many nodes were recorded within it */
    unsigned int parent;             /* one more than the place of the event around it; 0: there is none */
    unsigned int details, result;    /* likewise, where its operands and its result are described */
    unsigned char kind, n_operands, n_frames;
} AutogradEvent;

typedef struct AutogradRing {
    AutogradEvent *events;
    Py_ssize_t size, capacity;
    Py_ssize_t open;                 /* one more than the place of the innermost open event; 0: none is */
    long long *details;              /* stacks and arrays of the events */
    Py_ssize_t details_size, details_capacity;
    unsigned long long dropped;      /* events for which there was no room */
    unsigned long long epoch;        /* of the recording that it holds events of */
    unsigned long ident;             /* of the thread */
    PyObject *name;                  /* owned: of the thread, or NULL */
    int has_thread;
    struct AutogradRing *next;
} AutogradRing;

/* An event that is open. Its ring lives as long as the process or its thread; the epoch tells whether it still holds the event. */
typedef struct {
    AutogradRing *ring;
    Py_ssize_t place;
    unsigned long long epoch;
} AutogradSpan;

/* The processor's own counter where there is one that runs at one rate: a third of the time that the system's clock takes.
   How long a tick is, is measured from outside. */
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
