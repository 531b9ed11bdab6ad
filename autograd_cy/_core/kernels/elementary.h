/* exp, erf and functions derived from them, for one float or double. They have no branches, tables or calls, so that a
   compiler vectorizes the loop around them. The bits are the same on any machine. The largest errors, in units of the last
   place (tests/kernels/test_elementary.py): exp 1, erf 1.4; normal_cdf 3 where it isn't small; sin and cos 0.9.

   exp: the argument is reduced by a multiple of ln 2, which is subtracted in two parts. Coefficients for float: S. Moshier,
   Cephes, expf.c; for double: Taylor's. ln 2 in two parts for double: Sun's fdlibm, e_exp.c.
   sin: the parts of pi / 2 and the coefficients of both series are from Sun's fdlibm, e_rem_pio2.c, k_sin.c, k_cos.c.
   erf: x + x * P(x * x) below 0.875, 1 - exp(Q(x)) above.
   normal_cdf: exp(-x * x / 2) * P(|x|) / Q(|x|) at -|x|, and 1 minus that at |x|.
   These P and Q were fitted for this file: least squares at Chebyshev's nodes, reweighted until the error is level, with 50
   digits. Their error is below 0.22 * 2**-24 and 0.22 * 2**-53 in erf, 0.1 * 2**-24 and 0.5 * 2**-53 of normal_cdf itself.
   Polynomials are summed in pairs (Estrin): half the latency of Horner's order. */
#ifndef AUTOGRAD_CY_ELEMENTARY_H
#define AUTOGRAD_CY_ELEMENTARY_H

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

/* exp(scale * a * a) * 2**-k. The square is computed in two parts, because exp would magnify its rounding error. */
static inline float autograd_cy_bell_part_f32(float a, float scale, int32_t *k) {
    const float shift = 12582912.0f;
    float hi = autograd_cy_float(autograd_cy_bits_f32(a) & 0xFFFFF000u), x = scale * (hi * hi), n, r;
    n = x * 1.44269504f + shift;
    *k = (int32_t) (autograd_cy_bits_f32(n) - 0x4B400000u);
    n = n - shift;
    r = x - n * 0.693359375f;
    return autograd_cy_exp_series_f32(r + (n * 2.12194440e-4f + scale * ((a - hi) * (a + hi))));
}

static inline double autograd_cy_bell_part_f64(double a, double scale, int64_t *k) {
    const double shift = 6755399441055744.0;
    double hi = autograd_cy_double(autograd_cy_bits_f64(a) & 0xFFFFFFFFF8000000u), x = scale * (hi * hi), n, r;
    n = x * 1.4426950408889634 + shift;
    *k = (int64_t) (autograd_cy_bits_f64(n) - 0x4338000000000000u);
    n = n - shift;
    r = x - n * 6.93147180369123816490e-01;
    return autograd_cy_exp_series_f64(r + (scale * ((a - hi) * (a + hi)) - n * 1.90821492927058770002e-10));
}

/* exp(-a * a / 2) and exp(-a * a), for |a| up to 14.4 and 10.2 (38.6 and 27.3); the fast one has the square's error */
static inline float autograd_cy_fast_bell_f32(float a) {
    int32_t k;
    a = autograd_cy_exp_part_f32(-0.5f * (a * a), &k);
    return autograd_cy_scaled_down_f32(a, k);
}

static inline double autograd_cy_fast_bell_f64(double a) {
    int64_t k;
    a = autograd_cy_exp_part_f64(-0.5 * (a * a), &k);
    return autograd_cy_scaled_down_f64(a, k);
}

static inline double autograd_cy_bell_f64(double a) {
    int64_t k;
    a = autograd_cy_bell_part_f64(a, -0.5, &k);
    return autograd_cy_scaled_down_f64(a, k);
}

static inline float autograd_cy_narrow_bell_f32(float a) {
    int32_t k;
    a = autograd_cy_bell_part_f32(a, -1.0f, &k);
    return autograd_cy_scaled_down_f32(a, k);
}

static inline double autograd_cy_narrow_bell_f64(double a) {
    int64_t k;
    a = autograd_cy_bell_part_f64(a, -1.0, &k);
    return autograd_cy_scaled_down_f64(a, k);
}

/* The standard normal distribution at -a over its bell. */
static inline float autograd_cy_normal_quotient_f32(float a) {
    float s = a * a, p, q;
    p = (0.00411630282f * s + (0.0406329557f * a + 0.183233932f)) * s + (0.438292682f * a + 0.5f);
    q = ((0.0103179216f * a + 0.101858169f) * s + (0.469467551f * a + 1.20249712f)) * s + (1.67447031f * a + 1.0f);
    return p / q;
}

static inline double autograd_cy_normal_quotient_f64(double a) {
    double s = a * a, t = s * s, p, q;
    p = 1.3818827094730428e-06 * a + 3.7168078194291666e-05;
    p = p * t + ((0.00048946656027015116 * a + 0.0040827201903740123) * s
                 + (0.023591302628308879 * a + 0.097597233092139926));
    p = p * t + ((0.28910458755582474 * a + 0.59372625254664602) * s + (0.7746524825956278 * a + 0.5));
    q = (3.4638662717995141e-06 * s + (9.3166555713306191e-05 * a + 0.0012303745859358374));
    q = q * t + ((0.010327028410882141 * a + 0.060354609623543817) * s + (0.25468750085829978 * a + 0.78139342396965339));
    q = q * t + ((1.7133509342196447 * a + 2.560238789162506) * s + (2.3471895259941111 * a + 1.0));
    return p / q;
}

static inline float autograd_cy_within_f32(float x) { x = fabsf(x); return x > 14.4f ? 14.4f : x; }
static inline double autograd_cy_within_f64(double x) { x = fabs(x); return x > 38.6 ? 38.6 : x; }

/* The standard normal distribution and its density. In one loop both take the same exp. */
static inline float autograd_cy_normal_pdf_f32(float x) {
    return 0.3989422804014327f * autograd_cy_fast_bell_f32(autograd_cy_within_f32(x));
}

static inline double autograd_cy_normal_pdf_f64(double x) {
    return 0.3989422804014327 * autograd_cy_fast_bell_f64(autograd_cy_within_f64(x));
}

static inline float autograd_cy_normal_cdf_f32(float x) {
    float a = autograd_cy_within_f32(x), p = autograd_cy_fast_bell_f32(a) * autograd_cy_normal_quotient_f32(a);
    return x > 0.0f ? 1.0f - p : p;
}

static inline double autograd_cy_normal_cdf_f64(double x) {
    double a = autograd_cy_within_f64(x), p = autograd_cy_fast_bell_f64(a) * autograd_cy_normal_quotient_f64(a);
    return x > 0.0 ? 1.0 - p : p;
}

static inline float autograd_cy_erfc_f32(float x) {
    float a = fabsf(x), p;
    a = a > 10.18f ? 10.18f : a;
    p = 2.0f * autograd_cy_normal_quotient_f32(1.4142135623730951f * a) * autograd_cy_narrow_bell_f32(a);
    return x > 0.0f ? p : 2.0f - p;
}

static inline double autograd_cy_erfc_f64(double x) {
    double a = fabs(x), p;
    a = a > 27.29 ? 27.29 : a;
    p = 2.0 * autograd_cy_normal_quotient_f64(1.4142135623730951 * a) * autograd_cy_narrow_bell_f64(a);
    return x > 0.0 ? p : 2.0 - p;
}

static inline float autograd_cy_erf_f32(float x) {
    float a = fabsf(x), s = x * x, t = s * s, p, q;
    int32_t k;
    p = (8.6989523e-05f * s - 0.000821654219f) * s + 0.0052072187f;
    p = p * t + (-0.0268617719f * s + 0.112837367f);
    p = p * t + (-0.376126349f * s + 0.128379166f);
    p = x * p + x;
    s = a > 4.0f ? 4.0f : a;
    t = s * s;
    q = (-2.05598917e-05f * s + 0.000428290747f) * t + (-0.0041412646f * s + 0.0250413176f);
    q = q * t + (-0.108159974f * s - 0.633455336f);
    q = q * t + (-1.12946165f * s + 0.000163709628f);
    q = autograd_cy_exp_part_f32(q, &k);
    q = 1.0f - q * autograd_cy_float((uint32_t) (k + 127) << 23);
    return a < 0.875f ? p : copysignf(q, x);
}

static inline double autograd_cy_erf_f64(double x) {
    double a = fabs(x), s = x * x, t = s * s, p, q;
    int64_t k;
    p = (-8.6697014552750019e-10 * s + 1.4124220138980061e-08) * t + (-1.6289504964030367e-07 * s + 1.6456634562711987e-06);
    p = p * (t * t) + ((-1.4925388922637375e-05 * s + 0.0001205532463225806) * t
                       + (-0.00085483268475477776 * s + 0.0052239776230899237));
    p = p * (t * t) + ((-0.026866170644945508 * s + 0.11283791670954367) * t
                       + (-0.37612638903183743 * s + 0.12837916709551259));
    p = x * p + x;
    s = a > 6.0 ? 6.0 : a;
    t = s * s;
    q = -7.3666639827686367e-12 * s + 2.9764005445010672e-10;
    q = q * (t * t) + ((-5.583563361655244e-09 * s + 6.4398788983005907e-08) * t
                       + (-5.0836097676374703e-07 * s + 2.8779870502336079e-06));
    q = q * (t * t) + ((-1.1757692228867905e-05 * s + 3.2778371129534823e-05) * t
                       + (-4.5390938906326416e-05 * s - 8.5095239855987107e-05));
    q = q * (t * t) + ((0.00069237607536402044 * s - 0.001819855273015297) * t
                       + (0.00031930838531924865 * s + 0.019055964278598212));
    q = q * (t * t) + ((-0.10273813742770986 * s - 0.63663099891900676) * t
                       + (-1.1283769223903743 * s - 2.0789413417830277e-07));
    q = autograd_cy_exp_part_f64(q, &k);
    q = 1.0 - q * autograd_cy_double((uint64_t) (k + 1023) << 52);
    return a < 0.875 ? p : copysign(q, x);
}

/* sin(x + quarters * pi / 2) for |x| <= 2**19. The nearest multiple of pi / 2 is subtracted in three parts, whose products
   with n are exact, and the rounding error is kept (hi + lo). */
#define AUTOGRAD_CY_SIN_LIMIT 524288.0

static inline double autograd_cy_turned_sin(double x, int quarters) {
    const double shift = 6755399441055744.0;
    double n = x * 0.6366197723675814 + shift, r, w, hi, lo, s, c, z;
    uint64_t quarter = autograd_cy_bits_f64(n) + (uint64_t) quarters;
    n = n - shift;
    r = x - n * 1.57079632673412561417e+00;
    w = n * 6.07710050630396597660e-11;
    hi = r - w;
    lo = (r - hi) - w;
    w = n * 2.02226624879595063154e-21;
    r = hi - w;
    lo = lo + ((hi - r) - w);
    hi = r;
    z = hi * hi;
    w = z * hi;
    s = 8.33333333332248946124e-03 + z * (-1.98412698298579493134e-04
        + z * (2.75573137070700676789e-06 + z * (-2.50507602534068634195e-08 + z * 1.58969099521155010221e-10)));
    s = hi - ((z * (0.5 * lo - w * s) - lo) + w * 1.66666666666666324348e-01);
    c = z * (4.16666666666666019037e-02 + z * (-1.38888888888741095749e-03 + z * (2.48015872894767294178e-05
        + z * (-2.75573143513906633035e-07 + z * (2.08757232129817482790e-09 - z * 1.13596475577881948265e-11)))));
    r = 0.5 * z;
    w = 1.0 - r;
    c = w + (((1.0 - w) - r) + (z * c - hi * lo));
    s = quarter & 1 ? c : s;
    return autograd_cy_double(autograd_cy_bits_f64(s) ^ ((quarter & 2) << 62));
}

#endif
