/* Special functions of one float or double: gamma, error and Bessel functions, the normal distribution. As in elementary.h,
   they have no branches, tables or calls, so that a compiler vectorizes the loop around them. Many functions of float compute
   in double and round. The largest errors in units of the last place of a double, away from roots
   (tests/kernels/test_special.py): trigamma and the Bessel functions 4, digamma 3, erfinv 2.2, log_ndtr 16, erfcx 12 far below
   0; of a float: erfinv 1.1.

   digamma: Boost's from 1 to 2 (J. Maddock, digamma.hpp), by recurrence up to 10; then the asymptotic series. trigamma: the
   asymptotic series from 8 on, after recurrence. Both by reflection below 0.
   erfinv: Boost's (J. Maddock, erf_inv.hpp).
   erfcx, log_ndtr: from the quotient of normal_cdf, and its asymptotic series.
   I0, I1: Taylor's series up to 8, with positive terms only; above, a polynomial in 1 / x.
   This polynomial and erfinv for float were made for this file: Chebyshev series, with 45 digits; error below 0.1 units. */
#ifndef AUTOGRAD_CY_SPECIAL_H
#define AUTOGRAD_CY_SPECIAL_H

#include "arithmetic.h"

/* pi * cot(pi * x), from the difference of x and its nearest integer, and the square of pi / sin(pi * x) */
static inline double autograd_cy_cotangent(double x, double *square) {
    const double shift = 6755399441055744.0;
    double n = x + shift, r, s, c;
    r = x - (n - shift);
    s = autograd_cy_turned_sin(3.141592653589793 * r, 0);
    c = autograd_cy_turned_sin(3.141592653589793 * (0.5 - fabs(r)), 0);
    *square = 9.869604401089358 / (s * s);
    return 3.141592653589793 * c / s;
}

static inline double autograd_cy_digamma_f64(double x) {
    double y = x > 0.0 ? x : 1.0 - x, sum = 0.0, g, p, q, z, large, square, cotangent, d, s, t;
    int k;
    z = y < 10.0 ? 10.0 : y;
    z = z - 1.0;
    large = autograd_cy_log_f64(z) + 1.0 / (2.0 * z);
    z = 1.0 / (z * z);
    p = 0.083333333333333333 - z * (0.0083333333333333333 - z * (0.0039682539682539683 - z * (0.0041666666666666667
        - z * (0.0075757575757575758 - z * (0.021092796092796093 - z * (0.083333333333333333 - z * 0.44325980392156863))))));
    large = large - z * p;
    s = y < 1.0 ? 1.0 / y : 0.0;
    z = y < 1.0 ? y + 1.0 : y > 10.0 ? 10.0 : y;
    for (k = 0; k < 8; k++) {
        q = z - 1.0;
        sum = z >= 2.0 ? sum + 1.0 / q : sum;
        z = z >= 2.0 ? q : z;
    }
    g = ((z - 1569415565.0 / 1073741824.0) - 381566830.0 / 1073741824.0 / 1073741824.0) - 9.016312093258695918e-20;
    z = z - 1.0;
    p = 0.25479851061131551 + z * (-0.32555031186804491 + z * (-0.65031853770896507 + z * (-0.28919126444774784
        + z * (-0.045251321448739056 + z * -0.0020713321167745952))));
    q = 1.0 + z * (2.0767117023730469 + z * (1.4606242909763515 + z * (0.43593529692665969 + z * (0.054151797245674225
        + z * (0.0021284987017821144 + z * -0.55789841321675513e-6)))));
    sum = sum + (g * 0.99558162689208984 + g * (p / q)) - s;
    sum = y >= 10.0 ? large : sum;
    cotangent = autograd_cy_cotangent(x, &square);
    z = sum - cotangent;
    /* near the first root below 0 */
    d = (x - -0.5040830082644554) - -8.15428206243813e-18;
    g = d > 0.16 ? 0.16 : d < -0.16 ? -0.16 : d;
    s = g * g;
    t = s * s;
    p = (-6189646.1908596907 * d + 15371130.101165039);
    p = p * t + ((-506106.5291647274 * d + 1664356.1528818103) * s + (-171851.99171401657 * d + 547018.52758604078));
    p = p * t + ((-36330.631296389177 * d + 131894.36867972179) * s + (-8054.8660276472347 * d + 33002.945415490641));
    p = p * t + ((-1743.334261466607 * d + 8234.6209911183984) * s + (-368.578543617255 * d + 2055.5359678307503));
    p = p * t + ((-75.376999913888435 * d + 513.2704621299958) * s + (-14.706721737142477 * d + 128.27342343227491));
    p = p * t + ((-2.7610116487892301 * d + 32.258572064914626) * s + (-0.80934546253065117 * d + 8.9397985587921346));
    z = fabs(d) < 0.16 ? p * d : z;
    z = x == x - 1.0 ? NAN : z;         /* an infinite number, or one so large that it is an integer */
    z = x == floor(x) ? NAN : z;
    z = x == 0.0 ? -copysign(INFINITY, x) : z;
    return x > 0.0 ? sum : x == x ? z : x;
}

static inline double autograd_cy_trigamma_f64(double x) {
    double y = x > 0.0 ? x : 1.0 - x, sum = 0.0, z, w, square;
    int k;
    for (k = 0; k < 8; k++) {
        z = y + k;
        sum = sum + 1.0 / (z * z);
    }
    z = 1.0 / (y + 8.0);
    w = z * z;
    w = 0.16666666666666667 + w * (-0.033333333333333333 + w * (0.023809523809523810 + w * (-0.033333333333333333
        + w * (0.075757575757575758 + w * (-0.25311355311355311 + w * (1.1666666666666667 + w * -7.0921568627450980))))));
    sum = sum + (z + 0.5 * (z * z) + z * (z * z) * w);
    autograd_cy_cotangent(x, &square);
    square = x == floor(x) ? INFINITY : square - sum;
    return x > 0.0 ? sum : x == x ? square : x;
}

static inline double autograd_cy_erfinv_f64(double x) {
    double a = fabs(x) < 1.0 ? fabs(x) : 0.5, r = 1.0 - a, l = autograd_cy_log_f64(r), s = sqrt(-l), c, p, q, y, far;
    p = ((-0.00538772965071242932965 * a + 0.00822687874676915743155) * a + 0.0219878681111168899165) * a
        - 0.0365637971411762664006;
    p = ((p * a - 0.0126926147662974029034) * a + 0.0334806625409744615033) * a - 0.00836874819741736770379;
    p = p * a - 0.000508781949658280665617;
    q = ((0.000886216390456424707504 * a - 0.00233393759374190016776) * a + 0.0795283687341571680018) * a
        - 0.0527396382340099713954;
    q = ((q * a - 0.71228902341542847553) * a + 0.662328840472002992063) * a + 1.56221558398423026363;
    q = ((q * a - 1.56574558234175846809) * a - 0.970005043303290640362) * a + 1.0;
    c = a * (a + 10.0);
    y = c * 0.0891314744949340820313 + c * (p / q);
    c = r - 0.25;
    p = ((-3.67192254707729348546 * c + 21.1294655448340526258) * c + 17.445385985570866523) * c - 44.6382324441786960818;
    p = ((p * c - 18.8510648058714251895) * c + 17.6447298408374015486) * c + 8.37050328343119927838;
    p = (p * c + 0.105264680699391713268) * c - 0.202433508355938759655;
    q = ((1.72114765761200282724 * c - 22.6436933413139721736) * c + 10.8268667355460159008) * c + 48.5609213108739935468;
    q = ((q * c - 20.1432634680485188801) * c - 28.6608180499800029974) * c + 3.9713437953343869095;
    q = (q * c + 6.24264124854247537712) * c + 1.0;
    far = sqrt(-2.0 * l) / (2.249481201171875 + p / q);
    y = a > 0.5 ? far : y;
    c = s - 1.125;
    p = ((-0.681149956853776992068e-9 * c + 0.285225331782217055858e-7) * c - 0.679465575181126350155e-6) * c
        + 0.00214558995388805277169;
    p = ((p * c + 0.0290157910005329060432) * c + 0.142869534408157156766) * c + 0.337785538912035898924;
    p = ((p * c + 0.387079738972604337464) * c + 0.117030156341995252019) * c - 0.163794047193317060787;
    p = p * c - 0.131102781679951906451;
    q = ((0.01105924229346489121 * c + 0.152264338295331783612) * c + 0.848854343457902036425) * c + 2.59301921623620271374;
    q = ((q * c + 4.77846592945843778382) * c + 5.38168345707006855425) * c + 3.46625407242567245975;
    q = q * c + 1.0;
    far = 0.807220458984375 * s + p / q * s;
    y = r < 0.25 ? far : y;
    c = s - 3.0;
    p = ((0.266339227425782031962e-11 * c - 0.230404776911882601748e-9) * c + 0.460469890584317994083e-5) * c
        + 0.000157544617424960554631;
    p = ((p * c + 0.00187123492819559223345) * c + 0.00950804701325919603619) * c + 0.0185573306514231072324;
    p = (p * c - 0.00222426529213447927281) * c - 0.0350353787183177984712;
    q = ((0.764675292302794483503e-4 * c + 0.00263861676657015992959) * c + 0.0341589143670947727934) * c
        + 0.220091105764131249824;
    q = ((q * c + 0.762059164553623404043) * c + 1.3653349817554063097) * c + 1.0;
    far = 0.93995571136474609375 * s + p / q * s;
    y = copysign(s >= 3.0 ? far : y, x);
    y = fabs(x) == 1.0 ? copysign(INFINITY, x) : y;
    return fabs(x) <= 1.0 ? y : NAN;
}

/* The last steps are in double: for small w, terms of opposite sign cancel there. */
static inline float autograd_cy_erfinv_f32(float x) {
    float w = -autograd_cy_log_f32((1.0f - x) * (1.0f + x)), p, s, t, v;
    double near, far;
    v = (w > 5.0f ? 5.0f : w) - 2.5f;
    s = v * v;
    t = s * s;
    p = 4.35114731e-10f;
    p = p * t + ((-8.73983097e-9f * v + 1.64871768e-8f) * s + (4.6542873e-7f * v + -3.42617595e-6f));
    p = p * t + ((-4.9597435e-6f * v + 0.000218263923f) * s + (-0.00125274842f * v + -0.00417732492f));
    near = 1.50140935 + v * (0.246640289 + (double) (v * p));
    v = sqrtf(w < 5.0f ? 5.0f : w > 17.0f ? 17.0f : w) - 3.125f;
    s = v * v;
    t = s * s;
    p = -2.85194986e-5f;
    p = p * t + ((0.000122648302f * v + -0.000118699182f) * s + (-0.00031241149f * v + 0.00127353986f));
    p = p * t + ((-0.00252678741f * v + 0.00379185019f) * s + (-0.00529988435f * v + 0.00704807222f));
    far = 2.95832015 + v * (1.00371864 + (double) (v * p));
    p = (float) (x * (w < 5.0f ? near : far));
    p = fabsf(x) == 1.0f ? copysignf(INFINITY, x) : p;
    return fabsf(x) <= 1.0f ? p : NAN;
}

static inline float autograd_cy_erfinv_slope_f32(float x) { x = autograd_cy_erfinv_f32(x); return autograd_cy_exp_f32(x * x); }
static inline double autograd_cy_erfinv_slope_f64(double x) {
    x = autograd_cy_erfinv_f64(x);
    return autograd_cy_exp_f64(x * x);
}

/* The modified Bessel functions from 0 to 8, and times exp(-x) above, with u = 16 / x - 1. */
static inline double autograd_cy_bessel_below_0(double a) {
    double q = 0.25 * a * a, s = q * q, t = s * s, p;
    p = (6.1483976285983791e-54 * s + (4.1563167969325042e-51 * q + 2.5976979980828151e-48));
    p = p * t + ((1.4962740468957015e-45 * q + 7.9152897080782611e-43) * s
        + (3.8310002187098784e-40 * q + 1.6894710964510564e-37));
    p = p * t + ((6.7578843858042254e-35 * q + 2.4395962632753254e-32) * s
        + (7.9042918930120542e-30 * q + 2.2843403570804837e-27));
    p = p * t + ((5.8479113141260382e-25 * q + 1.3157800456783586e-22) * s
        + (2.5789288895295828e-20 * q + 4.358389823304995e-18));
    p = p * t + ((6.2760813455591928e-16 * q + 7.5940584281266233e-14) * s
        + (7.5940584281266233e-12 * q + 6.1511873267825649e-10));
    p = p * t + ((3.9367598891408415e-8 * q + 1.9290123456790123e-6) * s
        + (6.9444444444444444e-5 * q + 0.0017361111111111111));
    p = p * t + ((0.027777777777777778 * q + 0.25) * s + (1.0 * q + 1.0));
    return p;
}

static inline double autograd_cy_bessel_below_1(double a) {
    double q = 0.25 * a * a, s = q * q, t = s * s, p;
    p = (2.2771843068882885e-55 * s + (1.5985833834355786e-52 * q + 1.0390791992331261e-49));
    p = p * t + ((6.2344751953987564e-47 * q + 3.4414303078601135e-44) * s
        + (1.7413637357772174e-41 * q + 8.0451004592907446e-39));
    p = p * t + ((3.3789421929021127e-36 * q + 1.2839980333028028e-33) * s
        + (4.3912732738955857e-31 * q + 1.3437296218120492e-28));
    p = p * t + ((3.6549445713287739e-26 * q + 8.7718669711890573e-24) * s
        + (1.842092063949702e-21 * q + 3.3526075563884577e-19));
    p = p * t + ((5.230067787965994e-17 * q + 6.9036894801151121e-15) * s
        + (7.5940584281266233e-13 * q + 6.834652585313961e-11));
    p = p * t + ((4.9209498614260519e-9 * q + 2.7557319223985891e-7) * s
        + (1.1574074074074074e-5 * q + 0.00034722222222222222));
    p = p * t + ((0.0069444444444444444 * q + 0.083333333333333333) * s + (0.5 * q + 1.0));
    return p * (0.5 * a);
}

static inline double autograd_cy_bessel_above_0(double a) {
    double u = 16.0 / a - 1.0, s = u * u, t = s * s, p;
    p = (1.6645473602872717e-11 * u + -6.0676315706030064e-11);
    p = p * t + ((-1.2429481430536811e-10 * u + 4.5770876316436229e-10) * s
        + (4.3888610449919051e-10 * u + -1.6189806836246819e-9));
    p = p * t + ((-1.0267340552488217e-9 * u + 3.6379546359011145e-9) * s
        + (1.9833590368786267e-9 * u + -5.9535694382648908e-9));
    p = p * t + ((-3.8209951230899502e-9 * u + 7.4304646503254259e-9) * s
        + (7.6976620190624854e-9 * u + -5.404771567579958e-9));
    p = p * t + ((-1.3453822931523271e-8 * u + -6.747657956107524e-9) * s
        + (7.5637720155460297e-9 * u + 2.1548377974791597e-8));
    p = p * t + ((3.9324708328742366e-8 * u + 8.8722197379040538e-8) * s
        + (2.9735993830791434e-7 * u + 1.4838475658279248e-6));
    p = p * t + ((1.1143033788352454e-5 * u + 0.00013621607439193051) * s
        + (0.0033605519836678864 * u + 0.40217650944500808));
    return p / sqrt(a);
}

static inline double autograd_cy_bessel_above_1(double a) {
    double u = 16.0 / a - 1.0, s = u * u, t = s * s, p;
    p = (-1.5626599071977847e-11 * u + 6.3059651971500567e-11);
    p = p * t + ((1.161813630287145e-10 * u + -4.7588188387038535e-10) * s
        + (-4.086984233473255e-10 * u + 1.6848984479705146e-9));
    p = p * t + ((9.5685236249052035e-10 * u + -3.7946708962083394e-9) * s
        + (-1.8736450470066098e-9 * u + 6.2427412197864452e-9));
    p = p * t + ((3.7219797447255016e-9 * u + -7.8883515078620772e-9) * s
        + (-7.7785927639703994e-9 * u + 5.9744376080402639e-9));
    p = p * t + ((1.4076395500755014e-8 * u + 6.734464815301592e-9) * s
        + (-8.4362904302345617e-9 * u + -2.3373928208142639e-8));
    p = p * t + ((-4.312811174972107e-8 * u + -1.0001288294864884e-7) * s
        + (-3.4838565069237384e-7 * u + -1.8349101326980947e-6));
    p = p * t + ((-1.503854719814553e-5 * u + -0.00021923576383388928) * s
        + (-0.0097495771932357595 * u + 0.38939845902587233));
    return p / sqrt(a);
}

static inline double autograd_cy_i0e_f64(double x) {
    double a = fabs(x), below = a > 8.0 ? 8.0 : a, above = a > 8.0 ? a : 8.0;
    below = autograd_cy_bessel_below_0(below) * autograd_cy_exp_f64(-below);
    return x != x ? x : a > 8.0 ? autograd_cy_bessel_above_0(above) : below;
}

static inline double autograd_cy_i1e_f64(double x) {
    double a = fabs(x), below = a > 8.0 ? 8.0 : a, above = a > 8.0 ? a : 8.0;
    below = autograd_cy_bessel_below_1(below) * autograd_cy_exp_f64(-below);
    return x != x ? x : copysign(a > 8.0 ? autograd_cy_bessel_above_1(above) : below, x);
}

/* exp(a) in two factors: it overflows before the product does. */
static inline double autograd_cy_i0_f64(double x) {
    double a = fabs(x), below = a > 8.0 ? 8.0 : a, above = a > 8.0 ? a : 8.0, e = autograd_cy_exp_f64(0.5 * above);
    above = autograd_cy_bessel_above_0(above) * e * e;
    return x != x ? x : a > 8.0 ? above : autograd_cy_bessel_below_0(below);
}

static inline double autograd_cy_i1_f64(double x) {
    double a = fabs(x), below = a > 8.0 ? 8.0 : a, above = a > 8.0 ? a : 8.0, e = autograd_cy_exp_f64(0.5 * above);
    above = autograd_cy_bessel_above_1(above) * e * e;
    return x != x ? x : copysign(a > 8.0 ? above : autograd_cy_bessel_below_1(below), x);
}

/* y / x for y = i1(x) or i1e(x); 0 where i1 overflows, as the quotient is negligible beside i0. */
static inline float autograd_cy_i1_quotient_f32(float x, float y) {
    return x == 0.0f ? 0.5f : (fabsf(y) == INFINITY ? 0.0f : y) / x;
}

static inline double autograd_cy_i1_quotient_f64(double x, double y) {
    return x == 0.0 ? 0.5 : (fabs(y) == INFINITY ? 0.0 : y) / x;
}

static inline float autograd_cy_i1e_quotient_f32(float x, float y) { return autograd_cy_i1_quotient_f32(x, y); }
static inline double autograd_cy_i1e_quotient_f64(double x, double y) { return autograd_cy_i1_quotient_f64(x, y); }

/* The normal distribution's Mills ratio at a >= 0, times its density at 0: the quotient of normal_cdf, or the asymptotic
   series above 38. */
static inline double autograd_cy_mills_f64(double a) {
    double w = 1.0 / a, s = w * w, q;
    q = 0.3989422804014327 * w * (1.0 - s * (1.0 - s * (3.0 - s * (15.0 - s * (105.0 - s * (945.0 - s * (10395.0
        - s * 135135.0)))))));
    return a > 38.0 ? q : autograd_cy_normal_quotient_f64(a > 38.0 ? 38.0 : a);
}

static inline double autograd_cy_erfcx_f64(double x) {
    double a = fabs(x), y = 2.0 * autograd_cy_mills_f64(1.4142135623730951 * a), p;
    int64_t k;
    p = autograd_cy_bell_part_f64(a > 30.0 ? 30.0 : a, 1.0, &k);
    return x < 0.0 ? 2.0 * autograd_cy_scaled_f64(p, k) - y : y;
}

/* The derivative of y = erfcx(x), 2 * x * y - 2 / sqrt(pi), whose terms cancel. Above 5 (12) it is a polynomial in y * y,
   fitted like erf's, with an error of 1.6e-7 (2.5e-14). */
static inline float autograd_cy_erfcx_slope_f32(float x, float y) {
    float s = y * y, p = -1.77245354285f + s * (2.78334084285f + s * (-17.1425936122f + s * 135.273578963f));
    return x > 5.0f ? s * p : 2.0f * x * y - 1.1283791670955126f;
}

static inline double autograd_cy_erfcx_slope_f64(double x, double y) {
    double s = y * y, p = 185.464256093780955 + s * (-2661.59003592857729 + s * 41886.9632378119525);
    p = -1.77245385090546893 + s * (2.784163996864786 + s * (-17.4934100335621533 + s * p));
    return x > 12.0 ? s * p : 2.0 * x * y - 1.1283791670955126;
}

static inline double autograd_cy_erfcx_derivative_f64(double x) {
    return autograd_cy_erfcx_slope_f64(x, autograd_cy_erfcx_f64(x));
}

/* The second derivative 2 * (y + x * slope); an asymptotic series above 8. */
static inline double autograd_cy_erfcx_curvature_f64(double x) {
    double a = x > 8.0 ? x : 8.0, s = 0.5 / a / a, q;
    q = 2.0 - s * (12.0 - s * (90.0 - s * (840.0 - s * (9450.0 - s * (124740.0 - s * (1891890.0 - s * (32432400.0 - s *
        (620269650.0 - s * (13094581500.0 - s * (302484832650.0 - s * (7589619437400.0 - s * (205552193096250.0 - s *
        (5976825306952500.0 - s * (185708500608881250.0 - s * 6140761086800340000.0))))))))))))));
    a = x > 8.0 ? 1.1283791670955126 / a * s * q : 2.0 * (autograd_cy_erfcx_f64(x) + x * autograd_cy_erfcx_derivative_f64(x));
    return a;
}

static inline double autograd_cy_log_ndtr_f64(double x) {
    double a = fabs(x), mills = autograd_cy_mills_f64(a), b = a > 38.6 ? 38.6 : a, y, u;
    y = -autograd_cy_bell_f64(b) * mills;
    u = 1.0 + y;
    y = autograd_cy_log_f64(u) + (y - (u - 1.0)) / u;
    u = autograd_cy_log_f64(mills) - 0.5 * a * a;
    return x < 0.0 ? u : y;
}

/* The derivative of log_ndtr, density / distribution; and its sum with x, by an asymptotic series far below 0, where the
   terms cancel. The derivative of the slope is -slope * (x + slope). */
static inline double autograd_cy_log_ndtr_slope_f64(double x) {
    double a = fabs(x), mills = autograd_cy_mills_f64(a), b = a > 38.6 ? 38.6 : a, bell = autograd_cy_bell_f64(b);
    return 0.3989422804014327 / (x < 0.0 ? mills : 1.0 - bell * mills) * (x < 0.0 ? 1.0 : bell);
}

static inline double autograd_cy_log_ndtr_excess_f64(double x) {
    double a = x < -13.0 ? -x : 13.0, s = 1.0 / a / a, q;
    q = 1.0 - s * (2.0 - s * (10.0 - s * (74.0 - s * (706.0 - s * (8162.0 - s * (110410.0 - s * (1708394.0 - s *
        (29752066.0 - s * (576037442.0 - s * (12277827850.0 - s * (285764591114.0 - s * 7213364729026.0)))))))))));
    return x < -13.0 ? q / a : x + autograd_cy_log_ndtr_slope_f64(x);
}

static inline double autograd_cy_entr_f64(double x) {
    double y = x == 0.0 ? 0.0 : -x * autograd_cy_log_f64(x);
    return x < 0.0 ? -INFINITY : y;
}

static inline float autograd_cy_digamma_f32(float x) { return (float) autograd_cy_digamma_f64(x); }
static inline float autograd_cy_trigamma_f32(float x) { return (float) autograd_cy_trigamma_f64(x); }
static inline float autograd_cy_erfcx_f32(float x) { return (float) autograd_cy_erfcx_f64(x); }
static inline float autograd_cy_erfcx_derivative_f32(float x) { return (float) autograd_cy_erfcx_derivative_f64(x); }
static inline float autograd_cy_erfcx_curvature_f32(float x) { return (float) autograd_cy_erfcx_curvature_f64(x); }
static inline float autograd_cy_log_ndtr_f32(float x) { return (float) autograd_cy_log_ndtr_f64(x); }
static inline float autograd_cy_log_ndtr_slope_f32(float x) { return (float) autograd_cy_log_ndtr_slope_f64(x); }
static inline float autograd_cy_log_ndtr_excess_f32(float x) { return (float) autograd_cy_log_ndtr_excess_f64(x); }
static inline float autograd_cy_entr_f32(float x) { return (float) autograd_cy_entr_f64(x); }
static inline float autograd_cy_i0_f32(float x) { return (float) autograd_cy_i0_f64(x); }
static inline float autograd_cy_i1_f32(float x) { return (float) autograd_cy_i1_f64(x); }
static inline float autograd_cy_i0e_f32(float x) { return (float) autograd_cy_i0e_f64(x); }
static inline float autograd_cy_i1e_f32(float x) { return (float) autograd_cy_i1e_f64(x); }

#endif
