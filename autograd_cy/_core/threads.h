/* OpenMP where there is some; one thread elsewhere. */
#ifndef AUTOGRAD_CY_THREADS_H
#define AUTOGRAD_CY_THREADS_H

#ifdef _OPENMP
#include <omp.h>
#define AUTOGRAD_CY_OPENMP 1
#else
#define AUTOGRAD_CY_OPENMP 0
static inline int omp_in_parallel(void) { return 0; }
#endif

/* OpenMP's workers don't exist in a forked child, and its first parallel region would wait for them for ever: so they are
   sent away before a fork. Where that fails (a region is running), the child works with one thread. */
#if defined(_OPENMP) && !defined(_WIN32) && (_OPENMP >= 201811 || (defined(__GNUC__) && __GNUC__ >= 9))
#include <pthread.h>
static int autograd_cy_sent_away;
static int *autograd_cy_threads;
static void autograd_cy_before_fork(void) { autograd_cy_sent_away = omp_pause_resource_all(omp_pause_hard) == 0; }
static void autograd_cy_in_child(void) { if (!autograd_cy_sent_away) *autograd_cy_threads = 1; }
static void autograd_cy_watch_forks(int *threads) {
    autograd_cy_threads = threads;
    pthread_atfork(autograd_cy_before_fork, NULL, autograd_cy_in_child);
}
#else
static void autograd_cy_watch_forks(int *threads) { (void) threads; }
#endif

#endif
