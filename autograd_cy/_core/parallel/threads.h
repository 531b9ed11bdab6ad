/* Workers that help with loops: NOTE [Threads] in threads.pyx. Without POSIX threads the caller does everything.

   A range is cut into chunks, and each thread has a lane of neighbouring ones. It takes its own lane first, so that it finds
   data in its cache, and then the rest of other lanes. The caller never waits for a worker to arrive, only for workers that
   are still busy when nothing is left. Whether sharing pays is measured: case 7. */
#ifndef AUTOGRAD_CY_THREADS_H
#define AUTOGRAD_CY_THREADS_H

#include <stddef.h>

typedef void (*autograd_cy_task)(void *data, ptrdiff_t first, ptrdiff_t end);

#if !defined(AUTOGRAD_CY_ONE_THREAD) && !defined(_WIN32) && !defined(__STDC_NO_ATOMICS__)
#define AUTOGRAD_CY_THREADS 1

#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <time.h>

enum {
    MAX_THREADS = 256,
    PAUSES = 32,                /* between two reads of the clock */
    SAMPLED = 8,                /* one loop in this many is timed */
    WORKER_STACK = 1 << 20,
};

/* Nanoseconds. */
#define AUTOGRAD_CY_AWAKE 100000            /* how long a worker waits actively for the next loop before it sleeps */
#define AUTOGRAD_CY_WORTH_WAKING 100000     /* time of loops without workers: waking workers takes the caller up to 4000 */

#define AUTOGRAD_CY_REST 3000000            /* how long loops that don't gain from workers run without them */
#define AUTOGRAD_CY_PAYS 1.1                /* the minimum gain */

#if defined(__x86_64__) || defined(__i386__)
#define autograd_cy_pause() __builtin_ia32_pause()
#elif defined(__aarch64__)
#define autograd_cy_pause() __asm__ volatile("yield")
#else
#define autograd_cy_pause() ((void) 0)
#endif

typedef struct {
    _Alignas(128) atomic_ptrdiff_t next;    /* each in its own cache line */
    ptrdiff_t end;
} autograd_cy_lane;

typedef struct {                            /* for loops of about one size */
    double gain;                            /* from workers: a running mean */
    long long rest;                         /* until this time workers are not used */
    unsigned loops;
} autograd_cy_record;

static struct {
    autograd_cy_task task;                  /* the loop: its caller, which set `busy`, writes it before it sets `open` */
    void *data;
    ptrdiff_t size, grain, chunks;
    int threads;
    int workers;                            /* number of workers */
    long long alone;                        /* serial time, in nanoseconds, of consecutive loops that lacked some workers */
    long long end;                          /* end of the last of them */
    _Alignas(128) atomic_int busy;          /* a loop is being shared */
    atomic_int asleep;
    _Alignas(128) atomic_int open;
    atomic_uint ticket;                     /* the number of the last loop */
    atomic_int inside;                      /* workers that may read the loop: must be 0 before the next is written */
    pthread_mutex_t mutex;                  /* for sleeping */
    pthread_cond_t more;
    autograd_cy_record records[64];         /* by the bit length of their size */
    autograd_cy_lane lanes[MAX_THREADS];
} autograd_cy_crew = {.mutex = PTHREAD_MUTEX_INITIALIZER, .more = PTHREAD_COND_INITIALIZER};

static long long autograd_cy_now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec * 1000000000LL + t.tv_nsec;
}

/* Take one chunk of a lane; 0 if there is none left. */
static inline int autograd_cy_take(autograd_cy_lane *lane) {
    ptrdiff_t first, end, k = atomic_fetch_add(&lane->next, 1);
    if (k >= lane->end)
        return 0;
    first = k * autograd_cy_crew.grain;
    end = k + 1 == autograd_cy_crew.chunks ? autograd_cy_crew.size : first + autograd_cy_crew.grain;
    autograd_cy_crew.task(autograd_cy_crew.data, first, end);
    return 1;
}

static void autograd_cy_work(int number) {
    int threads = autograd_cy_crew.threads, k;
    for (k = 0; k < threads; k++)
        while (autograd_cy_take(&autograd_cy_crew.lanes[(number + k) % threads])) {}
}

/* Wait for a loop with another ticket: actively for a while, yielding the core to other threads, then asleep. */
static unsigned autograd_cy_await(unsigned seen) {
    long long end = autograd_cy_now() + AUTOGRAD_CY_AWAKE;
    unsigned ticket;
    int k;
    do {
        for (k = 0; k < PAUSES; k++) {
            if ((ticket = atomic_load(&autograd_cy_crew.ticket)) != seen)
                return ticket;
            autograd_cy_pause();
        }
        sched_yield();
    } while (autograd_cy_now() < end);
    pthread_mutex_lock(&autograd_cy_crew.mutex);
    atomic_fetch_add(&autograd_cy_crew.asleep, 1);
    while ((ticket = atomic_load(&autograd_cy_crew.ticket)) == seen)
        pthread_cond_wait(&autograd_cy_crew.more, &autograd_cy_crew.mutex);
    atomic_fetch_sub(&autograd_cy_crew.asleep, 1);
    pthread_mutex_unlock(&autograd_cy_crew.mutex);
    return ticket;
}

/* A worker increments `inside` before it reads `open`; the caller clears `open` before it reads `inside`. So one of them sees
   the other's write. */
static void *autograd_cy_worker(void *argument) {
    int number = (int) (ptrdiff_t) argument;
    unsigned ticket = 0;
    for (;;) {
        atomic_fetch_add(&autograd_cy_crew.inside, 1);
        if (atomic_load(&autograd_cy_crew.open) && number < autograd_cy_crew.threads)
            autograd_cy_work(number);
        atomic_fetch_sub(&autograd_cy_crew.inside, 1);
        ticket = autograd_cy_await(ticket);
    }
    return NULL;
}

/* Workers get no signals, which are for Python's threads. A refused thread is not an error. */
static void autograd_cy_hire(int wanted) {
    sigset_t all, before;
    pthread_attr_t attributes;
    pthread_t thread;
    if (pthread_attr_init(&attributes) != 0)
        return;
    pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
    pthread_attr_setstacksize(&attributes, WORKER_STACK);
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    while (autograd_cy_crew.workers < wanted) {
        if (pthread_create(&thread, &attributes, autograd_cy_worker, (void *) (ptrdiff_t) (autograd_cy_crew.workers + 1)) != 0)
            break;
        autograd_cy_crew.workers++;
    }
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    pthread_attr_destroy(&attributes);
}

static void autograd_cy_wake(int threads) {
    if (autograd_cy_crew.workers < threads - 1)
        autograd_cy_hire(threads - 1);
    if (atomic_load(&autograd_cy_crew.asleep)) {
        pthread_mutex_lock(&autograd_cy_crew.mutex);
        pthread_mutex_unlock(&autograd_cy_crew.mutex);
        pthread_cond_broadcast(&autograd_cy_crew.more);
    }
}

/* The caller begins while not all workers are awake. They are woken if this loop, and those that ran without them right before
   it, took long enough. */
static void autograd_cy_lead(int threads) {
    long long start = autograd_cy_now(), pace;
    ptrdiff_t chunks = autograd_cy_crew.chunks;
    if (!autograd_cy_take(&autograd_cy_crew.lanes[0]))
        return;
    pace = autograd_cy_now() - start;
    if (start - autograd_cy_crew.end > AUTOGRAD_CY_AWAKE)
        autograd_cy_crew.alone = 0;
    autograd_cy_crew.alone += pace * chunks;
    autograd_cy_crew.end = start + pace * chunks;
    if (autograd_cy_crew.alone >= AUTOGRAD_CY_WORTH_WAKING) {
        autograd_cy_crew.alone = 0;
        autograd_cy_wake(threads);
    }
}

static int autograd_cy_all_awake(int threads) {
    return autograd_cy_crew.workers >= threads - 1 && atomic_load(&autograd_cy_crew.asleep) == 0;
}

static autograd_cy_record *autograd_cy_record_of(ptrdiff_t work) {
    int bits = 0;
    while (work >>= 1)
        bits++;
    return &autograd_cy_crew.records[bits];
}

/* After a rest the next loop is timed and decides again. */
static int autograd_cy_is_resting(autograd_cy_record *record) {
    if (record->rest == 0)
        return 0;
    if (autograd_cy_now() < record->rest)
        return 1;
    record->rest = 0;
    record->gain = AUTOGRAD_CY_PAYS;
    record->loops = SAMPLED - 1;
    return 0;
}

/* With another number of threads the gain is measured again. */
static void autograd_cy_forget(void) {
    int k;
    for (k = 0; k < 64; k++)
        autograd_cy_crew.records[k] = (autograd_cy_record) {0};
}

static void autograd_cy_note(autograd_cy_record *record, double gain, long long now) {
    if (record->gain == 0)
        record->gain = gain;
    record->gain += (gain - record->gain) / 4;
    if (record->gain < AUTOGRAD_CY_PAYS)
        record->rest = now + AUTOGRAD_CY_REST;
}

/* Describe the loop to workers. The caller has set `busy`, and no worker is inside. */
static void autograd_cy_prepare(autograd_cy_task task, void *data, ptrdiff_t size, ptrdiff_t grain, int threads) {
    int k;
    ptrdiff_t chunks = (size + grain - 1) / grain;
    autograd_cy_crew.task = task;
    autograd_cy_crew.data = data;
    autograd_cy_crew.size = size;
    autograd_cy_crew.grain = grain;
    autograd_cy_crew.chunks = chunks;
    autograd_cy_crew.threads = threads;
    for (k = 0; k < threads; k++) {
        atomic_store_explicit(&autograd_cy_crew.lanes[k].next, chunks * k / threads, memory_order_relaxed);
        autograd_cy_crew.lanes[k].end = chunks * (k + 1) / threads;
    }
}

/* Run the loop in all threads until all have left. */
static void autograd_cy_run(int threads) {
    int idle = 0;
    atomic_store(&autograd_cy_crew.open, 1);
    atomic_fetch_add(&autograd_cy_crew.ticket, 1);
    if (!autograd_cy_all_awake(threads))
        autograd_cy_lead(threads);
    autograd_cy_work(0);
    atomic_store(&autograd_cy_crew.open, 0);
    while (atomic_load(&autograd_cy_crew.inside)) {
        autograd_cy_pause();
        if (++idle % 1024 == 0)             /* the worker may want this core */
            sched_yield();
    }
}

/* The first chunk runs alone, for comparison. */
static void autograd_cy_run_timed(int threads, autograd_cy_record *record) {
    long long start = autograd_cy_now(), middle, end;
    autograd_cy_take(&autograd_cy_crew.lanes[0]);
    middle = autograd_cy_now();
    autograd_cy_run(threads);
    end = autograd_cy_now();
    autograd_cy_note(record, (double) (middle - start) * (autograd_cy_crew.chunks - 1) / (end - middle + 1), end);
}

/* Call the task on 0..size, cut at multiples of `grain`, in that many threads. It runs in this thread if another loop is being
   shared, or if loops of that much `work` didn't gain lately. */
static void autograd_cy_share(autograd_cy_task task, void *data, ptrdiff_t size, ptrdiff_t grain, int threads, ptrdiff_t work) {
    autograd_cy_record *record = autograd_cy_record_of(work);
    if (atomic_exchange(&autograd_cy_crew.busy, 1)) {
        task(data, 0, size);
        return;
    }
    if (autograd_cy_is_resting(record)) {
        atomic_store(&autograd_cy_crew.busy, 0);
        task(data, 0, size);
        return;
    }
    if (threads > MAX_THREADS)
        threads = MAX_THREADS;
    autograd_cy_prepare(task, data, size, grain, threads);
    if (autograd_cy_all_awake(threads) && ++record->loops % SAMPLED == 0)
        autograd_cy_run_timed(threads, record);
    else
        autograd_cy_run(threads);
    atomic_store(&autograd_cy_crew.busy, 0);
}

/* A forked child has no workers, and no thread that shares a loop. */
static void autograd_cy_in_child(void) {
    autograd_cy_crew.workers = 0;
    atomic_store(&autograd_cy_crew.busy, 0);
    atomic_store(&autograd_cy_crew.open, 0);
    atomic_store(&autograd_cy_crew.inside, 0);
    atomic_store(&autograd_cy_crew.asleep, 0);
    pthread_mutex_init(&autograd_cy_crew.mutex, NULL);
    pthread_cond_init(&autograd_cy_crew.more, NULL);
}

static void autograd_cy_watch_forks(void) { pthread_atfork(NULL, NULL, autograd_cy_in_child); }

#else
#define AUTOGRAD_CY_THREADS 0
static void autograd_cy_share(autograd_cy_task task, void *data, ptrdiff_t size, ptrdiff_t grain, int threads, ptrdiff_t work) {
    task(data, 0, size);
}
static void autograd_cy_forget(void) {}
static void autograd_cy_watch_forks(void) {}
#endif

#endif
