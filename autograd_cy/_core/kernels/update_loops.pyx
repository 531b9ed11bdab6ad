"""Loops of optimizers, and the rules that name them (knows no Tensor).

A loop passes once over the parameter, its gradient and the parameter's state. It computes in the parameter's type, in the
order of PyTorch's operations. It takes pointers, not memoryviews: a pointer to the loop is called with five of them.
"""

from libc.math cimport isfinite, pow, signbit, sqrt, sqrtf

cimport cython

from autograd_cy._core.kernels.reduction_loops cimport real
from autograd_cy._core.runtime.numpy_api cimport npy_intp

cdef extern from "updates.h":
    float fused_float "AUTOGRAD_CY_FUSED"(float a, float b, float c) noexcept nogil


cdef inline real fused(real a, real b, real c) noexcept nogil:
    """a * b + c, rounded once for float, as in PyTorch's kernels; double agrees closely enough without."""
    return fused_float(a, b, c) if real is float else a * b + c


cdef inline real decayed(real g, real p, real decay) noexcept nogil:
    """The gradient plus weight decay. Without decay, an infinite parameter doesn't turn it into a nan."""
    return fused(decay, p, g) if decay != 0 else g


cdef inline real root(real x) noexcept nogil:
    return sqrtf(x) if real is float else sqrt(x)


cdef inline real blended(real a, real b, real w) noexcept nogil:
    """a + w * (b - a), as in lerp: the formula that is exact at the nearer end."""
    return fused(w, b - a, a) if w < 0.5 else fused(w - 1, b - a, b)


# the rules

@cython.final
cdef class Rule:
    pass


RULES = {}


cdef int declare(str name, Prepare prepare, Loop32 loop32, Loop64 loop64, LeavesZeros leaves_zeros=NULL) except -1:
    cdef Rule rule = Rule.__new__(Rule)
    rule.name, rule.prepare, rule.loop32, rule.loop64, rule.leaves_zeros = name, prepare, loop32, loop64, leaves_zeros
    RULES[name] = rule
    return 0


# steps along the gradient

cdef void prepare_sgd(const double *options, double *_scalars, double *numbers, bint fresh) noexcept nogil:
    """Options: lr, momentum, dampening, weight_decay, nesterov, sign. The first gradient is not dampened."""
    cdef int k
    for k in range(6):
        numbers[k] = options[k]
    numbers[2] = 1 if fresh else 1 - options[2]


cdef extern from *:
    "DECLARE_UPDATES(autograd_cy_sgd)"

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

declare("sgd", prepare_sgd, sgd_loop[float], sgd_loop[double], sgd_leaves_zeros)


cdef void prepare_asgd(const double *options, double *scalars, double *numbers, bint _fresh) noexcept nogil:
    """Options: lr, lambd, alpha, t0, weight_decay, sign; scalars: step, and eta and mu of the next step."""
    cdef double lr = options[0], lambd = options[1]
    scalars[0] += 1
    numbers[0], numbers[1], numbers[2] = scalars[1], 1 - lambd * scalars[1], scalars[2]
    numbers[3], numbers[4] = options[4], options[5]
    scalars[1] = lr / pow(1 + lambd * lr * scalars[0], options[2])
    scalars[2] = 1 / max(1.0, scalars[0] - options[3])


cdef extern from *:
    "DECLARE_UPDATES(autograd_cy_asgd)"

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

declare("asgd", prepare_asgd, asgd_loop[float], asgd_loop[double])


cdef void prepare_rprop(const double *options, double *scalars, double *numbers, bint _fresh) noexcept nogil:
    """Options: etaminus, etaplus, the smallest and the largest step size, sign."""
    cdef int k
    scalars[0] += 1
    for k in range(5):
        numbers[k] = options[k]


cdef extern from *:
    "DECLARE_UPDATES(autograd_cy_rprop)"

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

declare("rprop", prepare_rprop, rprop_loop[float], rprop_loop[double])


cdef bint sgd_leaves_zeros(const double *numbers, bint is_float64) noexcept nogil:
    """Without weight decay, p - lr * 0 is p, even if p is -0 or NaN, if the learning rate is finite and not negative."""
    cdef double lr = numbers[0] * numbers[5]
    return numbers[3] == 0 and not signbit(lr) and isfinite(lr if is_float64 else <float> lr)


# steps divided by a measure of past gradients

# Adam and its relatives. Options: lr, beta1, beta2, eps, weight_decay, whether decay is decoupled, sign, then their own.

cdef void prepare_moments(const double *options, double *numbers) noexcept nogil:
    """Their common numbers: the factor of decoupled decay, coupled decay, 1 - beta1, beta2, 1 - beta2, eps, sign."""
    cdef bint decoupled = options[5] != 0
    numbers[0] = 1 - options[0] * options[4] if decoupled and options[4] != 0 else 1
    numbers[1] = 0 if decoupled else options[4]
    numbers[2], numbers[3], numbers[4] = 1 - options[1], options[2], 1 - options[2]
    numbers[5], numbers[6] = options[3], options[6]


cdef void prepare_adam(const double *options, double *scalars, double *numbers, bint _fresh) noexcept nogil:
    scalars[0] += 1
    prepare_moments(options, numbers)
    numbers[7] = options[0] / (1 - pow(options[1], scalars[0]))
    numbers[8] = sqrt(1 - pow(options[2], scalars[0]))


cdef extern from *:
    "DECLARE_UPDATES(autograd_cy_adam)"

cdef void adam_loop "autograd_cy_adam"(real *p, const real *g, real *mean, real *square, real *most, const double *numbers,
                                       npy_intp n) noexcept nogil:
    cdef real shrink = <real> numbers[0], decay = <real> numbers[1], w = <real> numbers[2], beta = <real> numbers[3]
    cdef real gain = <real> numbers[4], eps = <real> numbers[5], sign = <real> numbers[6]
    cdef real step = <real> numbers[7], scale = <real> numbers[8], h, x
    cdef npy_intp i
    if most == NULL:
        for i in range(n):
            x = p[i] * shrink
            h = decayed(sign * g[i], x, decay)
            mean[i] = blended(mean[i], h, w)
            square[i] = fused(gain * h, h, square[i] * beta)
            p[i] = x - step * mean[i] / (root(square[i]) / scale + eps)
    else:
        for i in range(n):
            x = p[i] * shrink
            h = decayed(sign * g[i], x, decay)
            mean[i] = blended(mean[i], h, w)
            square[i] = fused(gain * h, h, square[i] * beta)
            most[i] = most[i] if most[i] > square[i] else square[i]
            p[i] = x - step * mean[i] / (root(most[i]) / scale + eps)

declare("adam", prepare_adam, adam_loop[float], adam_loop[double])


cdef void prepare_nadam(const double *options, double *scalars, double *numbers, bint _fresh) noexcept nogil:
    """One more option, momentum_decay. Scalars: step, the product of all mu."""
    cdef double lr = options[0], beta = options[1], decay = options[7], mu, mu_next
    scalars[0] += 1
    prepare_moments(options, numbers)
    mu = beta * (1 - 0.5 * pow(0.96, scalars[0] * decay))
    mu_next = beta * (1 - 0.5 * pow(0.96, (scalars[0] + 1) * decay))
    scalars[1] *= mu
    numbers[7] = lr * (1 - mu) / (1 - scalars[1])
    numbers[8] = lr * mu_next / (1 - scalars[1] * mu_next)
    numbers[9] = 1 - pow(options[2], scalars[0])


cdef extern from *:
    "DECLARE_UPDATES(autograd_cy_nadam)"

cdef void nadam_loop "autograd_cy_nadam"(real *p, const real *g, real *mean, real *square, real *_c, const double *numbers,
                                         npy_intp n) noexcept nogil:
    cdef real shrink = <real> numbers[0], decay = <real> numbers[1], w = <real> numbers[2], beta = <real> numbers[3]
    cdef real gain = <real> numbers[4], eps = <real> numbers[5], sign = <real> numbers[6]
    cdef real now = <real> numbers[7], ahead = <real> numbers[8], correction = <real> numbers[9], h, x, y
    cdef npy_intp i
    for i in range(n):
        x = p[i] * shrink
        h = decayed(sign * g[i], x, decay)
        mean[i] = blended(mean[i], h, w)
        square[i] = fused(gain * h, h, square[i] * beta)
        y = root(square[i] / correction) + eps
        p[i] = x - now * h / y - ahead * mean[i] / y

declare("nadam", prepare_nadam, nadam_loop[float], nadam_loop[double])


cdef void prepare_radam(const double *options, double *scalars, double *numbers, bint _fresh) noexcept nogil:
    """The rectification factor is 0 while there are too few steps to estimate the variance."""
    cdef double longest = 2 / (1 - options[2]) - 1, power, length
    scalars[0] += 1
    prepare_moments(options, numbers)
    power = pow(options[2], scalars[0])
    length = longest - 2 * scalars[0] * power / (1 - power)
    numbers[7], numbers[8], numbers[9] = options[0], 1 - pow(options[1], scalars[0]), sqrt(1 - power)
    numbers[10] = 0
    if length > 5:
        numbers[10] = sqrt((length - 4) * (length - 2) * longest / ((longest - 4) * (longest - 2) * length))


cdef extern from *:
    "DECLARE_UPDATES(autograd_cy_radam)"

cdef void radam_loop "autograd_cy_radam"(real *p, const real *g, real *mean, real *square, real *_c, const double *numbers,
                                         npy_intp n) noexcept nogil:
    cdef real shrink = <real> numbers[0], decay = <real> numbers[1], w = <real> numbers[2], beta = <real> numbers[3]
    cdef real gain = <real> numbers[4], eps = <real> numbers[5], sign = <real> numbers[6], lr = <real> numbers[7]
    cdef real correction = <real> numbers[8], scale = <real> numbers[9], rectified = <real> numbers[10], h, x, step
    cdef bint adapts = rectified != 0
    cdef npy_intp i
    for i in range(n):
        x = p[i] * shrink
        h = decayed(sign * g[i], x, decay)
        mean[i] = blended(mean[i], h, w)
        square[i] = fused(gain * h, h, square[i] * beta)
        step = mean[i] / correction * lr
        p[i] = x - (step * (1 / (root(square[i]) + eps) * scale) * rectified if adapts else step)

declare("radam", prepare_radam, radam_loop[float], radam_loop[double])


cdef void prepare_adamax(const double *options, double *scalars, double *numbers, bint _fresh) noexcept nogil:
    scalars[0] += 1
    prepare_moments(options, numbers)
    numbers[7] = options[0] / (1 - pow(options[1], scalars[0]))


cdef extern from *:
    "DECLARE_UPDATES(autograd_cy_adamax)"

cdef void adamax_loop "autograd_cy_adamax"(real *p, const real *g, real *mean, real *largest, real *_c, const double *numbers,
                                           npy_intp n) noexcept nogil:
    cdef real decay = <real> numbers[1], w = <real> numbers[2], beta = <real> numbers[3]
    cdef real eps = <real> numbers[5], sign = <real> numbers[6], step = <real> numbers[7], h, size
    cdef npy_intp i
    for i in range(n):
        h = decayed(sign * g[i], p[i], decay)
        mean[i] = blended(mean[i], h, w)
        size = (-h if h < 0 else h) + eps
        largest[i] = largest[i] * beta
        largest[i] = size if size > largest[i] or size != size else largest[i]      # a nan stays one
        p[i] = p[i] - step * mean[i] / largest[i]

declare("adamax", prepare_adamax, adamax_loop[float], adamax_loop[double])


# the others

cdef void prepare_rmsprop(const double *options, double *scalars, double *numbers, bint _fresh) noexcept nogil:
    """Options: lr, alpha, eps, weight_decay, momentum, sign."""
    cdef int k
    scalars[0] += 1
    for k in range(6):
        numbers[k] = options[k]
    numbers[6] = 1 - options[1]


cdef extern from *:
    "DECLARE_UPDATES(autograd_cy_rmsprop)"

cdef void rmsprop_loop "autograd_cy_rmsprop"(real *p, const real *g, real *square, real *momentum, real *mean,
                                             const double *numbers, npy_intp n) noexcept nogil:
    cdef real lr = <real> numbers[0], alpha = <real> numbers[1], eps = <real> numbers[2], decay = <real> numbers[3]
    cdef real mu = <real> numbers[4], sign = <real> numbers[5], gain = <real> numbers[6], h
    cdef npy_intp i
    if mean == NULL and momentum == NULL:       # a branch inside the loop would prevent vectorization
        for i in range(n):
            h = decayed(sign * g[i], p[i], decay)
            square[i] = fused(gain * h, h, square[i] * alpha)
            p[i] = p[i] - lr * h / (root(square[i]) + eps)
    elif mean == NULL:
        for i in range(n):
            h = decayed(sign * g[i], p[i], decay)
            square[i] = fused(gain * h, h, square[i] * alpha)
            momentum[i] = momentum[i] * mu + h / (root(square[i]) + eps)
            p[i] = fused(-lr, momentum[i], p[i])
    elif momentum == NULL:
        for i in range(n):
            h = decayed(sign * g[i], p[i], decay)
            square[i] = fused(gain * h, h, square[i] * alpha)
            mean[i] = blended(mean[i], h, gain)
            p[i] = p[i] - lr * h / (root(fused(-mean[i], mean[i], square[i])) + eps)
    else:
        for i in range(n):
            h = decayed(sign * g[i], p[i], decay)
            square[i] = fused(gain * h, h, square[i] * alpha)
            mean[i] = blended(mean[i], h, gain)
            momentum[i] = momentum[i] * mu + h / (root(fused(-mean[i], mean[i], square[i])) + eps)
            p[i] = fused(-lr, momentum[i], p[i])

declare("rmsprop", prepare_rmsprop, rmsprop_loop[float], rmsprop_loop[double])


cdef void prepare_adagrad(const double *options, double *scalars, double *numbers, bint _fresh) noexcept nogil:
    """Options: lr, lr_decay, eps, weight_decay, sign."""
    scalars[0] += 1
    numbers[0] = options[0] / (1 + (scalars[0] - 1) * options[1])
    numbers[1], numbers[2], numbers[3] = options[2], options[3], options[4]


cdef extern from *:
    "DECLARE_UPDATES(autograd_cy_adagrad)"

cdef void adagrad_loop "autograd_cy_adagrad"(real *p, const real *g, real *total, real *_b, real *_c, const double *numbers,
                                             npy_intp n) noexcept nogil:
    cdef real step = <real> numbers[0], eps = <real> numbers[1], decay = <real> numbers[2], sign = <real> numbers[3], h
    cdef npy_intp i
    for i in range(n):
        h = decayed(sign * g[i], p[i], decay)
        total[i] = fused(h, h, total[i])
        p[i] = p[i] - step * h / (root(total[i]) + eps)

declare("adagrad", prepare_adagrad, adagrad_loop[float], adagrad_loop[double])


cdef void prepare_adadelta(const double *options, double *scalars, double *numbers, bint _fresh) noexcept nogil:
    """Options: lr, rho, eps, weight_decay, sign."""
    cdef int k
    scalars[0] += 1
    for k in range(5):
        numbers[k] = options[k]
    numbers[5] = 1 - options[1]


cdef extern from *:
    "DECLARE_UPDATES(autograd_cy_adadelta)"

cdef void adadelta_loop "autograd_cy_adadelta"(real *p, const real *g, real *square, real *moved, real *_c,
                                               const double *numbers, npy_intp n) noexcept nogil:
    cdef real lr = <real> numbers[0], rho = <real> numbers[1], eps = <real> numbers[2], decay = <real> numbers[3]
    cdef real sign = <real> numbers[4], gain = <real> numbers[5], h
    cdef npy_intp i
    for i in range(n):
        h = decayed(sign * g[i], p[i], decay)
        square[i] = fused(gain * h, h, square[i] * rho)
        h = root(moved[i] + eps) / root(square[i] + eps) * h
        moved[i] = fused(gain * h, h, moved[i] * rho)
        p[i] = fused(-lr, h, p[i])

declare("adadelta", prepare_adadelta, adadelta_loop[float], adadelta_loop[double])
