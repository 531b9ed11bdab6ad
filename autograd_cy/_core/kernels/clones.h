/* Loops that are compiled three times: for AVX-512, for AVX2, and for any machine; the loader takes what fits. All give the
   same bits: a loop computes each element, or each lane of a sum, as it is written, and nothing is contracted into fused
   multiply-adds. What a loop calls becomes part of it (flatten): left outside, it would be compiled for any machine alone.
   The debug build has loops for any machine alone, so that tests of bits (test_elementary.py) compare them.
   Products of matrices are the exception: their sums are fused multiply-adds where the machine has them, as BLAS's are. */
#ifndef AUTOGRAD_CY_CLONES_H
#define AUTOGRAD_CY_CLONES_H

#include <limits.h>     /* defines __GLIBC__ where it is glibc */

#if defined(__x86_64__) && defined(__GLIBC__) && defined(__GNUC__) && !defined(__clang__) && __GNUC__ >= 9 \
    && !AUTOGRAD_CY_DEBUG
#define AUTOGRAD_CY_CLONED __attribute__((target_clones("avx512f", "avx2", "default")))
/* Complex products: where there are fused ones, as AVX-512 brings them, gcc 12 makes vfmaddsub of them, forbidden or not. */
#define AUTOGRAD_CY_CLONED_COMPLEX __attribute__((target_clones("avx2", "default")))
#define AUTOGRAD_CY_CLONED_PRODUCT __attribute__((target_clones("avx512f", "fma", "default"), optimize("fp-contract=fast")))
#else
#define AUTOGRAD_CY_CLONED
#define AUTOGRAD_CY_CLONED_COMPLEX
#define AUTOGRAD_CY_CLONED_PRODUCT
#endif

#if defined(__GNUC__) && !AUTOGRAD_CY_DEBUG
#define AUTOGRAD_CY_FLAT __attribute__((flatten))
#else
#define AUTOGRAD_CY_FLAT
#endif

#if defined(__GNUC__)
#define AUTOGRAD_CY_INLINED inline __attribute__((always_inline))
#else
#define AUTOGRAD_CY_INLINED inline
#endif

#define AUTOGRAD_CY_CLONED_KERNEL(name) \
    AUTOGRAD_CY_CLONED static void name(char **, npy_intp const *, npy_intp const *, void *);
/* Loops on typed memoryviews: what they call becomes part of them, for a view that is passed on costs 200 bytes. */
#define AUTOGRAD_CY_FLAT_KERNEL(name) \
    AUTOGRAD_CY_CLONED AUTOGRAD_CY_FLAT static void name(char **, npy_intp const *, npy_intp const *, void *);
#define AUTOGRAD_CY_FLAT_EXTENDED_KERNEL(name) \
    AUTOGRAD_CY_FLAT static void name(char **, npy_intp const *, npy_intp const *, void *);
#define AUTOGRAD_CY_FLAT_COMPLEX_KERNEL(name) \
    AUTOGRAD_CY_CLONED_COMPLEX AUTOGRAD_CY_FLAT static void name(char **, npy_intp const *, npy_intp const *, void *);

#endif
