"""Loops over the units of one step of a recurrent layer (knows no Tensor): what follows the product with the state.

A sample's row is processed LANES units at a time, with gates in small local arrays. The compiler sees that nothing aliases
them, so it vectorizes the loops below. Threads share samples, which are independent.

LSTM: c' = f * c + i * g, h' = o * tanh(c'), the gates in the order i, f, g, o. Source: Hochreiter, Schmidhuber, "Long
short-term memory" (1997), with the gate f of Gers, Schmidhuber, Cummins, "Learning to forget" (2000).
GRU: h' = n + z * (h - n), the gates in the order r, z, n; the state's part of n is multiplied by r. Source: Cho et al.,
"Learning phrase representations using RNN encoder-decoder for statistical machine translation" (2014).
"""

from autograd_cy._core.kernels.reduction_loops cimport real
from autograd_cy._core.runtime.numpy_api cimport npy_intp

# Declares the float and double versions that Cython generates from fused functions.
cdef extern from *:
    """
    #include "clones.h"
    #undef DECLARE
    #define DECLARE(fuse, real) AUTOGRAD_CY_CLONED AUTOGRAD_CY_FLAT static void fuse##autograd_cy_step_rows( \\
        void *, real const *, npy_intp, npy_intp);
    DECLARE(__pyx_fuse_0, float)
    DECLARE(__pyx_fuse_1, double)
    """


# forward: m units from number j of a sample

cdef inline void simple_units(Step *s, const real *kind, npy_intp row, npy_intp j, npy_intp m) noexcept nogil:
    cdef npy_intp place = row * s.hidden + j, k
    cdef real[LANES] h
    read_sum(&h[0], <real *> s.gates + place, <real *> s.product + place, <real *> s.bias + j, m)
    if s.kind == TANH:
        for k in range(LANES):
            h[k] = tanh(h[k])
    else:
        for k in range(LANES):
            h[k] = 0 if h[k] < 0 else h[k]          # a nan stays
    write(<real *> s.gates + place, &h[0], m)
    write(<real *> s.state + place, &h[0], m)
    write(<real *> s.output + place, &h[0], m)


cdef inline void gru_units(Step *s, const real *kind, npy_intp row, npy_intp j, npy_intp m) noexcept nogil:
    cdef npy_intp n = s.hidden, place = row * n + j, k
    cdef real *x = <real *> s.gates + 3 * row * n + j
    cdef real *p = <real *> s.product + 3 * row * n + j
    cdef real *b = <real *> s.bias + j
    cdef real[LANES] r, z, g, inner, h
    read_sum(&r[0], x, p, b, m)
    read_sum(&z[0], x + n, p + n, b + n, m)
    read(&inner[0], <real *> s.inner_bias + j, m)
    for k in range(m):
        inner[k] = inner[k] + p[2 * n + k]
    read(&g[0], b + 2 * n, m)
    for k in range(m):
        g[k] = g[k] + x[2 * n + k]
    read(&h[0], <real *> s.state + place, m)
    for k in range(LANES):
        r[k] = sigmoid(r[k])
    for k in range(LANES):
        z[k] = sigmoid(z[k])
    for k in range(LANES):
        g[k] = tanh(g[k] + r[k] * inner[k])
    for k in range(LANES):
        h[k] = g[k] + z[k] * (h[k] - g[k])
    write(x, &r[0], m)
    write(x + n, &z[0], m)
    write(x + 2 * n, &g[0], m)
    if s.inner != NULL:
        write(<real *> s.inner + place, &inner[0], m)
    write(<real *> s.state + place, &h[0], m)
    write(<real *> s.output + place, &h[0], m)


cdef inline void lstm_units(Step *s, const real *kind, npy_intp row, npy_intp j, npy_intp m) noexcept nogil:
    cdef npy_intp n = s.hidden, place = row * n + j, k
    cdef real *x = <real *> s.gates + 4 * row * n + j
    cdef real *p = <real *> s.product + 4 * row * n + j
    cdef real *b = <real *> s.bias + j
    cdef real[LANES] i, f, g, o, c, h
    read_sum(&i[0], x, p, b, m)
    read_sum(&f[0], x + n, p + n, b + n, m)
    read_sum(&g[0], x + 2 * n, p + 2 * n, b + 2 * n, m)
    read_sum(&o[0], x + 3 * n, p + 3 * n, b + 3 * n, m)
    read(&c[0], <real *> s.cell + place, m)
    if s.cell_before != NULL:
        write(<real *> s.cell_before + place, &c[0], m)
    for k in range(LANES):
        i[k] = sigmoid(i[k])
    for k in range(LANES):
        f[k] = sigmoid(f[k])
    for k in range(LANES):
        g[k] = tanh(g[k])
    for k in range(LANES):
        o[k] = sigmoid(o[k])
    for k in range(LANES):
        c[k] = f[k] * c[k] + i[k] * g[k]
    for k in range(LANES):
        h[k] = o[k] * tanh(c[k])
    write(x, &i[0], m)
    write(x + n, &f[0], m)
    write(x + 2 * n, &g[0], m)
    write(x + 3 * n, &o[0], m)
    write(<real *> s.cell + place, &c[0], m)
    write(<real *> s.state + place, &h[0], m)
    write(<real *> s.output + place, &h[0], m)


# rows

cdef void step_rows "autograd_cy_step_rows"(void *data, const real *kind, npy_intp row, npy_intp end) noexcept nogil:
    """Block by block; the size of a whole block is a constant to the compiler."""
    cdef Step *s = <Step *> data
    cdef npy_intp j
    while row < end:
        j = 0
        while j + LANES <= s.hidden:
            units(s, kind, row, j, LANES)
            j += LANES
        if j < s.hidden:
            units(s, kind, row, j, s.hidden - j)
        row += 1


cdef inline void units(Step *s, const real *kind, npy_intp row, npy_intp j, npy_intp m) noexcept nogil:
    if s.kind == LSTM:
        lstm_units(s, kind, row, j, m)
    elif s.kind == GRU:
        gru_units(s, kind, row, j, m)
    else:
        simple_units(s, kind, row, j, m)


cdef void step_f32(void *step, Py_ssize_t first, Py_ssize_t end) noexcept nogil:
    step_rows(step, <const float *> NULL, first, end)


cdef void step_f64(void *step, Py_ssize_t first, Py_ssize_t end) noexcept nogil:
    step_rows(step, <const double *> NULL, first, end)
