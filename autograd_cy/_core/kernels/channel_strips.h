/* Loops over columns of rows, side by side, whose factors stay in registers: where gcc vectorizes such loops by itself, it
   reads the factors for each row. Part of the functions that call them, which say for which machine they are compiled.
   Strips of columns are followed by pieces, and by single columns. If `past` the caches, results are stored without being
   read first, where their rows start at multiples of PIECE_BYTES. */
#ifndef AUTOGRAD_CY_CHANNEL_STRIPS_H
#define AUTOGRAD_CY_CHANNEL_STRIPS_H

#include "clones.h"

#define STRIP_BYTES 256
#define PIECE_BYTES 16
#if defined(__GNUC__)
#define LANES_TYPE(name, type, bytes) \
    typedef type name##_lanes __attribute__((vector_size(bytes), aligned(sizeof(type)), may_alias));
#define LANES_IN(type, bytes, unit) ((bytes) / (unit))
#else
#define LANES_TYPE(name, type, bytes) typedef type name##_lanes;
#define LANES_IN(type, bytes, unit) ((bytes) / (int) sizeof(type))
#endif
#if defined(__GNUC__) && defined(__SSE2__)
#include <emmintrin.h>
#define STORES_PAST 1
#define STORE_PAST(result, lanes, size) \
    for (int part = 0; part < (size) / 16; part++) \
        _mm_stream_si128((__m128i *) (result) + part, ((const __m128i *) &(lanes))[part])
#define END_OF_STORES_PAST() _mm_sfence()
#else
#define STORES_PAST 0
#define STORE_PAST(result, lanes, size) *(result) = (lanes)
#define END_OF_STORES_PAST() ((void) 0)
#endif
#define FOR_LANES(count) _Pragma("GCC unroll 4") for (int k = 0; k < (count); k++)
#define LANES_OF(name, array) ((const name##_lanes *) (array))[k]
#define STORE_LANES(name, array, value) \
    { \
        name##_lanes lanes = value; \
        if (past) \
            STORE_PAST((name##_lanes *) (array) + k, lanes, (int) sizeof(lanes)); \
        else \
            ((name##_lanes *) (array))[k] = lanes; \
    }

#define STRIPS(name, type, bytes, unit) \
    LANES_TYPE(name, type, unit) \
    static AUTOGRAD_CY_INLINED void name##_sums( \
            const type *g, const type *x, npy_intp rows, npy_intp stride, const type *centers, type *sums, type *products) { \
        enum { N = LANES_IN(type, bytes, unit) }; \
        name##_lanes center[N], sum[N], product[N]; \
        FOR_LANES(N) { \
            center[k] = LANES_OF(name, centers); \
            sum[k] = LANES_OF(name, sums); \
            product[k] = LANES_OF(name, products); \
        } \
        if (g == NULL) \
            for (; rows > 0; rows--, x += stride) \
                FOR_LANES(N) { \
                    name##_lanes d = LANES_OF(name, x) - center[k]; \
                    sum[k] += d; \
                    product[k] += d * d; \
                } \
        else \
            for (; rows > 0; rows--, g += stride, x += stride) \
                FOR_LANES(N) { \
                    sum[k] += LANES_OF(name, g); \
                    product[k] += (LANES_OF(name, x) - center[k]) * LANES_OF(name, g); \
                } \
        FOR_LANES(N) { \
            ((name##_lanes *) sums)[k] = sum[k]; \
            ((name##_lanes *) products)[k] = product[k]; \
        } \
    } \
    static AUTOGRAD_CY_INLINED void name##_scale_rows( \
            const type *x, type *y, npy_intp rows, npy_intp stride, const type *means, const type *factors, \
            const type *constants, int past) { \
        enum { N = LANES_IN(type, bytes, unit) }; \
        name##_lanes mean[N], factor[N], constant[N]; \
        FOR_LANES(N) { \
            mean[k] = LANES_OF(name, means); \
            factor[k] = LANES_OF(name, factors); \
            constant[k] = LANES_OF(name, constants); \
        } \
        for (; rows > 0; rows--, x += stride, y += stride) \
            FOR_LANES(N) STORE_LANES(name, y, (LANES_OF(name, x) - mean[k]) * factor[k] + constant[k]) \
    } \
    static AUTOGRAD_CY_INLINED void name##_scale( \
            const type *x, type *y, npy_intp rows, npy_intp stride, const type *means, const type *factors, \
            const type *constants, int past) { \
        if (past)               /* a constant for each loop */ \
            name##_scale_rows(x, y, rows, stride, means, factors, constants, 1); \
        else \
            name##_scale_rows(x, y, rows, stride, means, factors, constants, 0); \
    } \
    static AUTOGRAD_CY_INLINED void name##_gradient_rows( \
            const type *g, const type *x, type *out, npy_intp rows, npy_intp stride, const type *means, const type *scales, \
            const type *weights, const type *slopes, const type *constants, int past) { \
        enum { N = LANES_IN(type, bytes, unit) }; \
        name##_lanes mean[N], scale[N], weight[N], slope[N], constant[N]; \
        FOR_LANES(N) { \
            mean[k] = LANES_OF(name, means); \
            scale[k] = LANES_OF(name, scales); \
            weight[k] = LANES_OF(name, weights); \
            slope[k] = LANES_OF(name, slopes); \
            constant[k] = LANES_OF(name, constants); \
        } \
        for (; rows > 0; rows--, g += stride, x += stride, out += stride) \
            FOR_LANES(N) \
                STORE_LANES(name, out, scale[k] * (LANES_OF(name, g) * weight[k] - constant[k] \
                                                   - (LANES_OF(name, x) - mean[k]) * slope[k])) \
    } \
    static AUTOGRAD_CY_INLINED void name##_gradient( \
            const type *g, const type *x, type *out, npy_intp rows, npy_intp stride, const type *means, const type *scales, \
            const type *weights, const type *slopes, const type *constants, int past) { \
        if (past) \
            name##_gradient_rows(g, x, out, rows, stride, means, scales, weights, slopes, constants, 1); \
        else \
            name##_gradient_rows(g, x, out, rows, stride, means, scales, weights, slopes, constants, 0); \
    }
STRIPS(strip_f32, float, STRIP_BYTES, 64)
STRIPS(strip_f64, double, STRIP_BYTES, 64)
STRIPS(piece_f32, float, PIECE_BYTES, 16)
STRIPS(piece_f64, double, PIECE_BYTES, 16)
STRIPS(single_f32, float, 4, 4)
STRIPS(single_f64, double, 8, 8)

#define FOR_COLUMNS(type, bytes) for (; j + (npy_intp) ((bytes) / sizeof(type)) <= width; j += (bytes) / sizeof(type))
#define CAN_STORE_PAST(out, stride) \
    (STORES_PAST && ((size_t) (out) | (size_t) (stride) * sizeof(*(out))) % PIECE_BYTES == 0)

#define TILES(suffix, type) \
    static AUTOGRAD_CY_INLINED void sum_tile_##suffix( \
            const type *g, const type *x, npy_intp rows, npy_intp stride, npy_intp width, const type *centers, type *sums, \
            type *products) { \
        npy_intp j = 0; \
        FOR_COLUMNS(type, STRIP_BYTES) \
            strip_##suffix##_sums(g ? g + j : NULL, x + j, rows, stride, centers + j, sums + j, products + j); \
        FOR_COLUMNS(type, PIECE_BYTES) \
            piece_##suffix##_sums(g ? g + j : NULL, x + j, rows, stride, centers + j, sums + j, products + j); \
        FOR_COLUMNS(type, sizeof(type)) \
            single_##suffix##_sums(g ? g + j : NULL, x + j, rows, stride, centers + j, sums + j, products + j); \
    } \
    static AUTOGRAD_CY_INLINED void scale_tile_##suffix( \
            const type *x, type *y, npy_intp rows, npy_intp stride, npy_intp width, const type *means, const type *factors, \
            const type *constants, int past) { \
        npy_intp j = 0; \
        past = past && CAN_STORE_PAST(y, stride); \
        FOR_COLUMNS(type, STRIP_BYTES) \
            strip_##suffix##_scale(x + j, y + j, rows, stride, means + j, factors + j, constants + j, past); \
        FOR_COLUMNS(type, PIECE_BYTES) \
            piece_##suffix##_scale(x + j, y + j, rows, stride, means + j, factors + j, constants + j, past); \
        FOR_COLUMNS(type, sizeof(type)) \
            single_##suffix##_scale(x + j, y + j, rows, stride, means + j, factors + j, constants + j, 0); \
    } \
    static AUTOGRAD_CY_INLINED void gradient_tile_##suffix( \
            const type *g, const type *x, type *out, npy_intp rows, npy_intp stride, npy_intp width, const type *means, \
            const type *scales, const type *weights, const type *slopes, const type *constants, int past) { \
        npy_intp j = 0; \
        past = past && CAN_STORE_PAST(out, stride); \
        FOR_COLUMNS(type, STRIP_BYTES) \
            strip_##suffix##_gradient(g + j, x + j, out + j, rows, stride, means + j, scales + j, weights + j, slopes + j, \
                                      constants + j, past); \
        FOR_COLUMNS(type, PIECE_BYTES) \
            piece_##suffix##_gradient(g + j, x + j, out + j, rows, stride, means + j, scales + j, weights + j, slopes + j, \
                                      constants + j, past); \
        FOR_COLUMNS(type, sizeof(type)) \
            single_##suffix##_gradient(g + j, x + j, out + j, rows, stride, means + j, scales + j, weights + j, slopes + j, \
                                       constants + j, 0); \
    }
TILES(f32, float)
TILES(f64, double)

#endif
