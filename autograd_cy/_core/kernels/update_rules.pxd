"""What the loops of optimizers have in common: each is one pass over a parameter, its gradient and what is kept of it."""

from autograd_cy._core.kernels.plane_loops cimport real
from autograd_cy._core.runtime.numpy_api cimport npy_intp

# The functions that Cython makes of a loop over `real` numbers: of float and of double. Those for AVX2 are replaced by ones
# for fused multiply-adds, which the same machines have. Where the compiler takes no clones and the machine may lack them, a
# float64 holds the product exactly: a sum that is rounded twice differs from one that is rounded once in 1 of some 10^9.
cdef extern from *:
    """
    #include <math.h>
    #include "clones.h"
    #define DECLARE_UPDATE(name, real, fuse) \\
        AUTOGRAD_CY_CLONED_FUSING static void fuse##name( \\
            real *, real const *, real *, real *, real *, double const *, npy_intp);
    #define DECLARE_UPDATES(name) DECLARE_UPDATE(name, float, __pyx_fuse_0) DECLARE_UPDATE(name, double, __pyx_fuse_1)
    #if defined(__x86_64__) && defined(__GLIBC__) && defined(__GNUC__) && !defined(__clang__) && __GNUC__ >= 9 \\
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
    """
    float fused_float "AUTOGRAD_CY_FUSED"(float a, float b, float c) noexcept nogil

cdef enum:
    KEPT = 3            # arrays that are kept of a parameter, at most
    SCALARS = 3         # numbers that are kept of it
    OPTIONS = 10        # what the user chose
    NUMBERS = 12        # what a loop computes with: of the options and of the scalars

# Moves the scalars one step on, and finds the numbers; `fresh`: there was nothing kept of the parameter yet.
ctypedef void (*Prepare)(const double *options, double *scalars, double *numbers, bint fresh) noexcept nogil
# p: the parameter; g: its gradient; a, b, c: what is kept, NULL where it is not.
ctypedef void (*Loop32)(float *p, const float *g, float *a, float *b, float *c, const double *numbers,
                        npy_intp n) noexcept nogil
ctypedef void (*Loop64)(double *p, const double *g, double *a, double *b, double *c, const double *numbers,
                        npy_intp n) noexcept nogil

cdef enum:
    SGD
    ASGD
    RPROP
    ADAM
    NADAM
    RADAM
    ADAMAX
    RMSPROP
    ADAGRAD
    ADADELTA
    RULES

cdef struct Rule:
    Prepare prepare
    Loop32 loop32
    Loop64 loop64


cdef inline real fused(real a, real b, real c) noexcept nogil:
    """a * b + c, of float numbers rounded once, as PyTorch's kernels do; those of double agree closely enough without."""
    return fused_float(a, b, c) if real is float else a * b + c


cdef inline real decayed(real g, real p, real decay) noexcept nogil:
    """The gradient with that of the weight decay; without one, infinite parameters do no harm."""
    return fused(decay, p, g) if decay != 0 else g
