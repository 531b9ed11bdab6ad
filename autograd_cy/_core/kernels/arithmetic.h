/* Logarithms, powers of two, distances, remainders and sums of one or two floats or doubles. As in elementary.h, they have no
   branches, tables or calls, so that a compiler vectorizes the loop around them. The largest errors in units of the last place
   of a double (tests/kernels/test_special.py): log 0.7, hypot 0.5.

   log: Sun's fdlibm, e_log.c; for float: S. Moshier, Cephes, logf.c.
   hypot: C. F. Borges, An improved algorithm for hypot(a, b), ACM TOMS 47 (2021), without fused products. */
#ifndef AUTOGRAD_CY_ARITHMETIC_H
#define AUTOGRAD_CY_ARITHMETIC_H

#include "elementary.h"

/* x = m * 2**k with m from sqrt(1/2) to sqrt(2); denormal numbers are scaled first. */
static inline float autograd_cy_log_f32(float x) {
    float scaled = x < 1.17549435e-38f ? x * 16777216.0f : x, k, m, z, y;
    uint32_t bits = autograd_cy_bits_f32(scaled), above = bits - 0x3F3504F3u;
    k = (float) ((int32_t) ((above + 0x3F800000u) >> 23) - 127) - (x < 1.17549435e-38f ? 24.0f : 0.0f);
    m = autograd_cy_float(bits - (above & 0xFF800000u)) - 1.0f;
    z = m * m;
    y = (7.0376836292e-2f * m - 1.1514610310e-1f) * z + (1.1676998740e-1f * m - 1.2420140846e-1f);
    y = (y * m + 1.4249322787e-1f) * z + (-1.6668057665e-1f * m + 2.0000714765e-1f);
    y = (y * z + (-2.4999993993e-1f * m + 3.3333331174e-1f)) * m * z;
    y = y - k * 2.12194440e-4f - 0.5f * z;
    y = m + y + k * 0.693359375f;
    y = x == 0.0f ? -INFINITY : y;
    return x > 0.0f ? (x < INFINITY ? y : x) : (x == 0.0f ? y : NAN);
}

static inline double autograd_cy_log_f64(double x) {
    int is_small = x < 2.2250738585072014e-308;
    double scaled = is_small ? x * 18014398509481984.0 : x, k, f, s, z, w, t, h;
    uint64_t bits = autograd_cy_bits_f64(scaled), above = bits - 0x3FE6A09E667F3BCDu;
    k = autograd_cy_double(((above + 0x3FF0000000000000u) >> 52) | 0x4330000000000000u) - 4503599627371519.0;
    k = k - (is_small ? 54.0 : 0.0);
    f = autograd_cy_double(bits - (above & 0xFFF0000000000000u)) - 1.0;
    s = f / (2.0 + f);
    z = s * s;
    w = z * z;
    t = w * (3.999999999940941908e-01 + w * (2.222219843214978396e-01 + w * 1.531383769920937332e-01));
    t = t + z * (6.666666666666735130e-01 + w * (2.857142874366239149e-01 + w * (1.818357216161805012e-01
        + w * 1.479819860511658591e-01)));
    h = 0.5 * f * f;
    t = k * 6.93147180369123816490e-01 - ((h - (s * (h + t) + k * 1.90821492927058770002e-10)) - f);
    t = x == 0.0 ? -INFINITY : t;
    return x > 0.0 ? (x < INFINITY ? t : x) : (x == 0.0 ? t : NAN);
}

/* log(1 + x) from 0 to 1, corrected for the rounding error of the sum. */
static inline float autograd_cy_log1p_part_f32(float x) {
    float u = 1.0f + x;
    return autograd_cy_log_f32(u) + (x - (u - 1.0f)) / u;
}

static inline double autograd_cy_log1p_part_f64(double x) {
    double u = 1.0 + x;
    return autograd_cy_log_f64(u) + (x - (u - 1.0)) / u;
}

static inline float autograd_cy_logaddexp_f32(float a, float b) {
    float d = a - b, most = d > 0.0f ? a : b;
    d = autograd_cy_log1p_part_f32(autograd_cy_exp_f32(-fabsf(d)));
    return a == b ? a + 0.6931471805599453f : most + d;
}

static inline double autograd_cy_logaddexp_f64(double a, double b) {
    double d = a - b, most = d > 0.0 ? a : b;
    d = autograd_cy_log1p_part_f64(autograd_cy_exp_f64(-fabs(d)));
    return a == b ? a + 0.6931471805599453 : most + d;
}

/* 2**m for a whole number m from -126 to 127 (-1022 to 1023) */
static inline float autograd_cy_power_of_two_f32(float m) {
    return autograd_cy_float((autograd_cy_bits_f32(m + 12582912.0f) + 127u) << 23);
}

static inline double autograd_cy_power_of_two_f64(double m) {
    return autograd_cy_double((autograd_cy_bits_f64(m + 6755399441055744.0) + 1023u) << 52);
}

/* 2**-|x| */
static inline float autograd_cy_exp2_down_f32(float x) {
    float a = -fabsf(x), n;
    a = a < -151.0f ? -151.0f : a;
    n = (a + 12582912.0f) - 12582912.0f;
    a = autograd_cy_exp_series_f32(0.6931471805599453f * (a - n));
    return autograd_cy_scaled_down_f32(a, (int32_t) (autograd_cy_bits_f32(n + 12582912.0f) - 0x4B400000u));
}

static inline double autograd_cy_exp2_down_f64(double x) {
    double a = -fabs(x), n;
    a = a < -1076.0 ? -1076.0 : a;
    n = (a + 6755399441055744.0) - 6755399441055744.0;
    a = autograd_cy_exp_series_f64(0.6931471805599453 * (a - n));
    return autograd_cy_scaled_down_f64(a, (int64_t) (autograd_cy_bits_f64(n + 6755399441055744.0) - 0x4338000000000000u));
}

/* a * 2**b without overflow or underflow on the way: the smaller powers are multiplied first. An infinite b gives the power
   infinity or 0, and 0 times infinity is nan. */
static inline float autograd_cy_ldexp_f32(float a, float b) {
    float n = b, whole, most, more, edge = b == INFINITY ? INFINITY : 1.0f;
    edge = b == -INFINITY ? 0.0f : edge;
    n = n > 300.0f ? 300.0f : n;
    n = n < -300.0f ? -300.0f : n;
    whole = (n + 12582912.0f) - 12582912.0f;
    most = whole > 127.0f ? 127.0f : whole;
    most = most < -126.0f ? -126.0f : most;
    more = whole - most;
    whole = more;
    more = more > 127.0f ? 127.0f : more;
    more = more < -126.0f ? -126.0f : more;
    a = a * autograd_cy_exp_series_f32(0.6931471805599453f * (n - (most + whole))) * edge;
    a = a * autograd_cy_power_of_two_f32(whole - more) * autograd_cy_power_of_two_f32(more);
    return a * autograd_cy_power_of_two_f32(most);
}

static inline double autograd_cy_ldexp_f64(double a, double b) {
    double n = b, whole, most, more, edge = b == INFINITY ? INFINITY : 1.0;
    edge = b == -INFINITY ? 0.0 : edge;
    n = n > 2200.0 ? 2200.0 : n;
    n = n < -2200.0 ? -2200.0 : n;
    whole = (n + 6755399441055744.0) - 6755399441055744.0;
    most = whole > 1023.0 ? 1023.0 : whole;
    most = most < -1022.0 ? -1022.0 : most;
    more = whole - most;
    whole = more;
    more = more > 1023.0 ? 1023.0 : more;
    more = more < -1022.0 ? -1022.0 : more;
    a = a * autograd_cy_exp_series_f64(0.6931471805599453 * (n - (most + whole))) * edge;
    a = a * autograd_cy_power_of_two_f64(whole - more) * autograd_cy_power_of_two_f64(more);
    return a * autograd_cy_power_of_two_f64(most);
}

static inline float autograd_cy_logaddexp2_f32(float a, float b) {
    float d = a - b, most = d > 0.0f ? a : b;
    d = autograd_cy_log1p_part_f32(autograd_cy_exp2_down_f32(d));
    return a == b ? a + 1.0f : most + 1.4426950408889634f * d;
}

static inline double autograd_cy_logaddexp2_f64(double a, double b) {
    double d = a - b, most = d > 0.0 ? a : b;
    d = autograd_cy_log1p_part_f64(autograd_cy_exp2_down_f64(d));
    return a == b ? a + 1.0 : most + 1.4426950408889634 * d;
}

/* b / (a * a + b * b), 0 if both are 0. Both are scaled by a power of two near the larger one's inverse. */
static inline float autograd_cy_over_square_f32(float a, float b) {
    float x = fabsf(a), y = fabsf(b), scale, d;
    uint32_t exponent = autograd_cy_bits_f32(x > y ? x : y) & 0x7F800000u;
    exponent = exponent < 0x00800000u ? 0x00800000u : exponent;
    exponent = exponent > 0x7E000000u ? 0x7E000000u : exponent;
    scale = autograd_cy_float(0x7F000000u - exponent);
    x = a * scale;
    y = b * scale;
    d = x * x + y * y;
    return d == 0.0f ? 0.0f : y / d * scale;
}

static inline double autograd_cy_over_square_f64(double a, double b) {
    double x = fabs(a), y = fabs(b), scale, d;
    uint64_t exponent = autograd_cy_bits_f64(x > y ? x : y) & 0x7FF0000000000000u;
    exponent = exponent < 0x0010000000000000u ? 0x0010000000000000u : exponent;
    exponent = exponent > 0x7FC0000000000000u ? 0x7FC0000000000000u : exponent;
    scale = autograd_cy_double(0x7FE0000000000000u - exponent);
    x = a * scale;
    y = b * scale;
    d = x * x + y * y;
    return d == 0.0 ? 0.0 : y / d * scale;
}

static inline float autograd_cy_hypot_f32(float a, float b) {
    double y = sqrt((double) a * a + (double) b * b);
    return fabsf(a) == INFINITY || fabsf(b) == INFINITY ? INFINITY : (float) y;
}

static inline double autograd_cy_hypot_f64(double a, double b) {
    double x = fabs(a), y = fabs(b), most = x > y ? x : y, least = x > y ? y : x, scale, back, h, d, e, f;
    uint64_t exponent = autograd_cy_bits_f64(most) & 0x7FF0000000000000u;
    exponent = exponent < 0x0360000000000000u ? 0x0360000000000000u : exponent;     /* 2**-969: its inverse is a number */
    exponent = exponent > 0x7FC0000000000000u ? 0x7FC0000000000000u : exponent;
    back = autograd_cy_double(exponent);
    scale = autograd_cy_double(0x7FE0000000000000u - exponent);
    x = most * scale;
    y = least * scale;
    h = sqrt(x * x + y * y);
    d = h - y;
    e = x * (2.0 * d - x) + (d - 2.0 * (x - y)) * d;
    d = h - x;
    f = 2.0 * d * (x - 2.0 * y) + (4.0 * d - y) * y + d * d;
    e = h <= 2.0 * y ? e : f;
    h = h - (h > 0.0 ? e / (2.0 * h) : 0.0);
    h = fabs(a) == INFINITY || fabs(b) == INFINITY ? INFINITY : h * back;
    return a != a || b != b ? (fabs(a) == INFINITY || fabs(b) == INFINITY ? INFINITY : a + b) : h;
}

/* Consecutive numbers have consecutive bits, up and down from 0. */
static inline float autograd_cy_nextafter_f32(float a, float b) {
    uint32_t bits = autograd_cy_bits_f32(a), least = (autograd_cy_bits_f32(b) & 0x80000000u) | 1u;
    bits = (b > a) == (a > 0.0f) ? bits + 1u : bits - 1u;
    bits = a == 0.0f ? least : bits;
    return a != a || b != b ? a + b : a == b ? b : autograd_cy_float(bits);
}

static inline double autograd_cy_nextafter_f64(double a, double b) {
    uint64_t bits = autograd_cy_bits_f64(a), least = (autograd_cy_bits_f64(b) & 0x8000000000000000u) | 1u;
    bits = (b > a) == (a > 0.0) ? bits + 1u : bits - 1u;
    bits = a == 0.0 ? least : bits;
    return a != a || b != b ? a + b : a == b ? b : autograd_cy_double(bits);
}

/* The exact remainder of a division, with the sign of a, for numbers that `is_plain` accepts. The quotient is one too large
   if it was rounded up to an integer. */
static inline int autograd_cy_is_plain_f32(float a, float b) {
    return fabs((double) a / b) < 536870912.0 && fabsf(b) < INFINITY;
}

static inline int autograd_cy_is_plain_f64(double a, double b) {
    return fabs(a / b) < 4503599627370496.0 && fabs(b) > 1e-270 && fabs(b) < 1e270;
}

static inline float autograd_cy_fmod_f32(float a, float b) {
    double y = a, z = fabs((double) b), r = fabs(y);
    r = r - trunc(r / z) * z;
    r = r < 0.0 ? r + z : r;
    return copysignf((float) r, a);
}

static inline double autograd_cy_fmod_f64(double a, double b) {
    double z = fabs(b), x = fabs(a), q = trunc(x / z), hi, lo, s, t, u, v;
    hi = q * z;
    s = q * 134217729.0;        /* the product of the quotient and z in two parts: Dekker's */
    s = s - (s - q);
    t = q - s;
    u = z * 134217729.0;
    u = u - (u - z);
    v = z - u;
    lo = t * v - (((hi - s * u) - t * u) - s * v);
    x = (x - hi) - lo;
    x = x < 0.0 ? x + z : x;
    return copysign(x, a);
}

/* floor(a / b), as NumPy and PyTorch define it. */
static inline float autograd_cy_floor_quotient_f32(float a, float b) {
    float m = autograd_cy_fmod_f32(a, b), q = (a - m) / b, y;
    q = m != 0.0f && (b < 0.0f) != (m < 0.0f) ? q - 1.0f : q;
    y = floorf(q);
    y = q - y > 0.5f ? y + 1.0f : y;
    return q != 0.0f ? y : copysignf(0.0f, a / b);
}

static inline double autograd_cy_floor_quotient_f64(double a, double b) {
    double m = autograd_cy_fmod_f64(a, b), q = (a - m) / b, y;
    q = m != 0.0 && (b < 0.0) != (m < 0.0) ? q - 1.0 : q;
    y = floor(q);
    y = q - y > 0.5 ? y + 1.0 : y;
    return q != 0.0 ? y : copysign(0.0, a / b);
}

/* x - tanh(x), and its derivative, the square of tanh(x). Below 1.5 by the continued fraction x / (1 + x^2 / (3 + ...)), whose
   terms don't cancel; beyond by exp(-2 |x|). */
static inline float autograd_cy_tanh_rest_f32(float x) {
    float z = x * x, e = autograd_cy_exp_down_f32(x + x), top, q;
    float d = ((28.0f * z + 3150.0f) * z + 62370.0f) * z + 135135.0f;
    top = x * (z * ((27.0f * z + 2772.0f) * z + 45045.0f));
    q = (z < 2.25f ? top : copysignf(1.0f - e, x)) / (z < 2.25f ? d : 1.0f + e);
    return z < 2.25f ? q : x - q;
}

static inline double autograd_cy_tanh_rest_f64(double x) {
    double z = x * x, e = autograd_cy_exp_down_f64(x + x), top, q;
    double d = ((((66.0 * z + 45045.0) * z + 7567560.0) * z + 413513100.0) * z + 6547290750.0) * z + 13749310575.0;
    top = x * (z * ((((65.0 * z + 42900.0) * z + 6891885.0) * z + 349188840.0) * z + 4583103525.0));
    q = (z < 2.25 ? top : copysign(1.0 - e, x)) / (z < 2.25 ? d : 1.0 + e);
    return z < 2.25 ? q : x - q;
}

static inline float autograd_cy_tanh_square_f32(float x) {
    float rest, e = autograd_cy_exp_down_and_rest_f32(x + x, &rest), y = rest / (1.0f + e);
    return y * y;
}

static inline double autograd_cy_tanh_square_f64(double x) {
    double rest, e = autograd_cy_exp_down_and_rest_f64(x + x, &rest), y = rest / (1.0 + e);
    return y * y;
}

/* log(a + b), corrected for the rounding error of a + b, which matters if the sum is near 1. */
static inline float autograd_cy_log_of_sum_f32(float a, float b) {
    float s = a + b, most = fabsf(a) > fabsf(b) ? a : b, rest = (most - s) + (fabsf(a) > fabsf(b) ? b : a);
    return autograd_cy_log_f32(s) + (s > 0.0f && s < INFINITY ? rest / s : 0.0f);
}

static inline double autograd_cy_log_of_sum_f64(double a, double b) {
    double s = a + b, most = fabs(a) > fabs(b) ? a : b, rest = (most - s) + (fabs(a) > fabs(b) ? b : a);
    return autograd_cy_log_f64(s) + (s > 0.0 && s < INFINITY ? rest / s : 0.0);
}

/* exp(b) * (b - a + more), without overflow of the exponential or cancellation if the type can hold the product. */
static inline float autograd_cy_exp_times_f32(float a, float b, double more) {
    double u = ((double) b - (double) a) + more;
    return u == 0.0 ? 0.0f : (float) (autograd_cy_exp_f64((double) b) * u);
}

static inline double autograd_cy_exp_times_f64(double a, double b, double more) {
    double s = b - a, z = s - b, rest = (b - (s - z)) - (a + z), u = s + more, shift = b > 700.0 ? 708.0 : 0.0, back;
    u = rest == rest ? u + rest : u;
    shift = b < -700.0 ? -708.0 : shift;
    back = b > 700.0 ? 3.023383144276055e+307 : 1.0;                   /* exp(708) */
    back = b < -700.0 ? 3.307553003638408e-308 : back;
    return u == 0.0 ? 0.0 : autograd_cy_exp_f64(b - shift) * u * back;
}

static inline float autograd_cy_divergence_f32(float a, float b) { return autograd_cy_exp_times_f32(a, b, 0.0); }
static inline double autograd_cy_divergence_f64(double a, double b) { return autograd_cy_exp_times_f64(a, b, 0.0); }
static inline float autograd_cy_divergence_slope_f32(float a, float b) { return autograd_cy_exp_times_f32(a, b, 1.0); }
static inline double autograd_cy_divergence_slope_f64(double a, double b) { return autograd_cy_exp_times_f64(a, b, 1.0); }
static inline float autograd_cy_divergence_curvature_f32(float a, float b) { return autograd_cy_exp_times_f32(a, b, 2.0); }
static inline double autograd_cy_divergence_curvature_f64(double a, double b) { return autograd_cy_exp_times_f64(a, b, 2.0); }

#endif
