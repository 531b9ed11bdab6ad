/* Inline copies and sums of short runs, some of only 12 bytes. */
#ifndef AUTOGRAD_CY_RUNS_H
#define AUTOGRAD_CY_RUNS_H

#include <string.h>
#include "clones.h"

/* The last copy may overlap the one before. */
static AUTOGRAD_CY_INLINED void copy_run(void *out, const void *x, npy_intp bytes) {
    char *q = out;
    const char *p = x;
    npy_intp i = 0;
#define COPY_BOTH_ENDS(size) { memcpy(q, p, size); memcpy(q + bytes - size, p + bytes - size, size); }
    if (bytes >= 64) {
        for (; i + 64 <= bytes; i += 64) memcpy(q + i, p + i, 64);
        if (i < bytes) memcpy(q + bytes - 64, p + bytes - 64, 64);
    }
    else if (bytes >= 32) COPY_BOTH_ENDS(32)
    else if (bytes >= 16) COPY_BOTH_ENDS(16)
    else if (bytes >= 8) COPY_BOTH_ENDS(8)
    else if (bytes >= 4) memcpy(q, p, 4);
#undef COPY_BOTH_ENDS
}

#define ADD_RUN(name, type) \
    static AUTOGRAD_CY_INLINED void name(type *restrict out, const type *restrict x, npy_intp n) { \
        for (npy_intp i = 0; i < n; i++) out[i] += x[i]; \
    }
ADD_RUN(add_run_f32, float)
ADD_RUN(add_run_f64, double)
#undef ADD_RUN

#endif
