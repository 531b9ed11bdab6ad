/* Convolutions to few channels, as dot products of adjacent channels: see channel_dots.pyx. */
#ifndef AUTOGRAD_CY_CHANNEL_DOTS_H
#define AUTOGRAD_CY_CHANNEL_DOTS_H

#include <string.h>
#include "tiles.h"

#define PLACES_AT_ONCE 4

/* Adjacent places of a line. Each is a sum over runs of `length` adjacent elements, a multiple of 4. */
typedef struct {
    const void *x, *weight, *bias;          /* bias: may be NULL */
    void *y;
    npy_intp step, row;                     /* elements from one place to the next, and from one filter to the next */
    npy_intp places, filters;
    npy_intp runs, length;
    const npy_intp *seen, *weights;         /* the first element of each run, for the first place and for the first filter */
} autograd_cy_dots;

typedef void LineOfDots(const autograd_cy_dots *of);

#if defined(__GNUC__)
/* Of four fours of elements, the sum of each. */
#define SUMS_OF_FOURS(name, q) \
    name##_four low = __builtin_shuffle(q[0], q[1], (name##_order) {0, 4, 2, 6}) \
                      + __builtin_shuffle(q[0], q[1], (name##_order) {1, 5, 3, 7}); \
    name##_four high = __builtin_shuffle(q[2], q[3], (name##_order) {0, 4, 2, 6}) \
                       + __builtin_shuffle(q[2], q[3], (name##_order) {1, 5, 3, 7}); \
    name##_four totals = __builtin_shuffle(low, high, (name##_order) {0, 1, 4, 5}) \
                         + __builtin_shuffle(low, high, (name##_order) {2, 3, 6, 7});

/* Add the products of the elements from k on in a run to the sums of each filter and place. */
#define ADD_PRODUCTS(vector, sums, hold) \
    { \
        vector seen[PLACES_AT_ONCE]; \
        _Pragma("GCC unroll 4") \
        for (int p = 0; p < places; p++) { \
            seen[p] = *(const vector *) (x + p * of->step + of->seen[r] + k); \
            if (filters > 1) hold(seen[p]); \
        } \
        _Pragma("GCC unroll 4") \
        for (int f = 0; f < filters; f++) { \
            const vector w = *(const vector *) (weight + f * of->row + of->weights[r] + k); \
            _Pragma("GCC unroll 4") \
            for (int p = 0; p < places; p++) sums[f][p] += seen[p] * w; \
        } \
    }

#define CHANNEL_DOTS(name, type, index, size, most, hold, attributes) \
    typedef type name##_vector __attribute__((vector_size(size), aligned(sizeof(type)), may_alias)); \
    typedef type name##_four __attribute__((vector_size(4 * sizeof(type)), aligned(sizeof(type)), may_alias)); \
    typedef index name##_order __attribute__((vector_size(4 * sizeof(type)))); \
    attributes static AUTOGRAD_CY_INLINED void name##_some( \
            const autograd_cy_dots *of, npy_intp place, npy_intp filter, int places, int filters) { \
        enum { LANES = size / sizeof(type), FOURS = LANES / 4 }; \
        const type *x = (const type *) of->x + place * of->step, *weight = (const type *) of->weight + filter * of->row; \
        type *y = (type *) of->y + place * of->filters + filter; \
        const npy_intp whole = of->length / LANES * LANES; \
        name##_vector sums[4][PLACES_AT_ONCE]; \
        name##_four fours[4][PLACES_AT_ONCE]; \
        for (int f = 0; f < filters; f++) \
            for (int p = 0; p < places; p++) sums[f][p] = (name##_vector) {0}; \
        for (npy_intp r = 0; r < of->runs; r++) \
            for (npy_intp k = 0; k < whole; k += LANES) ADD_PRODUCTS(name##_vector, sums, hold) \
        for (int f = 0; f < filters; f++) \
            for (int p = 0; p < places; p++) { \
                name##_four parts[FOURS]; \
                memcpy(parts, &sums[f][p], size); \
                fours[f][p] = parts[0]; \
                for (int k = 1; k < FOURS; k++) fours[f][p] += parts[k]; \
            } \
        for (npy_intp r = 0; r < of->runs; r++) \
            for (npy_intp k = whole; k < of->length; k += 4) ADD_PRODUCTS(name##_four, fours, hold) \
        for (int p = 0; p < (filters == 4 ? places : 0); p++) { \
            const name##_four q[4] = {fours[0][p], fours[1][p], fours[2][p], fours[3][p]}; \
            SUMS_OF_FOURS(name, q) \
            if (of->bias) totals += *(const name##_four *) ((const type *) of->bias + filter); \
            *(name##_four *) (y + p * of->filters) = totals; \
        } \
        for (int f = 0; f < (filters == 4 ? 0 : filters); f++) { \
            const type added = of->bias ? ((const type *) of->bias)[filter + f] : 0; \
            if (places == PLACES_AT_ONCE) { \
                SUMS_OF_FOURS(name, fours[f]) \
                for (int p = 0; p < PLACES_AT_ONCE; p++) y[p * of->filters + f] = totals[p] + added; \
            } else { \
                y[f] = ((fours[f][0][0] + fours[f][0][1]) + (fours[f][0][2] + fours[f][0][3])) + added; \
            } \
        } \
    } \
    attributes static AUTOGRAD_CY_INLINED void name##_filters(const autograd_cy_dots *of, npy_intp filter, int filters) { \
        npy_intp place = 0; \
        for (; place + PLACES_AT_ONCE <= of->places; place += PLACES_AT_ONCE) \
            name##_some(of, place, filter, PLACES_AT_ONCE, filters); \
        for (; place < of->places; place++) name##_some(of, place, filter, 1, filters); \
    } \
    attributes static void name##_line(const autograd_cy_dots *of) { \
        npy_intp filter = 0; \
        for (; filter + most <= of->filters; filter += most) name##_filters(of, filter, most); \
        if (of->filters - filter == 3) \
            name##_filters(of, filter, 3); \
        else if (of->filters - filter == 2) \
            name##_filters(of, filter, 2); \
        else if (of->filters - filter == 1) \
            name##_filters(of, filter, 1); \
    }
#else
#define CHANNEL_DOTS(name, type, index, size, most, hold, attributes) \
    static void name##_line(const autograd_cy_dots *of) { \
        for (npy_intp i = 0; i < of->places * of->filters; i++) { \
            const type *x = (const type *) of->x + i / of->filters * of->step; \
            const type *weight = (const type *) of->weight + i % of->filters * of->row; \
            type sum = 0; \
            for (npy_intp r = 0; r < of->runs; r++) \
                for (npy_intp k = 0; k < of->length; k++) sum += x[of->seen[r] + k] * weight[of->weights[r] + k]; \
            ((type *) of->y)[i] = sum + (of->bias ? ((const type *) of->bias)[i % of->filters] : 0); \
        } \
    }
#endif

#define ANYWHERE(vector) ((void) 0)
CHANNEL_DOTS(dots_f32, float, int, 16, 2, ANYWHERE, )
CHANNEL_DOTS(dots_f64, double, long long, 32, 2, ANYWHERE, )

/* Chosen by the machine's instruction set, as in panels.h. */
#if defined(FUSED)
#define IN_REGISTER(vector) __asm__("" : "+v"(vector))      /* gcc would read it again for each filter */
CHANNEL_DOTS(dots_f32_fma, float, int, 32, 2, IN_REGISTER, FUSED("avx2,fma"))
CHANNEL_DOTS(dots_f64_fma, double, long long, 32, 2, IN_REGISTER, FUSED("avx2,fma"))
CHANNEL_DOTS(dots_f32_avx512, float, int, 64, 4, IN_REGISTER, FUSED("avx512f"))
CHANNEL_DOTS(dots_f64_avx512, double, long long, 64, 4, IN_REGISTER, FUSED("avx512f"))
static LineOfDots *const lines_of_dots[3][2] = {
    {dots_f32_line, dots_f64_line}, {dots_f32_fma_line, dots_f64_fma_line}, {dots_f32_avx512_line, dots_f64_avx512_line}};
#else
static LineOfDots *const lines_of_dots[1][2] = {{dots_f32_line, dots_f64_line}};
#endif

#endif
