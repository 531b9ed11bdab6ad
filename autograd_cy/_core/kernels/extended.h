/* The functions of forward formulas for long double, by the C library. They are compiled once, since no machine has vectors
   of this type. Where long double is double, they are not called. */
#ifndef AUTOGRAD_CY_EXTENDED_H
#define AUTOGRAD_CY_EXTENDED_H

#include <math.h>

#define AUTOGRAD_CY_G(name) static inline long double autograd_cy_##name##_g

AUTOGRAD_CY_G(exp)(long double x) { return expl(x); }
AUTOGRAD_CY_G(erf)(long double x) { return erfl(x); }
AUTOGRAD_CY_G(erfc)(long double x) { return erfcl(x); }
AUTOGRAD_CY_G(sqrt)(long double x) { return sqrtl(x); }
AUTOGRAD_CY_G(inverse_root)(long double x) { return 1.0L / sqrtl(x); }
AUTOGRAD_CY_G(ceil)(long double x) { return ceill(x); }
AUTOGRAD_CY_G(floor)(long double x) { return floorl(x); }
AUTOGRAD_CY_G(trunc)(long double x) { return truncl(x); }
AUTOGRAD_CY_G(rint)(long double x) { return rintl(x); }
AUTOGRAD_CY_G(lgamma)(long double x) { return lgammal(x); }
AUTOGRAD_CY_G(expm1)(long double x) { return expm1l(x); }
AUTOGRAD_CY_G(log_of)(long double x) { return logl(x); }
AUTOGRAD_CY_G(log_of_rest)(long double x) { return log1pl(-x); }
AUTOGRAD_CY_G(log1pexp)(long double x) { return (x > 0.0L ? x : 0.0L) + log1pl(expl(x > 0.0L ? -x : x)); }
AUTOGRAD_CY_G(sigmoid)(long double x) { return 1.0L / (1.0L + expl(-x)); }
AUTOGRAD_CY_G(normal_cdf)(long double x) { return 0.5L * erfcl(-0.70710678118654752440084436210484903928L * x); }
AUTOGRAD_CY_G(entr)(long double x) { return x > 0.0L ? -x * logl(x) : x == 0.0L ? 0.0L : x < 0.0L ? -INFINITY : x; }
AUTOGRAD_CY_G(hypot)(long double a, long double b) { return isnan(a) || isnan(b) ? a + b : hypotl(a, b); }
AUTOGRAD_CY_G(nextafter)(long double a, long double b) { return nextafterl(a, b); }
AUTOGRAD_CY_G(ldexp)(long double a, long double b) {
    return b == truncl(b) && fabsl(b) < 1e5L ? ldexpl(a, (int) b) : a * exp2l(b);
}

AUTOGRAD_CY_G(sigmoid_slope)(long double x) {
    long double e = expl(-fabsl(x)), y = 1.0L / (1.0L + e);
    return e * (y * y);
}

/* b / (a * a + b * b), 0 if both are 0, scaled by the larger one */
AUTOGRAD_CY_G(over_square)(long double a, long double b) {
    long double q;
    if (fabsl(b) >= fabsl(a)) {
        q = a / b;
        return b == 0.0L ? 0.0L : 1.0L / b / (1.0L + q * q);
    }
    q = b / a;
    return q / a / (1.0L + q * q);
}

/* tanh(log(1 + exp(x))) */
AUTOGRAD_CY_G(mish_gate)(long double x) {
    long double e = expl(-fabsl(x)), w = x > 0.0L ? 1.0L + (e + e) : e * (e + 2.0L);
    return w / (w + (x > 0.0L ? 2.0L * e * e : 2.0L));
}

#define GELU_1 1.5957691216057307117597842397375274739L
#define GELU_3 0.071354816272600248776338752279863540996L

/* The sigmoid of 2 * sqrt(2 / pi) * (x + 0.044715 * x**3) */
AUTOGRAD_CY_G(gelu_gate)(long double x) {
    return autograd_cy_sigmoid_g(x * (GELU_1 + GELU_3 * x * x));
}

/* x - tanh(x), below 1.5 by tanh's continued fraction x / (1 + x^2 / (3 + x^2 / (5 + ...))), and the square of tanh(x) */
AUTOGRAD_CY_G(tanh_rest)(long double x) {
    long double z = x * x, f = 0.0L;
    int k;
    if (!(z < 2.25L)) return x - tanhl(x);
    for (k = 41; k >= 3; k -= 2) f = z / (k + f);
    return x * f / (1.0L + f);
}

AUTOGRAD_CY_G(tanh_square)(long double x) { x = tanhl(x); return x * x; }

AUTOGRAD_CY_G(logaddexp)(long double a, long double b) {
    long double most = a > b ? a : b, rest = -fabsl(a - b);
    return a == b ? a + 0.69314718055994530941723212145817656808L : isnan(rest) ? a + b : most + log1pl(expl(rest));
}

AUTOGRAD_CY_G(logaddexp2)(long double a, long double b) {
    long double most = a > b ? a : b, rest = -fabsl(a - b);
    return a == b ? a + 1.0L : isnan(rest) ? a + b
           : most + 1.4426950408889634073599246810018921374L * log1pl(exp2l(rest));
}

AUTOGRAD_CY_G(log_of_sum)(long double a, long double b) {
    long double s = a + b, most = fabsl(a) > fabsl(b) ? a : b, rest = (most - s) + (fabsl(a) > fabsl(b) ? b : a);
    return logl(s) + (s > 0.0L && s < INFINITY ? rest / s : 0.0L);
}

/* exp(b) * (b - a + more) */
static inline long double autograd_cy_exp_times_g(long double a, long double b, long double more) {
    long double u = (b - a) + more;
    return u == 0.0L ? 0.0L : expl(b) * u;
}

AUTOGRAD_CY_G(divergence)(long double a, long double b) { return autograd_cy_exp_times_g(a, b, 0.0L); }
AUTOGRAD_CY_G(divergence_slope)(long double a, long double b) { return autograd_cy_exp_times_g(a, b, 1.0L); }
AUTOGRAD_CY_G(divergence_curvature)(long double a, long double b) { return autograd_cy_exp_times_g(a, b, 2.0L); }

#endif
