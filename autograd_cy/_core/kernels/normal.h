/* The normal distribution, its density, erf and erfc: see elementary.h. */
#ifndef AUTOGRAD_CY_NORMAL_H
#define AUTOGRAD_CY_NORMAL_H

#include "exponentials.h"

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

#endif
