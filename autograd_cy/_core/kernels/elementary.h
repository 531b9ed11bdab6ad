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

#include "exponentials.h"
#include "gates.h"
#include "normal.h"
#include "sine.h"

#endif
