/* A thread's own stores, used where Python has no GIL. */
#ifndef AUTOGRAD_CY_OWN_H
#define AUTOGRAD_CY_OWN_H

#include "free_threading.h"
#include "state.h"

enum {
    AUTOGRAD_CY_TENSORS,
    AUTOGRAD_CY_NODES,
    AUTOGRAD_CY_ARRAYS,
    AUTOGRAD_CY_CODES,
    AUTOGRAD_CY_NUMBERS,
    AUTOGRAD_CY_STORES,     /* the number of stores */
};

#if AUTOGRAD_CY_FREE_THREADED
#define AUTOGRAD_CY_OWN AUTOGRAD_CY_THREAD_LOCAL
#else
#define AUTOGRAD_CY_OWN
#endif

/* In a module that declares a store: this thread's, after the first request. */
static AUTOGRAD_CY_OWN void *autograd_cy_store_here;

#endif
