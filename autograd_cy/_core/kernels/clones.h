/* Loops compiled three times: for AVX-512, for AVX2, and for any machine; the loader picks one. All give the same bits: a
   loop computes each element, or each lane of a sum, as written, and nothing is contracted into fused multiply-adds.
   Functions that a loop calls are inlined (flatten): otherwise they would be compiled for any machine only.
   The debug build has only loops for any machine, so that tests of bits (test_elementary.py) compare the builds.
   Products of matrices are the exception: they use fused multiply-adds where the machine has them, like BLAS. */
#ifndef AUTOGRAD_CY_CLONES_H
#define AUTOGRAD_CY_CLONES_H

#include <limits.h>     /* defines __GLIBC__ where it is glibc */

#if defined(__x86_64__) && defined(__GLIBC__) && defined(__GNUC__) && !defined(__clang__) && __GNUC__ >= 9 \
    && !AUTOGRAD_CY_DEBUG
#define AUTOGRAD_CY_CLONED __attribute__((target_clones("avx512f", "avx2", "default")))
/* Complex products: with AVX-512, gcc 12 contracts them into vfmaddsub even if contraction is forbidden. */
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
/* Loops on typed memoryviews inline what they call, because passing a view copies 200 bytes. */
#define AUTOGRAD_CY_FLAT_KERNEL(name) \
    AUTOGRAD_CY_CLONED AUTOGRAD_CY_FLAT static void name(char **, npy_intp const *, npy_intp const *, void *);
#define AUTOGRAD_CY_FLAT_EXTENDED_KERNEL(name) \
    AUTOGRAD_CY_FLAT static void name(char **, npy_intp const *, npy_intp const *, void *);
#define AUTOGRAD_CY_FLAT_COMPLEX_KERNEL(name) \
    AUTOGRAD_CY_CLONED_COMPLEX AUTOGRAD_CY_FLAT static void name(char **, npy_intp const *, npy_intp const *, void *);

#endif
