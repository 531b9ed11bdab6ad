"""The sums over all alignments of connectionist temporal classification, forward and backward in time (knows no Tensor).

The states of a target a, b are blank, a, blank, b, blank. At each step, an alignment stays in its state, moves to the next
one, or skips a blank between different classes. `alpha` is the logarithm of the sum over all beginnings that end in a state,
`beta` the same over all ends that begin there. Threads share samples.

Source: Graves et al., "Connectionist temporal classification" (2006), equations 6 to 16.
"""

from cython cimport floating
from libc.math cimport INFINITY, exp, log1p

from autograd_cy._core.arrays.buffers cimport new_array, new_zeros
from autograd_cy._core.arrays.dtypes cimport FLOAT32, code_of
from autograd_cy._core.parallel.threads cimport parallel_for


cdef struct Sums:
    Alignments *p
    const void *logs            # (steps, samples, classes)
    void *alpha                 # (samples, steps, states)
    void *losses
    void *beta                  # (samples, 2, states)
    void *gradient              # (steps, samples, classes)
    const void *g
    bint zero_infinity


cdef inline npy_intp class_of(const Alignments *p, npy_intp sample, npy_intp state) noexcept nogil:
    return p.blank if state % 2 == 0 else p.targets[sample * p.longest + state // 2]


cdef inline bint skips(const Alignments *p, npy_intp sample, npy_intp state) noexcept nogil:
    """Whether a state can be reached from the one two before it."""
    return state >= 2 and class_of(p, sample, state) != class_of(p, sample, state - 2) and state % 2 == 1


cdef inline floating log_of_sum(floating a, floating b, floating c) noexcept nogil:
    """Uses log1p: if the largest is near 0, the small ones still count."""
    if b > a:
        a, b = b, a
    if c > a:
        a, c = c, a
    return a if a == -INFINITY else <floating> (a + log1p(exp(b - a) + exp(c - a)))


cdef void sum_up(Sums *sums, npy_intp sample, floating *losses) noexcept nogil:
    """alpha of a sample, and its loss."""
    cdef Alignments *p = sums.p
    cdef npy_intp states = 2 * p.longest + 1, own = 2 * p.target_lengths[sample] + 1, steps = p.input_lengths[sample], s
    cdef const floating *logs = <const floating *> sums.logs + sample * p.classes
    cdef floating *alpha = <floating *> sums.alpha + sample * p.steps * states
    cdef floating least = -INFINITY
    if steps == 0:
        losses[sample] = 0 if own == 1 else INFINITY
        return
    for s in range(own):
        alpha[s] = logs[class_of(p, sample, s)] if s < 2 else least
    for _ in range(1, steps):
        alpha += states
        logs += p.samples * p.classes
        for s in range(own):
            alpha[s] = logs[class_of(p, sample, s)] + log_of_sum(
                alpha[s - states], alpha[s - states - 1] if s else least,
                alpha[s - states - 2] if skips(p, sample, s) else least)
    losses[sample] = -log_of_sum(alpha[own - 1], alpha[own - 2] if own > 1 else least, least)


cdef void differentiate(Sums *sums, npy_intp sample, const floating *losses) noexcept nogil:
    """(exp(logs) - the share of alignments through each class) * g of the sample."""
    cdef Alignments *p = sums.p
    cdef npy_intp states = 2 * p.longest + 1, own = 2 * p.target_lengths[sample] + 1, steps = p.input_lengths[sample]
    cdef npy_intp t, s, k, step = p.samples * p.classes, at
    cdef const floating *logs = <const floating *> sums.logs + sample * p.classes
    cdef floating *gradient = <floating *> sums.gradient + sample * p.classes
    cdef const floating *alpha = <const floating *> sums.alpha + sample * p.steps * states
    cdef floating *beta = <floating *> sums.beta + 2 * sample * states
    cdef floating *later = beta + states
    cdef floating loss = losses[sample], g = (<const floating *> sums.g)[sample], least = -INFINITY
    if loss == INFINITY and sums.zero_infinity:
        return
    for t in range(steps - 1, -1, -1):
        at = t * step
        for k in range(p.classes):
            gradient[at + k] = least
        for s in range(own - 1, -1, -1):
            k = class_of(p, sample, s)
            if t == steps - 1:
                beta[s] = logs[at + k] if s >= own - 2 else least
            else:
                beta[s] = logs[at + k] + log_of_sum(
                    later[s], later[s + 1] if s + 1 < own else least,
                    later[s + 2] if s + 2 < own and skips(p, sample, s + 2) else least)
            gradient[at + k] = log_of_sum(gradient[at + k], alpha[t * states + s] + beta[s], least)
        for k in range(p.classes):
            gradient[at + k] = <floating> ((exp(logs[at + k]) - exp(gradient[at + k] + loss - logs[at + k])) * g)
        beta, later = later, beta


cdef void sum_up_f32(void *data, Py_ssize_t first, Py_ssize_t end) noexcept nogil:
    cdef Py_ssize_t sample
    for sample in range(first, end):
        sum_up(<Sums *> data, sample, <float *> (<Sums *> data).losses)


cdef void sum_up_f64(void *data, Py_ssize_t first, Py_ssize_t end) noexcept nogil:
    cdef Py_ssize_t sample
    for sample in range(first, end):
        sum_up(<Sums *> data, sample, <double *> (<Sums *> data).losses)


cdef void differentiate_f32(void *data, Py_ssize_t first, Py_ssize_t end) noexcept nogil:
    cdef Py_ssize_t sample
    for sample in range(first, end):
        differentiate(<Sums *> data, sample, <const float *> (<Sums *> data).losses)


cdef void differentiate_f64(void *data, Py_ssize_t first, Py_ssize_t end) noexcept nogil:
    cdef Py_ssize_t sample
    for sample in range(first, end):
        differentiate(<Sums *> data, sample, <const double *> (<Sums *> data).losses)


cdef inline npy_intp weight_of(const Alignments *p) noexcept nogil:
    """The cost of a sample, in elements of float32: a state takes three exponentials."""
    return 64 * p.steps * (2 * p.longest + 1) + 1


cdef cnp.ndarray forward_sums(cnp.ndarray logs, Alignments *p, cnp.ndarray losses):
    """Return alpha, and write the losses to `losses`. All arrays are dense and of one type."""
    cdef npy_intp[3] sizes = [p.samples, p.steps, 2 * p.longest + 1]
    cdef cnp.ndarray alpha = new_array(code_of(logs), 3, sizes)
    cdef Sums sums
    sums.p, sums.logs, sums.alpha, sums.losses = p, cnp.PyArray_DATA(logs), cnp.PyArray_DATA(alpha), cnp.PyArray_DATA(losses)
    parallel_for(sum_up_f32 if code_of(logs) == FLOAT32 else sum_up_f64, &sums, p.samples, weight_of(p))
    return alpha


cdef cnp.ndarray gradient_of_sums(cnp.ndarray g, cnp.ndarray logs, cnp.ndarray alpha, cnp.ndarray losses, Alignments *p,
                                  bint zero_infinity):
    """The gradient of the logarithms; 0 beyond the end of a sequence."""
    cdef npy_intp[3] sizes = [p.samples, 2, 2 * p.longest + 1]
    cdef cnp.ndarray beta = new_array(code_of(logs), 3, sizes)
    cdef cnp.ndarray gradient = new_zeros(code_of(logs), 3, cnp.PyArray_DIMS(logs))
    cdef Sums sums
    sums.p, sums.logs, sums.alpha, sums.losses = p, cnp.PyArray_DATA(logs), cnp.PyArray_DATA(alpha), cnp.PyArray_DATA(losses)
    sums.beta, sums.gradient, sums.g = cnp.PyArray_DATA(beta), cnp.PyArray_DATA(gradient), cnp.PyArray_DATA(g)
    sums.zero_infinity = zero_infinity
    parallel_for(differentiate_f32 if code_of(logs) == FLOAT32 else differentiate_f64, &sums, p.samples, 2 * weight_of(p))
    return gradient
