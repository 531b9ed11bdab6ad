/* The loops of optimizers, which use fused multiply-adds as PyTorch's do: only update_loops.pyx includes this. */
#ifndef AUTOGRAD_CY_UPDATES_H
#define AUTOGRAD_CY_UPDATES_H

#include <math.h>
#include "clones.h"

/* Instead of AVX2 clones there are clones with fused multiply-adds, which the same machines have. If the compiler has no clones
   and the machine may lack fused operations, a float64 holds the product exactly: rounding twice changes 1 in some 10^9
   results. */
#if defined(__x86_64__) && defined(__GLIBC__) && defined(__GNUC__) && !defined(__clang__) && __GNUC__ >= 9 \
    && !AUTOGRAD_CY_DEBUG
#define AUTOGRAD_CY_CLONED_FUSING __attribute__((target_clones("avx512f", "fma", "default")))
#define AUTOGRAD_CY_FUSED(a, b, c) fmaf(a, b, c)
#else
#define AUTOGRAD_CY_CLONED_FUSING
#if defined(__FMA__) || defined(__aarch64__)
#define AUTOGRAD_CY_FUSED(a, b, c) fmaf(a, b, c)
#else
#define AUTOGRAD_CY_FUSED(a, b, c) ((float) ((double) (a) * (double) (b) + (double) (c)))
#endif
#endif

/* Stands before a fused loop: declares the float and double versions that Cython generates. */
#define DECLARE_UPDATES(name) DECLARE_UPDATE(name, float, __pyx_fuse_0) DECLARE_UPDATE(name, double, __pyx_fuse_1)
#define DECLARE_UPDATE(name, real, fuse) \
    AUTOGRAD_CY_CLONED_FUSING static void fuse##name( \
        real *, real const *, real *, real *, real *, double const *, npy_intp);

#endif
