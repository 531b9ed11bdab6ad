/* The bits of numbers, exp in its parts, exp and 1 - exp together, roots: see elementary.h. */
#ifndef AUTOGRAD_CY_EXPONENTIALS_H
#define AUTOGRAD_CY_EXPONENTIALS_H

#include <math.h>
#include <stdint.h>
#include <string.h>

static inline uint32_t autograd_cy_bits_f32(float x) { uint32_t bits; memcpy(&bits, &x, sizeof bits); return bits; }
static inline uint64_t autograd_cy_bits_f64(double x) { uint64_t bits; memcpy(&bits, &x, sizeof bits); return bits; }
static inline float autograd_cy_float(uint32_t bits) { float x; memcpy(&x, &bits, sizeof x); return x; }
static inline double autograd_cy_double(uint64_t bits) { double x; memcpy(&x, &bits, sizeof x); return x; }

/* exp(r) - 1 and exp(r) for |r| <= 0.35 */
static inline float autograd_cy_expm1_series_f32(float r) {
    float s = r * r, p;
    p = (1.9875691500e-4f * r + 1.3981999507e-3f) * s + (8.3334519073e-3f * r + 4.1665795894e-2f);
    p = p * s + (1.6666665459e-1f * r + 5.0000001201e-1f);
    return p * s + r;
}

static inline double autograd_cy_expm1_series_f64(double r) {
    double s = r * r, p;
    p = (1.6059043836821613e-10 * r + 2.0876756987868099e-09) * s + (2.5052108385441720e-08 * r + 2.7557319223985893e-07);
    p = p * (s * s)
        + ((2.7557319223985893e-06 * r + 2.4801587301587302e-05) * s + (1.9841269841269841e-04 * r + 1.3888888888888889e-03));
    p = p * (s * s)
        + ((8.3333333333333333e-03 * r + 4.1666666666666667e-02) * s + (1.6666666666666667e-01 * r + 0.5));
    return p * s + r;
}

static inline float autograd_cy_exp_series_f32(float r) { return autograd_cy_expm1_series_f32(r) + 1.0f; }
static inline double autograd_cy_exp_series_f64(double r) { return autograd_cy_expm1_series_f64(r) + 1.0; }

/* exp(x) = the result * 2**k. Adding 1.5 * 2**23 (2**52) rounds to an integer and puts it into the lowest bits. */
static inline float autograd_cy_exp_part_f32(float x, int32_t *k) {
    const float shift = 12582912.0f;
    float n = x * 1.44269504f + shift, r;
    *k = (int32_t) (autograd_cy_bits_f32(n) - 0x4B400000u);
    n = n - shift;
    r = x - n * 0.693359375f;
    return autograd_cy_exp_series_f32(r + n * 2.12194440e-4f);
}

static inline double autograd_cy_exp_part_f64(double x, int64_t *k) {
    const double shift = 6755399441055744.0;
    double n = x * 1.4426950408889634 + shift, r;
    *k = (int64_t) (autograd_cy_bits_f64(n) - 0x4338000000000000u);
    n = n - shift;
    r = x - n * 6.93147180369123816490e-01;
    return autograd_cy_exp_series_f64(r - n * 1.90821492927058770002e-10);
}

/* p * 2**k in two factors: the power itself may overflow, and a denormal result is rounded once. */
static inline float autograd_cy_scaled_f32(float p, int32_t k) {
    int32_t half = k >> 1;
    return p * autograd_cy_float((uint32_t) (half + 127) << 23) * autograd_cy_float((uint32_t) (k - half + 127) << 23);
}

static inline double autograd_cy_scaled_f64(double p, int64_t k) {
    uint64_t half = (uint64_t) (k - (k & 1)) << 51;     /* in the exponent's bits: right shifts are slow */
    return p * autograd_cy_double(half + 0x3FF0000000000000u)
        * autograd_cy_double(((uint64_t) k << 52) - half + 0x3FF0000000000000u);
}

/* exp from -104 to 89 (-746 to 710), beyond which it is 0 or infinite. */
static inline float autograd_cy_exp_within_f32(float x) {
    int32_t k;
    float p = autograd_cy_exp_part_f32(x, &k);
    return autograd_cy_scaled_f32(p, k);
}

static inline double autograd_cy_exp_within_f64(double x) {
    int64_t k;
    double p = autograd_cy_exp_part_f64(x, &k);
    return autograd_cy_scaled_f64(p, k);
}

static inline float autograd_cy_exp_f32(float x) {
    x = x > 89.0f ? 89.0f : x;
    return autograd_cy_exp_within_f32(x < -104.0f ? -104.0f : x);
}

static inline double autograd_cy_exp_f64(double x) {
    x = x > 710.0 ? 710.0 : x;
    return autograd_cy_exp_within_f64(x < -746.0 ? -746.0 : x);
}

/* exp(x) and 1 - exp(x), which is accurate near x = 0 too, where it is a series. */
static inline float autograd_cy_exp_and_rest_f32(float x, float *rest) {
    const float shift = 12582912.0f;
    float n, p, e;
    int32_t k;
    x = x > 89.0f ? 89.0f : x;
    x = x < -104.0f ? -104.0f : x;
    n = x * 1.44269504f + shift;
    k = (int32_t) (autograd_cy_bits_f32(n) - 0x4B400000u);
    n = n - shift;
    x = x - n * 0.693359375f;
    p = autograd_cy_expm1_series_f32(x + n * 2.12194440e-4f);
    e = autograd_cy_scaled_f32(p + 1.0f, k);
    *rest = n == 0.0f ? -p : 1.0f - e;
    return e;
}

static inline double autograd_cy_exp_and_rest_f64(double x, double *rest) {
    const double shift = 6755399441055744.0;
    double n, p, e;
    int64_t k;
    x = x > 710.0 ? 710.0 : x;
    x = x < -746.0 ? -746.0 : x;
    n = x * 1.4426950408889634 + shift;
    k = (int64_t) (autograd_cy_bits_f64(n) - 0x4338000000000000u);
    n = n - shift;
    x = x - n * 6.93147180369123816490e-01;
    p = autograd_cy_expm1_series_f64(x - n * 1.90821492927058770002e-10);
    e = autograd_cy_scaled_f64(p + 1.0, k);
    *rest = n == 0.0 ? -p : 1.0 - e;
    return e;
}

static inline float autograd_cy_sqrt_f32(float x) { return sqrtf(x); }
static inline double autograd_cy_sqrt_f64(double x) { return sqrt(x); }
static inline float autograd_cy_root_f32(float x) { return sqrtf(x); }
static inline double autograd_cy_root_f64(double x) { return sqrt(x); }
static inline float autograd_cy_inverse_root_f32(float x) { return 1 / sqrtf(x); }
static inline double autograd_cy_inverse_root_f64(double x) { return 1 / sqrt(x); }

/* p * 2**k for k <= 0: cheaper, since a power scaled up by a constant can't underflow. */
static inline float autograd_cy_scaled_down_f32(float p, int32_t k) {
    return p * autograd_cy_float((uint32_t) (k + 191) << 23) * 5.42101086242752217e-20f;           /* 2**-64 */
}

static inline double autograd_cy_scaled_down_f64(double p, int64_t k) {
    return p * autograd_cy_double((uint64_t) (k + 1535) << 52) * 7.45834073120020674e-155;         /* 2**-512 */
}

/* exp(-|x|) */
static inline float autograd_cy_exp_down_f32(float x) {
    float a = fabsf(x);
    int32_t k;
    a = autograd_cy_exp_part_f32(-(a > 104.0f ? 104.0f : a), &k);
    return autograd_cy_scaled_down_f32(a, k);
}

static inline double autograd_cy_exp_down_f64(double x) {
    double a = fabs(x);
    int64_t k;
    a = autograd_cy_exp_part_f64(-(a > 746.0 ? 746.0 : a), &k);
    return autograd_cy_scaled_down_f64(a, k);
}

/* exp(-|x|) and 1 - exp(-|x|), accurate near 0 as above. */
static inline float autograd_cy_exp_down_and_rest_f32(float x, float *rest) {
    const float shift = 12582912.0f;
    float a = fabsf(x), n, p, e;
    int32_t k;
    a = -(a > 104.0f ? 104.0f : a);
    n = a * 1.44269504f + shift;
    k = (int32_t) (autograd_cy_bits_f32(n) - 0x4B400000u);
    n = n - shift;
    a = a - n * 0.693359375f;
    p = autograd_cy_expm1_series_f32(a + n * 2.12194440e-4f);
    e = autograd_cy_scaled_down_f32(p + 1.0f, k);
    *rest = n == 0.0f ? -p : 1.0f - e;
    return e;
}

static inline double autograd_cy_exp_down_and_rest_f64(double x, double *rest) {
    const double shift = 6755399441055744.0;
    double a = fabs(x), n, p, e;
    int64_t k;
    a = -(a > 746.0 ? 746.0 : a);
    n = a * 1.4426950408889634 + shift;
    k = (int64_t) (autograd_cy_bits_f64(n) - 0x4338000000000000u);
    n = n - shift;
    a = a - n * 6.93147180369123816490e-01;
    p = autograd_cy_expm1_series_f64(a - n * 1.90821492927058770002e-10);
    e = autograd_cy_scaled_down_f64(p + 1.0, k);
    *rest = n == 0.0 ? -p : 1.0 - e;
    return e;
}

#endif
