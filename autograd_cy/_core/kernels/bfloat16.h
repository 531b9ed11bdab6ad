/* bfloat16 is the upper half of a float32. Narrowing rounds to nearest, ties to even; nan stays nan. */
#ifndef AUTOGRAD_CY_BFLOAT16_H
#define AUTOGRAD_CY_BFLOAT16_H

#include <stdint.h>
#include <string.h>

static inline float autograd_cy_from_bf16(uint16_t half) {
    uint32_t bits = (uint32_t) half << 16;
    float number;
    memcpy(&number, &bits, sizeof number);
    return number;
}

static inline uint16_t autograd_cy_to_bf16(float number) {
    uint32_t bits;
    memcpy(&bits, &number, sizeof bits);
    uint32_t rounded = (bits + 0x7FFF + (bits >> 16 & 1)) >> 16;
    return (uint16_t) ((bits & 0x7FFFFFFF) > 0x7F800000 ? bits >> 16 | 0x40 : rounded);
}

/* n numbers, `stride` bytes apart, as contiguous float32 */
static inline void autograd_cy_widen(float *to, char const *from, npy_intp stride, npy_intp n) {
    if (stride == sizeof(uint16_t))
        for (npy_intp i = 0; i < n; i++)
            to[i] = autograd_cy_from_bf16(((uint16_t const *) from)[i]);
    else
        for (npy_intp i = 0; i < n; i++)
            to[i] = autograd_cy_from_bf16(*(uint16_t const *) (from + i * stride));
}

static inline void autograd_cy_narrow(char *to, npy_intp stride, float const *from, npy_intp n) {
    if (stride == sizeof(uint16_t))
        for (npy_intp i = 0; i < n; i++)
            ((uint16_t *) to)[i] = autograd_cy_to_bf16(from[i]);
    else
        for (npy_intp i = 0; i < n; i++)
            *(uint16_t *) (to + i * stride) = autograd_cy_to_bf16(from[i]);
}

/* The number after a, towards b. */
static inline uint16_t autograd_cy_nextafter_bf16(uint16_t a, uint16_t b) {
    float x = autograd_cy_from_bf16(a), y = autograd_cy_from_bf16(b);
    if (x != x || y != y)
        return 0x7FC0;
    if (x == y)
        return b;
    if (x == 0)
        return (uint16_t) ((b & 0x8000) | 1);
    return (uint16_t) ((x < y) == (x > 0) ? a + 1 : a - 1);
}

#endif
