/* The state of one thread. Owned by state.pyx; other modules reach it by thread_state(). */
#ifndef AUTOGRAD_CY_STATE_H
#define AUTOGRAD_CY_STATE_H

#include <limits.h>     /* defines __GLIBC__ where it is glibc */

#ifndef AUTOGRAD_CY_DEBUG
#define AUTOGRAD_CY_DEBUG 0
#endif

#if defined(_MSC_VER)
#define AUTOGRAD_CY_THREAD_LOCAL __declspec(thread)
#elif defined(__GLIBC__)
/* a fixed offset instead of a call for each access; some 40 bytes of the loader's reserve */
#define AUTOGRAD_CY_THREAD_LOCAL _Thread_local __attribute__((tls_model("initial-exec")))
#else
#define AUTOGRAD_CY_THREAD_LOCAL _Thread_local
#endif

typedef struct {
    int mode;                        /* Mode bits; zero is the usual case: recording, no tangents */
    unsigned long long sequence_nr;  /* the number of the next node */
    void *graph_task;                /* the running GraphTask, borrowed, or NULL */
    void *node;                      /* the node that the engine runs, borrowed, or NULL */
    /* data of modes.pyx, see NOTE [Modes in contexts] */
    int own;                         /* the context's modes as they were set (`mode` has the derived bits) */
    int base;                        /* the modes if the context has no Setting newer than `since` */
    int hidden;                      /* FORWARD_AD while inference mode suspends it */
    unsigned long long since;
    unsigned long long version;      /* of the context when `mode` was last updated; `thread` likewise */
    unsigned long long thread;
    void *settings;                  /* the thread's ThreadSettings, borrowed, or NULL */
    void *hooks_before;              /* owned: the saved-tensor hooks before the running node changed them, or NULL */
    void *dual_levels;               /* owned: the open levels, see duals.pyx, or NULL */
    unsigned long long hidden_levels; /* a bit for each level that the thread does not currently see */
    void *ring;                      /* the ring for the thread's events, see rings.pyx, or NULL */
    void *batch_level;               /* the innermost open BatchLevel of this thread, borrowed, or NULL */
} AutogradThreadState;

#endif
