/* How much of its C stack a thread has left: NOTE [Recursion] in recursion.pyx. */
#ifndef AUTOGRAD_CY_STACK_ROOM_H
#define AUTOGRAD_CY_STACK_ROOM_H

#include <stdint.h>

#include "state.h"

#if defined(_WIN32)
#include <windows.h>
#else
#include <pthread.h>
#endif

#define AUTOGRAD_CY_RESERVE ((size_t) 1 << 16)

/* The reserved bytes are those from `bottom` on. None are reserved where the stack is not known. */
typedef struct {
    int known;
    uintptr_t bottom;
    size_t reserve;
} AutogradStack;

static AUTOGRAD_CY_THREAD_LOCAL AutogradStack autograd_cy_stack;

/* The lowest address of this thread's stack, and its size; 0 where the system does not say (musl: only what is mapped). */
static size_t autograd_cy_measure_stack(uintptr_t *bottom) {
#if defined(_WIN32)
    ULONG_PTR low, high;
    GetCurrentThreadStackLimits(&low, &high);
    *bottom = low;
    return high - low;
#elif defined(__APPLE__)
    size_t size = pthread_get_stacksize_np(pthread_self());
    *bottom = (uintptr_t) pthread_get_stackaddr_np(pthread_self()) - size;
    return size;
#elif defined(__GLIBC__)
    pthread_attr_t attributes;
    void *lowest;
    size_t size, guard;
    if (pthread_getattr_np(pthread_self(), &attributes) != 0) return 0;
    if (pthread_attr_getstack(&attributes, &lowest, &size) != 0 || pthread_attr_getguardsize(&attributes, &guard) != 0)
        size = guard = 0;
    pthread_attr_destroy(&attributes);
    if (size <= guard) return 0;
    *bottom = (uintptr_t) lowest + guard;      /* some versions count the guard as part of the stack */
    return size - guard;
#else
    return 0;
#endif
}

static void autograd_cy_find_stack(AutogradStack *stack) {
    size_t size = autograd_cy_measure_stack(&stack->bottom);
    stack->reserve = size / 4 < AUTOGRAD_CY_RESERVE ? size / 4 : AUTOGRAD_CY_RESERVE;
    stack->known = 1;
}

/* Whether the stack has not reached the reserved part. One that is elsewhere, as some coroutines' are, has room. */
static inline int autograd_cy_has_room(void) {
    AutogradStack *stack = &autograd_cy_stack;
    volatile char here = 0;
    if (!stack->known) autograd_cy_find_stack(stack);
    return (uintptr_t) &here - stack->bottom >= stack->reserve;
}

#endif
