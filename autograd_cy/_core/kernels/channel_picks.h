/* Pixels whose channels are repeated, or picked, for the groups of a convolution: see channel_lines.pyx. */
#ifndef AUTOGRAD_CY_CHANNEL_PICKS_H
#define AUTOGRAD_CY_CHANNEL_PICKS_H

#include "tiles.h"

/* From each of n pixels, `count` vectors: each permutes two or four (`wide`) vectors of the pixel. `indices` has an integer as
   wide as an element for each lane. Pixels are `step` elements apart; the results of a pixel, `apart`. */
typedef void Picks(const void *x, npy_intp step, npy_intp n, const void *indices, npy_intp count, void *out, npy_intp out_step,
                   npy_intp apart);

#if defined(FUSED)
#define PICKS(name, type, index, wide) \
    FUSED("avx512f") static void name(const void *x, npy_intp step, npy_intp n, const void *indices, npy_intp count, \
                                      void *out, npy_intp out_step, npy_intp apart) { \
        typedef type vector __attribute__((vector_size(64), aligned(sizeof(type)), may_alias)); \
        typedef index lanes __attribute__((vector_size(64), aligned(sizeof(type)), may_alias)); \
        const index two = 2 * (64 / sizeof(type)); \
        const type *pixel = x; \
        type *to = out; \
        for (; n > 0; n--, pixel += step, to += out_step) { \
            const vector a = ((const vector *) pixel)[0], b = ((const vector *) pixel)[1]; \
            const vector c = wide ? ((const vector *) pixel)[2] : a, d = wide ? ((const vector *) pixel)[3] : b; \
            for (npy_intp k = 0; k < count; k++) { \
                const lanes at = ((const lanes *) indices)[k]; \
                lanes picked = (lanes) __builtin_shuffle(a, b, at); \
                if (wide) { \
                    const lanes others = (lanes) __builtin_shuffle(c, d, at), in_others = (at & two) != 0; \
                    picked = (others & in_others) | (picked & ~in_others); \
                } \
                *(lanes *) (to + k * apart) = picked; \
            } \
        } \
    }
PICKS(picks_f32, float, int, 0)
PICKS(picks_f64, double, long long, 0)
PICKS(wide_picks_f32, float, int, 1)
PICKS(wide_picks_f64, double, long long, 1)
static Picks *const picks[2][2] = {{picks_f32, picks_f64}, {wide_picks_f32, wide_picks_f64}};
#else
static Picks *const picks[2][2] = {{0, 0}, {0, 0}};
#endif

#endif
