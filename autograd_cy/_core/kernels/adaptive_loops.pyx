"""Loops of optimizers that divide by what gradients were like: Adam and those after it (knows no Tensor).

A loop passes once over the parameter, its gradient and what is kept of it, and computes in the parameter's type, in the order
that PyTorch's operations have. Pointers, not memoryviews, for five of them are passed on by way of a pointer to the loop.
"""

from libc.math cimport pow, sqrt, sqrtf

from autograd_cy._core.kernels.plane_loops cimport real
from autograd_cy._core.kernels.update_rules cimport (
    ADAM, NADAM, RADAM, ADAMAX, RMSPROP, ADAGRAD, ADADELTA, RULES, Rule, decayed, fused)
from autograd_cy._core.runtime.numpy_api cimport npy_intp

cdef extern from *:
    """
    DECLARE_UPDATES(autograd_cy_adam)
    DECLARE_UPDATES(autograd_cy_nadam)
    DECLARE_UPDATES(autograd_cy_radam)
    DECLARE_UPDATES(autograd_cy_adamax)
    DECLARE_UPDATES(autograd_cy_rmsprop)
    DECLARE_UPDATES(autograd_cy_adagrad)
    DECLARE_UPDATES(autograd_cy_adadelta)
    """


cdef inline real root(real x) noexcept nogil:
    return sqrtf(x) if real is float else sqrt(x)


cdef inline real blended(real a, real b, real w) noexcept nogil:
    """a and b, w of the latter: of the two ways to compute it the one that is exact at the nearer end, as in lerp."""
    return fused(w, b - a, a) if w < 0.5 else fused(w - 1, b - a, b)


# Adam and its kin. Options: lr, beta1, beta2, eps, weight_decay, whether that is decoupled, sign, and more of their own.

cdef void prepare_moments(const double *options, double *numbers) noexcept nogil:
    """What they share: the factor of a decoupled decay, the coupled one, 1 - beta1, beta2, 1 - beta2, eps, sign."""
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


cdef void prepare_nadam(const double *options, double *scalars, double *numbers, bint _fresh) noexcept nogil:
    """One option more: momentum_decay; scalars: step, the product of all mu."""
    cdef double lr = options[0], beta = options[1], decay = options[7], mu, mu_next
    scalars[0] += 1
    prepare_moments(options, numbers)
    mu = beta * (1 - 0.5 * pow(0.96, scalars[0] * decay))
    mu_next = beta * (1 - 0.5 * pow(0.96, (scalars[0] + 1) * decay))
    scalars[1] *= mu
    numbers[7] = lr * (1 - mu) / (1 - scalars[1])
    numbers[8] = lr * mu_next / (1 - scalars[1] * mu_next)
    numbers[9] = 1 - pow(options[2], scalars[0])


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


cdef void prepare_radam(const double *options, double *scalars, double *numbers, bint _fresh) noexcept nogil:
    """The factor of the rectified step is 0 where the variance can't be told yet."""
    cdef double longest = 2 / (1 - options[2]) - 1, power, length
    scalars[0] += 1
    prepare_moments(options, numbers)
    power = pow(options[2], scalars[0])
    length = longest - 2 * scalars[0] * power / (1 - power)
    numbers[7], numbers[8], numbers[9] = options[0], 1 - pow(options[1], scalars[0]), sqrt(1 - power)
    numbers[10] = 0
    if length > 5:
        numbers[10] = sqrt((length - 4) * (length - 2) * longest / ((longest - 4) * (longest - 2) * length))


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


cdef void prepare_adamax(const double *options, double *scalars, double *numbers, bint _fresh) noexcept nogil:
    scalars[0] += 1
    prepare_moments(options, numbers)
    numbers[7] = options[0] / (1 - pow(options[1], scalars[0]))


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


# the others

cdef void prepare_rmsprop(const double *options, double *scalars, double *numbers, bint _fresh) noexcept nogil:
    """Options: lr, alpha, eps, weight_decay, momentum, sign."""
    cdef int k
    scalars[0] += 1
    for k in range(6):
        numbers[k] = options[k]
    numbers[6] = 1 - options[1]


cdef void rmsprop_loop "autograd_cy_rmsprop"(real *p, const real *g, real *square, real *momentum, real *mean,
                                             const double *numbers, npy_intp n) noexcept nogil:
    cdef real lr = <real> numbers[0], alpha = <real> numbers[1], eps = <real> numbers[2], decay = <real> numbers[3]
    cdef real mu = <real> numbers[4], sign = <real> numbers[5], gain = <real> numbers[6], h
    cdef npy_intp i
    if mean == NULL and momentum == NULL:       # a choice inside a loop that writes would keep it from being vectorized
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


cdef void prepare_adagrad(const double *options, double *scalars, double *numbers, bint _fresh) noexcept nogil:
    """Options: lr, lr_decay, eps, weight_decay, sign."""
    scalars[0] += 1
    numbers[0] = options[0] / (1 + (scalars[0] - 1) * options[1])
    numbers[1], numbers[2], numbers[3] = options[2], options[3], options[4]


cdef void adagrad_loop "autograd_cy_adagrad"(real *p, const real *g, real *total, real *_b, real *_c, const double *numbers,
                                             npy_intp n) noexcept nogil:
    cdef real step = <real> numbers[0], eps = <real> numbers[1], decay = <real> numbers[2], sign = <real> numbers[3], h
    cdef npy_intp i
    for i in range(n):
        h = decayed(sign * g[i], p[i], decay)
        total[i] = fused(h, h, total[i])
        p[i] = p[i] - step * h / (root(total[i]) + eps)


cdef void prepare_adadelta(const double *options, double *scalars, double *numbers, bint _fresh) noexcept nogil:
    """Options: lr, rho, eps, weight_decay, sign."""
    cdef int k
    scalars[0] += 1
    for k in range(5):
        numbers[k] = options[k]
    numbers[5] = 1 - options[1]


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


cdef Rule[RULES] rules


cdef Rule *adaptive_rules() noexcept:
    """By their places; those of others are not filled in."""
    return &rules[0]


rules[ADAM] = Rule(prepare_adam, adam_loop[float], adam_loop[double])
rules[NADAM] = Rule(prepare_nadam, nadam_loop[float], nadam_loop[double])
rules[RADAM] = Rule(prepare_radam, radam_loop[float], radam_loop[double])
rules[ADAMAX] = Rule(prepare_adamax, adamax_loop[float], adamax_loop[double])
rules[RMSPROP] = Rule(prepare_rmsprop, rmsprop_loop[float], rmsprop_loop[double])
rules[ADAGRAD] = Rule(prepare_adagrad, adagrad_loop[float], adagrad_loop[double])
rules[ADADELTA] = Rule(prepare_adadelta, adadelta_loop[float], adadelta_loop[double])
