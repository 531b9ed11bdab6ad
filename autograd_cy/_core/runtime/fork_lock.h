/* A lock of the including module. It is held during a fork, so that a child begins with consistent data and an open lock. */
#ifndef AUTOGRAD_CY_FORK_LOCK_H
#define AUTOGRAD_CY_FORK_LOCK_H

#include "free_threading.h"

static AutogradSpin autograd_cy_lock;

#if AUTOGRAD_CY_FREE_THREADED
#include <pthread.h>
static void autograd_cy_take_lock(void) { autograd_cy_spin(&autograd_cy_lock); }
static void autograd_cy_give_lock(void) { autograd_cy_unspin(&autograd_cy_lock); }
static void autograd_cy_watch_forks(void) { pthread_atfork(autograd_cy_take_lock, autograd_cy_give_lock, autograd_cy_give_lock); }
#else
#define autograd_cy_watch_forks() ((void) 0)
#endif

#endif
