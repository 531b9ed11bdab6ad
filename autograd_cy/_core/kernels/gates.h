/* The sigmoid, the gates of mish and gelu, and other formulas whose unused branch must not overflow: see elementary.h. */
#ifndef AUTOGRAD_CY_GATES_H
#define AUTOGRAD_CY_GATES_H

#include "exponentials.h"

/* x if |x| < 1 / 4, else 0; 1 / x if |x| >= 1 / 4, else 1: for formulas whose unused branch would overflow. */
static inline float autograd_cy_below_quarter_f32(float x) { return fabsf(x) < 0.25f ? x : 0.0f; }
static inline double autograd_cy_below_quarter_f64(double x) { return fabs(x) < 0.25 ? x : 0.0; }
static inline float autograd_cy_inverse_above_quarter_f32(float x) { return 1.0f / (fabsf(x) < 0.25f ? 1.0f : x); }
static inline double autograd_cy_inverse_above_quarter_f64(double x) { return 1.0 / (fabs(x) < 0.25 ? 1.0 : x); }

/* 1 / (1 + x * x): a multiple of x overflows only where the result is 0. The factor is 2**-26. */
static inline float autograd_cy_atan_slope_f32(float x) {
    x = 1.490116119384765625e-8f * x;
    return 2.220446049250313e-16f / (2.220446049250313e-16f + x * x);
}

static inline double autograd_cy_atan_slope_f64(double x) {
    x = 1.490116119384765625e-8 * x;
    return 2.220446049250313e-16 / (2.220446049250313e-16 + x * x);
}

/* The sigmoid is c / (c + c * exp(-x)) with c = 2**-31 (2**-63), so that nothing overflows. Adding `shift` rounds to an
   integer and adds the exponent of c. exp(-x) may be wrong where it is negligible next to 1. */
static inline float autograd_cy_sigmoid_f32(float x) {
    const float shift = 12583008.0f;                    /* 1.5 * 2**23 + 127 - 31 */
    float n, p;
    x = x > 65.0f ? 65.0f : x;
    x = -(x < -104.0f ? -104.0f : x);
    n = x * 1.44269504f + shift;
    p = autograd_cy_float(autograd_cy_bits_f32(n) << 23);
    n = n - shift;
    x = x - n * 0.693359375f;
    p = autograd_cy_exp_series_f32(x + n * 2.12194440e-4f) * p;
    return 4.656612873077393e-10f / (4.656612873077393e-10f + p);
}

static inline double autograd_cy_sigmoid_f64(double x) {
    const double shift = 6755399441056704.0;            /* 1.5 * 2**52 + 1023 - 63 */
    double n, p;
    x = x > 660.0 ? 660.0 : x;
    x = -(x < -746.0 ? -746.0 : x);
    n = x * 1.4426950408889634 + shift;
    p = autograd_cy_double(autograd_cy_bits_f64(n) << 52);
    n = n - shift;
    x = x - n * 6.93147180369123816490e-01;
    p = autograd_cy_exp_series_f64(x - n * 1.90821492927058770002e-10) * p;
    return 1.0842021724855044e-19 / (1.0842021724855044e-19 + p);
}

/* The sigmoid's derivative, from exp(-|x|). */
static inline float autograd_cy_sigmoid_slope_f32(float x) {
    float e = autograd_cy_exp_down_f32(x), y = 1.0f / (1.0f + e);
    return e * (y * y);
}

static inline double autograd_cy_sigmoid_slope_f64(double x) {
    double e = autograd_cy_exp_down_f64(x), y = 1.0 / (1.0 + e);
    return e * (y * y);
}

/* The sigmoid of -x from y = sigmoid(x), where a small result need not be accurate. */
static inline float autograd_cy_sigmoid_rest_f32(float x, float y) { (void) x; return 1.0f - y; }
static inline double autograd_cy_sigmoid_rest_f64(double x, double y) { (void) x; return 1.0 - y; }

/* tanh(log(1 + exp(x))) and its derivative, with e = exp(-|x|): w / (w + 2), where w is exp(x) * (exp(x) + 2). */
static inline float autograd_cy_mish_gate_f32(float x) {
    float e = autograd_cy_exp_down_f32(x), w = x > 0.0f ? 1.0f + (e + e) : e * (e + 2.0f);
    return w * (1.0f / (w + (x > 0.0f ? 2.0f * e * e : 2.0f)));
}

static inline double autograd_cy_mish_gate_f64(double x) {
    double e = autograd_cy_exp_down_f64(x), w = x > 0.0 ? 1.0 + (e + e) : e * (e + 2.0);
    return w * (1.0 / (w + (x > 0.0 ? 2.0 * e * e : 2.0)));
}

static inline float autograd_cy_mish_gate_slope_f32(float x) {
    float e = autograd_cy_exp_down_f32(x), w = x > 0.0f ? 1.0f + (e + e) : e * (e + 2.0f), r;
    r = 1.0f / (w + (x > 0.0f ? 2.0f * e * e : 2.0f));
    return (e + e * e) * (4.0f * (r * r)) * (x > 0.0f ? e : 1.0f);
}

static inline double autograd_cy_mish_gate_slope_f64(double x) {
    double e = autograd_cy_exp_down_f64(x), w = x > 0.0 ? 1.0 + (e + e) : e * (e + 2.0), r;
    r = 1.0 / (w + (x > 0.0 ? 2.0 * e * e : 2.0));
    return (e + e * e) * (4.0 * (r * r)) * (x > 0.0 ? e : 1.0);
}

/* (1 + tanh(u)) / 2 for gelu's u = sqrt(2 / pi) * (x + 0.044715 * x**3): the sigmoid of 2 * u, from a power of two.
   Outside of the range of float it is 0 or 1. */
static inline float autograd_cy_gelu_range_f32(float x) { x = x > 8.9f ? 8.9f : x; return x < -10.75f ? -10.75f : x; }

static inline float autograd_cy_gelu_gate_f32(float x) {
    const float shift = 12583008.0f;
    float n, p;
    x = autograd_cy_gelu_range_f32(x);
    x = x * (-2.302208198144325f - 0.1029432395800235f * (x * x));
    n = x + shift;
    p = autograd_cy_float(autograd_cy_bits_f32(n) << 23);
    p = autograd_cy_exp_series_f32(0.6931471805599453f * (x - (n - shift))) * p;
    return 4.656612873077393e-10f / (4.656612873077393e-10f + p);
}

static inline double autograd_cy_gelu_gate_f64(double x) {
    const double shift = 6755399441056704.0;
    double n, p;
    x = x * (-2.302208198144325 - 0.1029432395800235 * (x * x));
    x = x < -958.0 ? -958.0 : x;
    x = x > 1076.0 ? 1076.0 : x;
    n = x + shift;
    p = autograd_cy_double(autograd_cy_bits_f64(n) << 52);
    p = autograd_cy_exp_series_f64(0.6931471805599453 * (x - (n - shift))) * p;
    return 1.0842021724855044e-19 / (1.0842021724855044e-19 + p);
}

/* The gate's derivative from its value y, where 1 - y need not be accurate. */
static inline float autograd_cy_gelu_gate_rise_f32(float x, float y) {
    x = autograd_cy_gelu_range_f32(x);
    return y * (1.0f - y) * (1.5957691216057308f + 0.21406444881780073f * (x * x));
}

static inline double autograd_cy_gelu_gate_rise_f64(double x, double y) {
    double s = x * x;
    s = s > 625.0 ? 625.0 : s;
    return y * (1.0 - y) * (1.5957691216057308 + 0.21406444881780073 * s);
}

/* The gate's derivative, accurate even if the gate is near 1. Beyond 25 it is 0, in double as well. */
static inline float autograd_cy_gelu_gate_slope_f32(float x) {
    float u;
    x = x > 25.0f ? 25.0f : x < -25.0f ? -25.0f : x;
    u = x * (1.5957691216057308f + 0.07135481627260025f * (x * x));
    return autograd_cy_sigmoid_slope_f32(u) * (1.5957691216057308f + 0.21406444881780073f * (x * x));
}

static inline double autograd_cy_gelu_gate_slope_f64(double x) {
    double u;
    x = x > 25.0 ? 25.0 : x < -25.0 ? -25.0 : x;
    u = x * (1.5957691216057308 + 0.07135481627260025 * (x * x));
    return autograd_cy_sigmoid_slope_f64(u) * (1.5957691216057308 + 0.21406444881780073 * (x * x));
}

#endif
