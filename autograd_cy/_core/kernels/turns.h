/* Transposed tiles of matrices. */
#ifndef AUTOGRAD_CY_TURNS_H
#define AUTOGRAD_CY_TURNS_H

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

#endif
