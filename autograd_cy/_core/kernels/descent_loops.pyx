"""Loops of optimizers that step along the gradient: SGD, ASGD, Rprop (knows no Tensor).

A loop passes once over the parameter, its gradient and what is kept of it, and computes in the parameter's type, in the order
that PyTorch's operations have. Pointers, not memoryviews, for five of them are passed on by way of a pointer to the loop.
"""

from libc.math cimport pow

from autograd_cy._core.kernels.plane_loops cimport real
from autograd_cy._core.kernels.update_rules cimport (
    SGD, ASGD, RPROP, RULES, Rule, decayed, fused)
from autograd_cy._core.runtime.numpy_api cimport npy_intp

cdef extern from *:
    """
    DECLARE_UPDATES(autograd_cy_sgd)
    DECLARE_UPDATES(autograd_cy_asgd)
    DECLARE_UPDATES(autograd_cy_rprop)
    """


cdef void prepare_sgd(const double *options, double *_scalars, double *numbers, bint fresh) noexcept nogil:
    """Options: lr, momentum, dampening, weight_decay, nesterov, sign. The first gradient is not dampened."""
    cdef int k
    for k in range(6):
        numbers[k] = options[k]
    numbers[2] = 1 if fresh else 1 - options[2]


cdef void sgd_loop "autograd_cy_sgd"(real *p, const real *g, real *momentum, real *_b, real *_c, const double *numbers,
                                     npy_intp n) noexcept nogil:
    cdef real lr = <real> numbers[0], mu = <real> numbers[1], gain = <real> numbers[2], decay = <real> numbers[3]
    cdef real sign = <real> numbers[5], ahead = mu if numbers[4] != 0 else 0, h
    cdef npy_intp i
    if momentum == NULL and decay == 0:
        lr = lr * sign
        for i in range(n):
            p[i] = fused(-lr, g[i], p[i])
    elif momentum == NULL:
        for i in range(n):
            p[i] = fused(-lr, fused(decay, p[i], sign * g[i]), p[i])
    elif ahead != 0:
        for i in range(n):
            h = decayed(sign * g[i], p[i], decay)
            momentum[i] = fused(gain, h, momentum[i] * mu)
            p[i] = fused(-lr, fused(ahead, momentum[i], h), p[i])
    else:
        for i in range(n):
            momentum[i] = fused(gain, decayed(sign * g[i], p[i], decay), momentum[i] * mu)
            p[i] = fused(-lr, momentum[i], p[i])


cdef void prepare_asgd(const double *options, double *scalars, double *numbers, bint _fresh) noexcept nogil:
    """Options: lr, lambd, alpha, t0, weight_decay, sign; scalars: step, and eta and mu of the next step."""
    cdef double lr = options[0], lambd = options[1]
    scalars[0] += 1
    numbers[0], numbers[1], numbers[2] = scalars[1], 1 - lambd * scalars[1], scalars[2]
    numbers[3], numbers[4] = options[4], options[5]
    scalars[1] = lr / pow(1 + lambd * lr * scalars[0], options[2])
    scalars[2] = 1 / max(1.0, scalars[0] - options[3])


cdef void asgd_loop "autograd_cy_asgd"(real *p, const real *g, real *average, real *_b, real *_c, const double *numbers,
                                       npy_intp n) noexcept nogil:
    cdef real eta = <real> numbers[0], shrink = <real> numbers[1], mu = <real> numbers[2]
    cdef real decay = <real> numbers[3], sign = <real> numbers[4], h
    cdef bint averages = mu != 1
    cdef npy_intp i
    for i in range(n):
        h = decayed(sign * g[i], p[i], decay)
        p[i] = fused(-eta, h, p[i] * shrink)
        average[i] = average[i] + (p[i] - average[i]) * mu if averages else p[i]


cdef void prepare_rprop(const double *options, double *scalars, double *numbers, bint _fresh) noexcept nogil:
    """Options: etaminus, etaplus, the smallest and the largest step size, sign."""
    cdef int k
    scalars[0] += 1
    for k in range(5):
        numbers[k] = options[k]


cdef void rprop_loop "autograd_cy_rprop"(real *p, const real *g, real *previous, real *size, real *_c, const double *numbers,
                                         npy_intp n) noexcept nogil:
    cdef real minus = <real> numbers[0], plus = <real> numbers[1], least = <real> numbers[2], most = <real> numbers[3]
    cdef real sign = <real> numbers[4], h, turn, factor, step
    cdef npy_intp i
    for i in range(n):
        h = sign * g[i]
        turn = h * previous[i]
        factor = plus if turn > 0 else (minus if turn < 0 else (1 if turn == 0 else turn))      # a nan stays one
        step = size[i] * factor
        step = least if step < least else step
        step = most if step > most else step
        h = 0 if turn < 0 else h
        size[i] = step
        p[i] = p[i] - (step if h > 0 else (-step if h < 0 else h * step))
        previous[i] = h


cdef Rule[RULES] rules


cdef Rule *descent_rules() noexcept:
    """By their places; those of others are not filled in."""
    return &rules[0]


rules[SGD] = Rule(prepare_sgd, sgd_loop[float], sgd_loop[double])
rules[ASGD] = Rule(prepare_asgd, asgd_loop[float], asgd_loop[double])
rules[RPROP] = Rule(prepare_rprop, rprop_loop[float], rprop_loop[double])
