/* Loops over columns of rows, side by side, whose factors stay in registers: where gcc vectorizes such loops by itself, it reads
   the factors for each row. Part of the functions that call them, which say for which machine they are compiled. */
#ifndef AUTOGRAD_CY_CHANNEL_STRIPS_H
#define AUTOGRAD_CY_CHANNEL_STRIPS_H

#include "clones.h"

#define STRIP_BYTES 256
#if defined(__GNUC__)
#define STRIP_LANES(name, type) \
    typedef type name##_lanes __attribute__((vector_size(64), aligned(sizeof(type)), may_alias));
#define STRIP_OF(type) (STRIP_BYTES / 64)
#else
#define STRIP_LANES(name, type) typedef type name##_lanes;
#define STRIP_OF(type) (STRIP_BYTES / (int) sizeof(type))
#endif
#define FOR_STRIP(type) _Pragma("GCC unroll 4") for (int k = 0; k < STRIP_OF(type); k++)
#define LANES_OF(name, array) ((const name##_lanes *) (array))[k]

#define STRIPS(name, type) \
    STRIP_LANES(name, type) \
    static AUTOGRAD_CY_INLINED void name##_scale(const type *x, type *y, npy_intp rows, npy_intp stride, const type *means, \
                                                 const type *factors, const type *constants) { \
        name##_lanes mean[STRIP_OF(type)], factor[STRIP_OF(type)], constant[STRIP_OF(type)]; \
        FOR_STRIP(type) { \
            mean[k] = LANES_OF(name, means); \
            factor[k] = LANES_OF(name, factors); \
            constant[k] = LANES_OF(name, constants); \
        } \
        for (; rows > 0; rows--, x += stride, y += stride) \
            FOR_STRIP(type) ((name##_lanes *) y)[k] = (LANES_OF(name, x) - mean[k]) * factor[k] + constant[k]; \
    } \
    static AUTOGRAD_CY_INLINED void name##_gradient( \
            const type *g, const type *x, type *out, npy_intp rows, npy_intp stride, const type *means, const type *scales, \
            const type *weights, const type *slopes, const type *constants) { \
        name##_lanes mean[STRIP_OF(type)], scale[STRIP_OF(type)], weight[STRIP_OF(type)], slope[STRIP_OF(type)]; \
        name##_lanes constant[STRIP_OF(type)]; \
        FOR_STRIP(type) { \
            mean[k] = LANES_OF(name, means); \
            scale[k] = LANES_OF(name, scales); \
            weight[k] = LANES_OF(name, weights); \
            slope[k] = LANES_OF(name, slopes); \
            constant[k] = LANES_OF(name, constants); \
        } \
        for (; rows > 0; rows--, g += stride, x += stride, out += stride) \
            FOR_STRIP(type) \
                ((name##_lanes *) out)[k] = scale[k] * (LANES_OF(name, g) * weight[k] - constant[k] \
                                                        - (LANES_OF(name, x) - mean[k]) * slope[k]); \
    }
STRIPS(strip_f32, float)
STRIPS(strip_f64, double)

#endif
