/* Denying memory to one thread, for tests: see faults.pyx. */
#ifndef AUTOGRAD_CY_FAULTS_H
#define AUTOGRAD_CY_FAULTS_H

#include "state.h"

typedef struct {
    int armed;
    long long before;       /* allocations that still succeed */
    long long failing;      /* number of allocations that fail after them */
    long long denied;
} AutogradFaults;

/* Also called without the GIL: uses only the thread's own data. */
static inline int autograd_cy_deny(AutogradFaults *faults) {
    if (!faults->armed || faults->before-- > 0)
        return 0;
    faults->before = 0;
    if (faults->denied >= faults->failing)
        return 0;
    faults->denied++;
    return 1;
}

static int autograd_cy_is_denied(void);

/* Each of Python's allocators is wrapped by one that may deny memory. Freeing goes to the original one. */

static PyMemAllocatorEx autograd_cy_allocators[3];

static void *autograd_cy_malloc(void *context, size_t size) {
    PyMemAllocatorEx *old = (PyMemAllocatorEx *) context;
    return autograd_cy_is_denied() ? NULL : old->malloc(old->ctx, size);
}

static void *autograd_cy_calloc(void *context, size_t n, size_t size) {
    PyMemAllocatorEx *old = (PyMemAllocatorEx *) context;
    return autograd_cy_is_denied() ? NULL : old->calloc(old->ctx, n, size);
}

static void *autograd_cy_realloc(void *context, void *memory, size_t size) {
    PyMemAllocatorEx *old = (PyMemAllocatorEx *) context;
    return autograd_cy_is_denied() ? NULL : old->realloc(old->ctx, memory, size);
}

static void autograd_cy_free(void *context, void *memory) {
    PyMemAllocatorEx *old = (PyMemAllocatorEx *) context;
    old->free(old->ctx, memory);
}

static void autograd_cy_hook_allocators(void) {
    static const PyMemAllocatorDomain domains[3] = {PYMEM_DOMAIN_RAW, PYMEM_DOMAIN_MEM, PYMEM_DOMAIN_OBJ};
    int k;
    for (k = 0; k < 3; k++) {
        PyMemAllocatorEx hook = {&autograd_cy_allocators[k], autograd_cy_malloc, autograd_cy_calloc,
                                 autograd_cy_realloc, autograd_cy_free};
        PyMem_GetAllocator(domains[k], &autograd_cy_allocators[k]);
        PyMem_SetAllocator(domains[k], &hook);
    }
}

#endif
