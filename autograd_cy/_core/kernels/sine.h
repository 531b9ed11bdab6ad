/* sin and cos of moderate numbers: see elementary.h. */
#ifndef AUTOGRAD_CY_SINE_H
#define AUTOGRAD_CY_SINE_H

#include "exponentials.h"

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
