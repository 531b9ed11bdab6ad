"""Loops that reduce a run of float32 or float64 elements, contiguous or strided (know no array).

Along contiguous runs they keep LANES results, so that no step waits for the one before, and combine elements in pairs first.
So errors of sums grow as slowly as in NumPy's pairwise sum.
"""

from libc.math cimport INFINITY, NAN

from autograd_cy._core.kernels.loops cimport copy_strided
from autograd_cy._core.runtime.numpy_api cimport npy_intp

cdef extern from "math.h" nogil:
    float fabsf(float)
    double fabs(double)

cdef extern from *:
    """
    #include "clones.h"
    /* Functions outside of a cloned loop would be compiled for any machine only. */
    #undef DECLARE_CLONED
    #define DECLARE_CLONED(real, fuse) \\
        static AUTOGRAD_CY_INLINED real fuse##autograd_cy_reduce_block(real const *, npy_intp, int); \\
        static AUTOGRAD_CY_INLINED double fuse##autograd_cy_reduce_row(real const *, npy_intp, int); \\
        static AUTOGRAD_CY_INLINED void fuse##autograd_cy_reduce_columns( \\
            real *, char const *, npy_intp, npy_intp, npy_intp, int); \\
        static AUTOGRAD_CY_INLINED void fuse##autograd_cy_reduce_plane( \\
            char **, npy_intp, npy_intp const *, void *, real, int, int); \\
        static AUTOGRAD_CY_INLINED void fuse##autograd_cy_sum_columns( \\
            double *, char const *, npy_intp, npy_intp, npy_intp, int, real); \\
        static AUTOGRAD_CY_INLINED void fuse##autograd_cy_add_eight( \\
            real *, char const *, npy_intp, npy_intp, int, int); \\
        AUTOGRAD_CY_CLONED static double fuse##autograd_cy_row_total(real const *, npy_intp); \\
        AUTOGRAD_CY_CLONED static double fuse##autograd_cy_row_dot(real const *, real const *, npy_intp);
    #define DECLARE_PLANES(how) \\
        AUTOGRAD_CY_CLONED_KERNEL(autograd_cy_##how##_f32) \\
        AUTOGRAD_CY_CLONED_KERNEL(autograd_cy_##how##_f64)
    DECLARE_CLONED(float, __pyx_fuse_0)
    DECLARE_CLONED(double, __pyx_fuse_1)
    DECLARE_PLANES(sum)
    DECLARE_PLANES(sizes)
    DECLARE_PLANES(squares)
    AUTOGRAD_CY_CLONED_KERNEL(autograd_cy_sum_wide)
    AUTOGRAD_CY_CLONED_KERNEL(autograd_cy_sizes_wide)
    AUTOGRAD_CY_CLONED_KERNEL(autograd_cy_squares_wide)
    DECLARE_PLANES(largest)
    DECLARE_PLANES(smallest)
    """

cdef enum:
    BLOCK = 1024            # elements reduced lane by lane before the lanes are combined


cdef inline bint is_choice(int how) noexcept nogil:
    return how == TAKE_LARGEST or how == TAKE_SMALLEST


cdef inline real joined(real a, real b, int how) noexcept nogil:
    """Combine two elements; of a nan and a number, a choice may give either."""
    if how == MULTIPLY:
        return a * b
    if how == TAKE_LARGEST:
        return a if a > b else b
    if how == TAKE_SMALLEST:
        return a if a < b else b
    return a + b


cdef inline real combined(real a, real b, int how) noexcept nogil:
    """`joined`, but a nan in `a` stays."""
    cdef real c = joined(a, b, how)         # two separate selections compile without branches
    return a if is_choice(how) and a != a else c


cdef inline bint has_nan(const real *x, npy_intp n) noexcept nogil:
    cdef int found = 0
    cdef npy_intp i
    for i in range(n):
        found |= x[i] != x[i]
    return found


cdef inline real mapped(real x, int how) noexcept nogil:
    if how == ADD_SIZES:
        return fabsf(x) if real is float else fabs(x)
    return x * x if how == ADD_SQUARES else x


cdef inline real identity(int how, real kind) noexcept nogil:
    if how == MULTIPLY:
        return 1
    return <real> -INFINITY if how == TAKE_LARGEST else <real> INFINITY if how == TAKE_SMALLEST else 0


cdef inline real reduce_block "autograd_cy_reduce_block"(const real *x, npy_intp n, int how) noexcept nogil:
    """Reduce n contiguous elements."""
    cdef real[LANES] lanes
    cdef real r0, r1, r2, r3
    cdef npy_intp i = 0, k
    r0 = r1 = r2 = r3 = identity(how, <real> 0)
    if n >= LANES:
        for k in range(LANES):
            lanes[k] = mapped(x[k], how)
        i = LANES
        while i + 2 * LANES <= n:
            for k in range(LANES):
                lanes[k] = joined(lanes[k], joined(mapped(x[i + k], how), mapped(x[i + LANES + k], how), how), how)
            i += 2 * LANES
        if i + LANES <= n:
            for k in range(LANES):
                lanes[k] = joined(lanes[k], mapped(x[i + k], how), how)
            i += LANES
        for k in range(16):
            lanes[k] = joined(lanes[k], lanes[k + 16], how)
        if i + 16 <= n:
            for k in range(16):
                lanes[k] = joined(lanes[k], mapped(x[i + k], how), how)
            i += 16
        for k in range(8):
            lanes[k] = joined(lanes[k], lanes[k + 8], how)
        if i + 8 <= n:
            for k in range(8):
                lanes[k] = joined(lanes[k], mapped(x[i + k], how), how)
            i += 8
        r0 = joined(lanes[0], lanes[4], how)
        r1 = joined(lanes[1], lanes[5], how)
        r2 = joined(lanes[2], lanes[6], how)
        r3 = joined(lanes[3], lanes[7], how)
    while i + 4 <= n:
        r0 = joined(r0, mapped(x[i], how), how)
        r1 = joined(r1, mapped(x[i + 1], how), how)
        r2 = joined(r2, mapped(x[i + 2], how), how)
        r3 = joined(r3, mapped(x[i + 3], how), how)
        i += 4
    while i < n:
        r0 = joined(r0, mapped(x[i], how), how)
        i += 1
    if is_choice(how) and has_nan(x, n):
        return NAN
    return joined(joined(r0, r2, how), joined(r1, r3, how), how)


cdef inline double reduce_row "autograd_cy_reduce_row"(const real *x, npy_intp n, int how) noexcept nogil:
    """Reduce many contiguous elements block by block, so that errors don't grow with n."""
    cdef double result
    cdef npy_intp size
    result = identity(how, <double> 0)
    while n > 0:
        size = min(n, <npy_intp> BLOCK)
        result = combined(result, <double> reduce_block(x, size, how), how)
        x += size
        n -= size
    return result


cdef inline double reduce_strided(const char *x, npy_intp n, npy_intp stride, int how, real kind) noexcept nogil:
    """Reduce strided elements, which are copied block by block."""
    cdef real[BLOCK] block
    cdef double result = identity(how, <double> 0)
    cdef npy_intp size
    while n > 0:
        size = min(n, <npy_intp> BLOCK)
        copy_strided(<char *> &block[0], sizeof(real), x, stride, size, sizeof(real))
        result = combined(result, <double> reduce_block(<const real *> &block[0], size, how), how)
        x += size * stride
        n -= size
    return result


cdef double total_of_run "autograd_cy_row_total"(const real *x, npy_intp n) noexcept nogil:
    return reduce_row(x, n, ADD)


cdef double dot_of_runs "autograd_cy_row_dot"(const real *x, const real *y, npy_intp n) noexcept nogil:
    """The dot product of two runs of n contiguous elements."""
    cdef real[LANES] lanes
    cdef double total = 0
    cdef npy_intp i, k, size
    while n > 0:
        size = min(n, <npy_intp> BLOCK)
        i = 0
        for k in range(LANES):
            lanes[k] = 0
        while i + LANES <= size:
            for k in range(LANES):
                lanes[k] = lanes[k] + x[i + k] * y[i + k]
            i += LANES
        for k in range(size - i):
            lanes[k] = lanes[k] + x[i + k] * y[i + k]
        total += reduce_block(&lanes[0], LANES, ADD)
        x += size
        y += size
        n -= size
    return total


# For other modules: gcc 12 emits a symbol twice if a cloned function is in a long table of exports.

cdef double row_total(const real *x, npy_intp n) noexcept nogil:
    return total_of_run(x, n)


cdef double row_dot(const real *x, const real *y, npy_intp n) noexcept nogil:
    return dot_of_runs(x, y, n)
