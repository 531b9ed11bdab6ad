/* Counter-based random bits, and numbers made from them. As in elementary.h, a compiler can vectorize the loop around a call,
   and the bits are the same on any machine.

   Bits: Threefry4x32-20 of J. Salmon, M. Moraes, R. Dror and D. Shaw, "Parallel random numbers: as easy as 1, 2, 3" (2011): 128
   bits for each pair of a 64-bit key and a counter.
   Normal numbers: G. Box and M. Muller (1958), two from a radius and an angle. The radius is at most 6.6 for float, 8.6 for
   double. Coefficients for float: S. Moshier, Cephes, logf.c and sinf.c; for double: Sun's fdlibm, e_log.c, k_sin.c, k_cos.c. */
#ifndef AUTOGRAD_CY_RANDOM_BITS_H
#define AUTOGRAD_CY_RANDOM_BITS_H

#include "elementary.h"

static inline uint32_t autograd_cy_turned(uint32_t x, int n) { return (x << n) | (x >> (32 - n)); }

#define AUTOGRAD_CY_MIX(a, b, n) \
    a += b; \
    b = autograd_cy_turned(b, n) ^ a;

#define AUTOGRAD_CY_FOUR_ROUNDS(n0, n1, n2, n3, n4, n5, n6, n7) \
    AUTOGRAD_CY_MIX(x0, x1, n0) \
    AUTOGRAD_CY_MIX(x2, x3, n1) \
    AUTOGRAD_CY_MIX(x0, x3, n2) \
    AUTOGRAD_CY_MIX(x2, x1, n3) \
    AUTOGRAD_CY_MIX(x0, x1, n4) \
    AUTOGRAD_CY_MIX(x2, x3, n5) \
    AUTOGRAD_CY_MIX(x0, x3, n6) \
    AUTOGRAD_CY_MIX(x2, x1, n7)

#define AUTOGRAD_CY_ADD_KEY(a, b, c, d) \
    x0 += a; \
    x1 += b; \
    x2 += c; \
    x3 += d;

/* The upper halves of counter and key are 0. */
static inline void autograd_cy_threefry(uint32_t low, uint32_t high, uint64_t key, uint32_t *x) {
    uint32_t k0 = (uint32_t) key, k1 = (uint32_t) (key >> 32), k4 = 0x1BD11BDAu ^ k0 ^ k1;
    uint32_t x0 = low + k0, x1 = high + k1, x2 = 0, x3 = 0;
    AUTOGRAD_CY_FOUR_ROUNDS(10, 26, 11, 21, 13, 27, 23, 5)
    AUTOGRAD_CY_ADD_KEY(k1, 0, 0, k4 + 1)
    AUTOGRAD_CY_FOUR_ROUNDS(6, 20, 17, 11, 25, 10, 18, 20)
    AUTOGRAD_CY_ADD_KEY(0, 0, k4, k0 + 2)
    AUTOGRAD_CY_FOUR_ROUNDS(10, 26, 11, 21, 13, 27, 23, 5)
    AUTOGRAD_CY_ADD_KEY(0, k4, k0, k1 + 3)
    AUTOGRAD_CY_FOUR_ROUNDS(6, 20, 17, 11, 25, 10, 18, 20)
    AUTOGRAD_CY_ADD_KEY(k4, k0, k1, 4)
    AUTOGRAD_CY_FOUR_ROUNDS(10, 26, 11, 21, 13, 27, 23, 5)
    AUTOGRAD_CY_ADD_KEY(k0, k1, 0, 5)
    x[0] = x0;
    x[1] = x1;
    x[2] = x2;
    x[3] = x3;
}

/* In [0, 1): multiples of 2**-24 and 2**-53. Signed integers are used because every machine can convert them. */
static inline float autograd_cy_unit_f32(uint32_t bits) { return (float) (int32_t) (bits >> 8) * 5.9604644775390625e-8f; }

static inline double autograd_cy_unit_f64(uint32_t high, uint32_t low) {
    return ((double) (int32_t) (high >> 5) * 67108864.0 + (double) (int32_t) (low >> 6)) * 1.1102230246251565e-16;
}

/* 0 to n - 1: n times a 64-bit fraction. The probabilities differ by less than n * 2**-64, relatively. */
static inline uint32_t autograd_cy_below(uint32_t high, uint32_t low, uint32_t n) {
    return (uint32_t) (((uint64_t) high * n + (((uint64_t) low * n) >> 32)) >> 32);
}

/* log(x) for a normal number from 2**-60 to 1. */
static inline float autograd_cy_unit_log_f32(float x) {
    uint32_t bits = autograd_cy_bits_f32(x);
    int32_t e = (int32_t) (bits - 0x3F3504F3u) >> 23;
    float n = (float) e, f, s, p;
    f = autograd_cy_float(bits - ((uint32_t) e << 23)) - 1.0f;
    s = f * f;
    p = (7.0376836292e-2f * f - 1.1514610310e-1f) * s + (1.1676998740e-1f * f - 1.2420140846e-1f);
    p = p * s + (1.4249322787e-1f * f - 1.6668057665e-1f);
    p = p * s + (2.0000714765e-1f * f - 2.4999993993e-1f);
    p = (p * f + 3.3333331174e-1f) * f * s;
    p = p - n * 2.12194440e-4f;
    p = p - 0.5f * s;
    return (f + p) + n * 0.693359375f;
}

static inline double autograd_cy_unit_log_f64(double x) {
    const double shift = 6755399441055744.0;
    uint64_t bits = autograd_cy_bits_f64(x), e = (bits - 0x3BE6A09E667F3BCDu) >> 52;       /* and 64: it isn't negative */
    double n = autograd_cy_double(autograd_cy_bits_f64(shift) + e) - (shift + 64.0), f, s, z, w, p, q;
    f = autograd_cy_double(bits + 0x0400000000000000u - (e << 52)) - 1.0;
    s = f / (2.0 + f);
    z = s * s;
    w = z * z;
    p = w * (3.999999999940941908e-01 + w * (2.222219843214978396e-01 + w * 1.531383769920937332e-01));
    q = z * (6.666666666666735130e-01
             + w * (2.857142874366239149e-01 + w * (1.818357216161805012e-01 + w * 1.479819860511658591e-01)));
    w = 0.5 * f * f;
    return n * 6.93147180369123816490e-01 - ((w - (s * (w + (p + q)) + n * 1.90821492927058770002e-10)) - f);
}

/* Two independent normal numbers. The angle is at most an eighth turn to either side of a quarter turn. */
static inline void autograd_cy_normal_pair_f32(uint32_t u, uint32_t v, float *a, float *b) {
    float r = sqrtf(-2.0f * autograd_cy_unit_log_f32(((float) (int32_t) (u >> 1) + 0.5f) * 4.656612873077393e-10f));
    uint32_t quarter = (v + 0x20000000u) >> 30;
    float t = (float) (int32_t) (v - (quarter << 30)) * 1.4629180792671596e-9f, z = t * t, s, c;   /* pi / 2**31 */
    s = ((-1.9515295891e-4f * z + 8.3321608736e-3f) * z - 1.6666654611e-1f) * z * t + t;
    c = ((2.443315711809948e-5f * z - 1.388731625493765e-3f) * z + 4.166664568298827e-2f) * (z * z) - 0.5f * z + 1.0f;
    t = quarter & 1 ? s : c;
    s = quarter & 1 ? c : s;
    *a = r * autograd_cy_float(autograd_cy_bits_f32(t) ^ (((quarter + 1) & 2) << 30));
    *b = r * autograd_cy_float(autograd_cy_bits_f32(s) ^ ((quarter & 2) << 30));
}

static inline void autograd_cy_normal_pair_f64(const uint32_t *x, double *a, double *b) {
    double u = ((double) (int32_t) (x[0] >> 5) * 67108864.0 + ((double) (int32_t) (x[1] >> 6) + 0.5)) * 1.1102230246251565e-16;
    double r = sqrt(-2.0 * autograd_cy_unit_log_f64(u)), t, z, s, c;
    uint32_t quarter = (x[2] + 0x20000000u) >> 30;
    uint64_t turned = quarter;
    t = (double) (int32_t) (x[2] - (quarter << 30)) + (double) (int32_t) (x[3] >> 1) * 4.656612873077393e-10;
    t = t * 1.4629180792671596e-9;
    z = t * t;
    s = t + t * z * (-1.66666666666666324348e-01 + z * (8.33333333332248946124e-03 + z * (-1.98412698298579493134e-04
        + z * (2.75573137070700676789e-06 + z * (-2.50507602534068634195e-08 + z * 1.58969099521155010221e-10)))));
    c = z * (4.16666666666666019037e-02 + z * (-1.38888888888741095749e-03 + z * (2.48015872894767294178e-05
        + z * (-2.75573143513906633035e-07 + z * (2.08757232129817482790e-09 - z * 1.13596475577881948265e-11)))));
    c = 1.0 - (0.5 * z - z * c);
    t = turned & 1 ? s : c;
    s = turned & 1 ? c : s;
    *a = r * autograd_cy_double(autograd_cy_bits_f64(t) ^ (((turned + 1) & 2) << 62));
    *b = r * autograd_cy_double(autograd_cy_bits_f64(s) ^ ((turned & 2) << 62));
}

#endif
