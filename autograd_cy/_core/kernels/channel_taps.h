/* Sums over the taps of a kernel, for 64 bytes of adjacent channels: see channel_taps.pyx. */
#ifndef AUTOGRAD_CY_CHANNEL_TAPS_H
#define AUTOGRAD_CY_CHANNEL_TAPS_H

#include "tiles.h"

#define LANE_BYTES 64
#define FEW_PLACES 8        /* summed at once, at most: half as many if a vector is not the whole lane */
#define FEW_TAPS 9          /* whose sums over places stay in registers */

/* out = bias + the sum over taps of the weight times the pixel that the tap sees. */
typedef void SumOfTaps(const void *x, npy_intp step, npy_intp places, const npy_intp *offsets, const npy_intp *weights,
                       npy_intp taps, const void *weight, const void *bias, void *out, npy_intp out_step);
/* totals += for each tap, the sum over the places of some lines of its pixel times g. A tap's total is at `weights`. */
typedef void SumOfPlaces(const void *x, npy_intp line, npy_intp step, npy_intp lines, npy_intp places,
                         const npy_intp *offsets, const npy_intp *weights, npy_intp taps, const void *g, npy_intp g_line,
                         npy_intp g_step, double *totals);

#if defined(__GNUC__)
#define CHANNEL_TAPS(name, type, size, attributes) \
    typedef type name##_vector __attribute__((vector_size(size), aligned(sizeof(type)), may_alias)); \
    static AUTOGRAD_CY_INLINED void name##_some_places( \
            const type *x, npy_intp step, const npy_intp *offsets, const npy_intp *weights, npy_intp taps, \
            const type *weight, const type *bias, type *out, npy_intp out_step, int places) { \
        name##_vector sums[FEW_PLACES][LANE_BYTES / size], w[LANE_BYTES / size]; \
        for (int p = 0; p < places; p++) \
            for (int v = 0; v < LANE_BYTES / size; v++) sums[p][v] = ((const name##_vector *) bias)[v]; \
        for (npy_intp t = 0; t < taps; t++) { \
            const type *seen = x + offsets[t]; \
            for (int v = 0; v < LANE_BYTES / size; v++) w[v] = ((const name##_vector *) (weight + weights[t]))[v]; \
            _Pragma("GCC unroll 8") \
            for (int p = 0; p < places; p++) \
                for (int v = 0; v < LANE_BYTES / size; v++) \
                    sums[p][v] += ((const name##_vector *) (seen + p * step))[v] * w[v]; \
        } \
        for (int p = 0; p < places; p++) \
            for (int v = 0; v < LANE_BYTES / size; v++) ((name##_vector *) (out + p * out_step))[v] = sums[p][v]; \
    } \
    attributes static void name##_sum( \
            const void *x, npy_intp step, npy_intp places, const npy_intp *offsets, const npy_intp *weights, npy_intp taps, \
            const void *weight, const void *bias, void *out, npy_intp out_step) { \
        const type *from = x; \
        type *to = out; \
        for (; size == LANE_BYTES && places >= 8; places -= 8, from += 8 * step, to += 8 * out_step) \
            name##_some_places(from, step, offsets, weights, taps, weight, bias, to, out_step, 8); \
        for (; places >= 4; places -= 4, from += 4 * step, to += 4 * out_step) \
            name##_some_places(from, step, offsets, weights, taps, weight, bias, to, out_step, 4); \
        for (; places >= 2; places -= 2, from += 2 * step, to += 2 * out_step) \
            name##_some_places(from, step, offsets, weights, taps, weight, bias, to, out_step, 2); \
        if (places > 0) name##_some_places(from, step, offsets, weights, taps, weight, bias, to, out_step, 1); \
    } \
    static AUTOGRAD_CY_INLINED void name##_some_taps( \
            const type *x, npy_intp line, npy_intp step, npy_intp lines, npy_intp places, const npy_intp *offsets, \
            const npy_intp *weights, const type *g, npy_intp g_line, npy_intp g_step, double *totals, int taps) { \
        name##_vector sums[FEW_TAPS][LANE_BYTES / size], coming[LANE_BYTES / size]; \
        for (int t = 0; t < taps; t++) \
            for (int v = 0; v < LANE_BYTES / size; v++) sums[t][v] = (name##_vector) {0}; \
        for (; lines > 0; lines--, x += line - places * step, g += g_line - places * g_step) \
            for (npy_intp p = 0; p < places; p++, x += step, g += g_step) { \
                for (int v = 0; v < LANE_BYTES / size; v++) coming[v] = ((const name##_vector *) g)[v]; \
                _Pragma("GCC unroll 9") \
                for (int t = 0; t < taps; t++) \
                    for (int v = 0; v < LANE_BYTES / size; v++) \
                        sums[t][v] += ((const name##_vector *) (x + offsets[t]))[v] * coming[v]; \
            } \
        for (int t = 0; t < taps; t++) { \
            type lanes[LANE_BYTES / sizeof(type)]; \
            memcpy(lanes, sums[t], sizeof lanes); \
            for (int k = 0; k < (int) (LANE_BYTES / sizeof(type)); k++) totals[weights[t] + k] += lanes[k]; \
        } \
    } \
    attributes static void name##_dot( \
            const void *x, npy_intp line, npy_intp step, npy_intp lines, npy_intp places, const npy_intp *offsets, \
            const npy_intp *weights, npy_intp taps, const void *g, npy_intp g_line, npy_intp g_step, double *totals) { \
        for (; size == LANE_BYTES && taps >= 9; taps -= 9, offsets += 9, weights += 9) \
            name##_some_taps(x, line, step, lines, places, offsets, weights, g, g_line, g_step, totals, 9); \
        for (; taps >= 5; taps -= 5, offsets += 5, weights += 5) \
            name##_some_taps(x, line, step, lines, places, offsets, weights, g, g_line, g_step, totals, 5); \
        for (; taps >= 3; taps -= 3, offsets += 3, weights += 3) \
            name##_some_taps(x, line, step, lines, places, offsets, weights, g, g_line, g_step, totals, 3); \
        for (; taps > 0; taps--, offsets++, weights++) \
            name##_some_taps(x, line, step, lines, places, offsets, weights, g, g_line, g_step, totals, 1); \
    }
#else
#define CHANNEL_TAPS(name, type, size, attributes) \
    static void name##_sum( \
            const void *x, npy_intp step, npy_intp places, const npy_intp *offsets, const npy_intp *weights, npy_intp taps, \
            const void *weight, const void *bias, void *out, npy_intp out_step) { \
        for (npy_intp p = 0; p < places; p++) { \
            type sums[LANE_BYTES / sizeof(type)]; \
            memcpy(sums, bias, sizeof sums); \
            for (npy_intp t = 0; t < taps; t++) { \
                const type *seen = (const type *) x + offsets[t] + p * step, *w = (const type *) weight + weights[t]; \
                for (int k = 0; k < (int) (LANE_BYTES / sizeof(type)); k++) sums[k] += seen[k] * w[k]; \
            } \
            memcpy((type *) out + p * out_step, sums, sizeof sums); \
        } \
    } \
    static void name##_dot( \
            const void *x, npy_intp line, npy_intp step, npy_intp lines, npy_intp places, const npy_intp *offsets, \
            const npy_intp *weights, npy_intp taps, const void *g, npy_intp g_line, npy_intp g_step, double *totals) { \
        for (npy_intp t = 0; t < taps; t++) { \
            type sums[LANE_BYTES / sizeof(type)] = {0}; \
            for (npy_intp i = 0; i < lines * places; i++) { \
                const type *seen = (const type *) x + offsets[t] + i / places * line + i % places * step; \
                const type *coming = (const type *) g + i / places * g_line + i % places * g_step; \
                for (int k = 0; k < (int) (LANE_BYTES / sizeof(type)); k++) sums[k] += seen[k] * coming[k]; \
            } \
            for (int k = 0; k < (int) (LANE_BYTES / sizeof(type)); k++) totals[weights[t] + k] += sums[k]; \
        } \
    }
#endif

CHANNEL_TAPS(taps_f32, float, 16, )
CHANNEL_TAPS(taps_f64, double, 16, )

/* Chosen by the machine's instruction set, as in panels.h. */
#if defined(FUSED)
CHANNEL_TAPS(taps_f32_fma, float, 32, FUSED("avx2,fma"))
CHANNEL_TAPS(taps_f64_fma, double, 32, FUSED("avx2,fma"))
CHANNEL_TAPS(taps_f32_avx512, float, 64, FUSED("avx512f"))
CHANNEL_TAPS(taps_f64_avx512, double, 64, FUSED("avx512f"))
static SumOfTaps *const sums_of_taps[3][2] = {
    {taps_f32_sum, taps_f64_sum}, {taps_f32_fma_sum, taps_f64_fma_sum}, {taps_f32_avx512_sum, taps_f64_avx512_sum}};
static SumOfPlaces *const sums_of_places[3][2] = {
    {taps_f32_dot, taps_f64_dot}, {taps_f32_fma_dot, taps_f64_fma_dot}, {taps_f32_avx512_dot, taps_f64_avx512_dot}};
#else
static SumOfTaps *const sums_of_taps[1][2] = {{taps_f32_sum, taps_f64_sum}};
static SumOfPlaces *const sums_of_places[1][2] = {{taps_f32_dot, taps_f64_dot}};
#endif

#endif
