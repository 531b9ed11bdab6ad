/* Transposed tiles of matrices. */
#ifndef AUTOGRAD_CY_TURNS_H
#define AUTOGRAD_CY_TURNS_H

#include <string.h>
#include "clones.h"

/* Four elements of each of four rows as columns, `row` apart in `out`. */
#if defined(__clang__) || __GNUC__ >= 12
#define SHUFFLED(a, b, i, j, k, l) __builtin_shufflevector(a, b, i, j, k, l)
#elif defined(__GNUC__)
typedef int autograd_cy_picks __attribute__((vector_size(16)));
#define SHUFFLED(a, b, i, j, k, l) __builtin_shuffle(a, b, (autograd_cy_picks) {i, j, k, l})
#endif

static AUTOGRAD_CY_INLINED void turn_4x4_f32(const char *x, npy_intp x_row, float *out, npy_intp row) {
#if defined(SHUFFLED)
    typedef float four __attribute__((vector_size(16), aligned(4), may_alias));
    const four a = *(const four *) x, b = *(const four *) (x + x_row);
    const four c = *(const four *) (x + 2 * x_row), d = *(const four *) (x + 3 * x_row);
    const four e = SHUFFLED(a, b, 0, 4, 1, 5), f = SHUFFLED(c, d, 0, 4, 1, 5);
    const four g = SHUFFLED(a, b, 2, 6, 3, 7), h = SHUFFLED(c, d, 2, 6, 3, 7);
    *(four *) out = SHUFFLED(e, f, 0, 1, 4, 5);
    *(four *) (out + row) = SHUFFLED(e, f, 2, 3, 6, 7);
    *(four *) (out + 2 * row) = SHUFFLED(g, h, 0, 1, 4, 5);
    *(four *) (out + 3 * row) = SHUFFLED(g, h, 2, 3, 6, 7);
#else
    for (int i = 0; i < 4; i++)
        for (int j = 0; j < 4; j++) out[i * row + j] = ((const float *) (x + j * x_row))[i];
#endif
}

static AUTOGRAD_CY_INLINED void turn_4x4_f64(const char *x, npy_intp x_row, double *out, npy_intp row) {
    for (int j = 0; j < 4; j++)
        for (int i = 0; i < 4; i++) out[i * row + j] = ((const double *) (x + j * x_row))[i];
}

/* Matrices of n columns, and of n rows, `count` long. As each row has a pointer, the compiler makes vectors of these loops. */
#define FEW(name, type, n, rows, split, joined) \
    AUTOGRAD_CY_CLONED static void name##_columns##n(const type *restrict x, npy_intp count, type *out, npy_intp row) { \
        rows(type, out, row) \
        for (npy_intp i = 0; i < count; i++) { split(x + n * i) } \
    } \
    AUTOGRAD_CY_CLONED static void name##_rows##n(type *x, npy_intp count, type *restrict out, npy_intp row) { \
        rows(type, x, row) \
        for (npy_intp i = 0; i < count; i++) { joined(out + n * i) } \
    }
#define ROWS2(type, x, row) type *restrict a = x, *restrict b = x + row;
#define ROWS3(type, x, row) ROWS2(type, x, row) type *restrict c = x + 2 * row;
#define ROWS4(type, x, row) ROWS3(type, x, row) type *restrict d = x + 3 * row;
#define SPLIT2(x) a[i] = (x)[0]; b[i] = (x)[1];
#define SPLIT3(x) SPLIT2(x) c[i] = (x)[2];
#define SPLIT4(x) SPLIT3(x) d[i] = (x)[3];
#define JOINED2(x) (x)[0] = a[i]; (x)[1] = b[i];
#define JOINED3(x) JOINED2(x) (x)[2] = c[i];
#define JOINED4(x) JOINED3(x) (x)[3] = d[i];
#define FEW_OF(name, type) \
    FEW(name, type, 2, ROWS2, SPLIT2, JOINED2) \
    FEW(name, type, 3, ROWS3, SPLIT3, JOINED3) \
    FEW(name, type, 4, ROWS4, SPLIT4, JOINED4) \
    /* One to four columns or, if `joined`, rows. */ \
    static void name(const type *x, npy_intp n, npy_intp count, type *out, npy_intp row, int joined) { \
        if (n == 2) joined ? name##_rows2((type *) x, count, out, row) : name##_columns2(x, count, out, row); \
        else if (n == 3) joined ? name##_rows3((type *) x, count, out, row) : name##_columns3(x, count, out, row); \
        else if (n == 4) joined ? name##_rows4((type *) x, count, out, row) : name##_columns4(x, count, out, row); \
        else memcpy(out, x, count * sizeof(type)); \
    }
FEW_OF(turn_few_f32, float)
FEW_OF(turn_few_f64, double)

/* The same for 16 x 16, or 8 x 8 of double: whole cache lines are read and written. */
#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__) && __GNUC__ >= 12 && !AUTOGRAD_CY_DEBUG
static int has_large_turns(void) {
    __builtin_cpu_init();
    return __builtin_cpu_supports("avx512f");
}

/* Elements, pairs, and then lanes of 16 bytes are exchanged between rows whose numbers differ in one bit. */
#define EACH(n) _Pragma("GCC unroll 16") for (int i = 0; i < n; i++)
#define EXCHANGED(a, bit, first, second) \
    (i & bit ? __builtin_shufflevector(a[i ^ bit], a[i], second) : __builtin_shufflevector(a[i], a[i ^ bit], first))

__attribute__((target("avx512f"))) static void turn_16x16_f32(const float *x, npy_intp x_row, float *out, npy_intp row) {
    typedef float sixteen __attribute__((vector_size(64), aligned(4), may_alias));
    sixteen a[16], b[16];
#define ELEMENTS 0, 16, 1, 17, 4, 20, 5, 21, 8, 24, 9, 25, 12, 28, 13, 29
#define OTHER_ELEMENTS 2, 18, 3, 19, 6, 22, 7, 23, 10, 26, 11, 27, 14, 30, 15, 31
#define PAIRS 0, 1, 16, 17, 4, 5, 20, 21, 8, 9, 24, 25, 12, 13, 28, 29
#define OTHER_PAIRS 2, 3, 18, 19, 6, 7, 22, 23, 10, 11, 26, 27, 14, 15, 30, 31
#define LANES 0, 1, 2, 3, 8, 9, 10, 11, 16, 17, 18, 19, 24, 25, 26, 27
#define OTHER_LANES 4, 5, 6, 7, 12, 13, 14, 15, 20, 21, 22, 23, 28, 29, 30, 31
    EACH(16) a[i] = *(const sixteen *) (x + i * x_row);
    EACH(16) b[i] = EXCHANGED(a, 1, ELEMENTS, OTHER_ELEMENTS);
    EACH(16) a[i] = EXCHANGED(b, 2, PAIRS, OTHER_PAIRS);
    EACH(16) b[i] = EXCHANGED(a, 4, LANES, OTHER_LANES);
    EACH(16) a[i] = EXCHANGED(b, 8, LANES, OTHER_LANES);
    EACH(16) *(sixteen *) (out + ((i & 12) | (i & 1) << 1 | (i & 2) >> 1) * row) = a[i];
#undef ELEMENTS
#undef OTHER_ELEMENTS
#undef PAIRS
#undef OTHER_PAIRS
#undef LANES
#undef OTHER_LANES
}

__attribute__((target("avx512f"))) static void turn_8x8_f64(const double *x, npy_intp x_row, double *out, npy_intp row) {
    typedef double eight __attribute__((vector_size(64), aligned(8), may_alias));
    eight a[8], b[8];
#define ELEMENTS 0, 8, 2, 10, 4, 12, 6, 14
#define OTHER_ELEMENTS 1, 9, 3, 11, 5, 13, 7, 15
#define LANES 0, 1, 4, 5, 8, 9, 12, 13
#define OTHER_LANES 2, 3, 6, 7, 10, 11, 14, 15
    EACH(8) a[i] = *(const eight *) (x + i * x_row);
    EACH(8) b[i] = EXCHANGED(a, 1, ELEMENTS, OTHER_ELEMENTS);
    EACH(8) a[i] = EXCHANGED(b, 2, LANES, OTHER_LANES);
    EACH(8) b[i] = EXCHANGED(a, 4, LANES, OTHER_LANES);
    EACH(8) *(eight *) (out + i * row) = b[i];
#undef ELEMENTS
#undef OTHER_ELEMENTS
#undef LANES
#undef OTHER_LANES
}
#undef EACH
#undef EXCHANGED
#else
static int has_large_turns(void) { return 0; }
static void turn_16x16_f32(const float *x, npy_intp x_row, float *out, npy_intp row) { }
static void turn_8x8_f64(const double *x, npy_intp x_row, double *out, npy_intp row) { }
#endif

#endif
