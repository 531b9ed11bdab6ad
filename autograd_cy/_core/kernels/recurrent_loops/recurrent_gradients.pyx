"""The backward of one step of a recurrent layer up to its product, as loops over its units (knows no Tensor).

They mirror the loops of recurrent_loops.pyx and read their activations; LSTM's tanh of the cell is recomputed.
"""

from autograd_cy._core.kernels.reduction_loops cimport real
from autograd_cy._core.runtime.numpy_api cimport npy_intp

# Declares the float and double versions that Cython generates from fused functions.
cdef extern from *:
    """
    #include "clones.h"
    #undef DECLARE
    #define DECLARE(fuse, real) AUTOGRAD_CY_CLONED AUTOGRAD_CY_FLAT static void fuse##autograd_cy_back_rows( \\
        void *, real const *, npy_intp, npy_intp);
    DECLARE(__pyx_fuse_0, float)
    DECLARE(__pyx_fuse_1, double)
    """


cdef inline void read_gradient(real *out, const real *from_state, const real *from_output, npy_intp m) noexcept nogil:
    """The gradient of h after the step."""
    cdef npy_intp k
    read(out, from_state, m)
    if from_output != NULL:
        for k in range(m):
            out[k] = out[k] + from_output[k]


# m units from number j of a sample

cdef inline void simple_units_back(StepBack *s, const real *kind, npy_intp row, npy_intp j, npy_intp m) noexcept nogil:
    cdef real one = 1                   # a literal would be a double, and so would the products be
    cdef npy_intp place = row * s.hidden + j, k
    cdef real[LANES] h, g
    read(&h[0], <real *> s.gates + place, m)
    read_gradient(&g[0], <real *> s.from_state + place, gradient_at(s, kind, place), m)
    if s.kind == TANH:
        for k in range(LANES):
            g[k] = g[k] * (one - h[k] * h[k])
    else:
        for k in range(LANES):
            g[k] = g[k] if h[k] > 0 else 0
    write(<real *> s.to_input + place, &g[0], m)


cdef inline const real *gradient_at(StepBack *s, const real *kind, npy_intp place) noexcept nogil:
    return NULL if s.from_output == NULL else <real *> s.from_output + place


cdef inline void gru_units_back(StepBack *s, const real *kind, npy_intp row, npy_intp j, npy_intp m) noexcept nogil:
    cdef real one = 1                   # a literal would be a double, and so would the products be
    cdef npy_intp n = s.hidden, place = row * n + j, of_gates = 3 * row * n + j, k
    cdef real *y = <real *> s.gates + of_gates
    cdef real *to_input = <real *> s.to_input + of_gates
    cdef real *to_product = <real *> s.to_product + of_gates
    cdef real *carried = <real *> s.carried + place
    cdef real[LANES] r, z, g, inner, h, gh
    read(&r[0], y, m)
    read(&z[0], y + n, m)
    read(&g[0], y + 2 * n, m)
    read(&inner[0], <real *> s.inner + place, m)
    read(&h[0], <real *> s.state_before + place, m)
    read_gradient(&gh[0], <real *> s.from_state + place, gradient_at(s, kind, place), m)
    for k in range(m):
        gh[k] = gh[k] + carried[k]
    for k in range(LANES):
        h[k] = gh[k] * (h[k] - g[k]) * z[k] * (one - z[k])        # gradient of z before its sigmoid
    for k in range(LANES):
        g[k] = gh[k] * (one - z[k]) * (one - g[k] * g[k])           # gradient of n before its tanh
    for k in range(LANES):
        gh[k] = gh[k] * z[k]
    write(carried, &gh[0], m)
    write(to_input + n, &h[0], m)
    write(to_product + n, &h[0], m)
    write(to_input + 2 * n, &g[0], m)
    for k in range(LANES):
        inner[k] = inner[k] * g[k] * r[k] * (one - r[k])          # gradient of r before its sigmoid
    write(to_input, &inner[0], m)
    write(to_product, &inner[0], m)
    for k in range(LANES):
        g[k] = g[k] * r[k]
    write(to_product + 2 * n, &g[0], m)


cdef inline void lstm_units_back(StepBack *s, const real *kind, npy_intp row, npy_intp j, npy_intp m) noexcept nogil:
    cdef real one = 1                   # a literal would be a double, and so would the products be
    cdef npy_intp n = s.hidden, place = row * n + j, of_gates = 4 * row * n + j, k
    cdef real *y = <real *> s.gates + of_gates
    cdef real *to_input = <real *> s.to_input + of_gates
    cdef real *carried = <real *> s.carried + place
    cdef real[LANES] i, f, g, o, c, gc, gh
    read(&i[0], y, m)
    read(&f[0], y + n, m)
    read(&g[0], y + 2 * n, m)
    read(&o[0], y + 3 * n, m)
    read(&c[0], <real *> s.cell_before + place, m)
    read(&gc[0], carried, m)
    read_gradient(&gh[0], <real *> s.from_state + place, gradient_at(s, kind, place), m)
    cdef real[LANES] t
    for k in range(LANES):
        t[k] = tanh(f[k] * c[k] + i[k] * g[k])
    for k in range(LANES):
        gc[k] = gc[k] + gh[k] * o[k] * (one - t[k] * t[k])
    for k in range(LANES):
        o[k] = gh[k] * t[k] * o[k] * (one - o[k])                 # gradients of gates before their sigmoid or tanh
    for k in range(LANES):
        t[k] = gc[k] * g[k] * i[k] * (one - i[k])
    for k in range(LANES):
        g[k] = gc[k] * i[k] * (one - g[k] * g[k])
    for k in range(LANES):
        c[k] = gc[k] * c[k] * f[k] * (one - f[k])
    for k in range(LANES):
        gc[k] = gc[k] * f[k]
    write(to_input, &t[0], m)
    write(to_input + n, &c[0], m)
    write(to_input + 2 * n, &g[0], m)
    write(to_input + 3 * n, &o[0], m)
    write(carried, &gc[0], m)


# rows

cdef void back_rows "autograd_cy_back_rows"(void *data, const real *kind, npy_intp row, npy_intp end) noexcept nogil:
    """Block by block; the size of a whole block is a constant to the compiler."""
    cdef StepBack *s = <StepBack *> data
    cdef npy_intp j
    while row < end:
        j = 0
        while j + LANES <= s.hidden:
            units_back(s, kind, row, j, LANES)
            j += LANES
        if j < s.hidden:
            units_back(s, kind, row, j, s.hidden - j)
        row += 1


cdef inline void units_back(StepBack *s, const real *kind, npy_intp row, npy_intp j, npy_intp m) noexcept nogil:
    if s.kind == LSTM:
        lstm_units_back(s, kind, row, j, m)
    elif s.kind == GRU:
        gru_units_back(s, kind, row, j, m)
    else:
        simple_units_back(s, kind, row, j, m)


cdef void step_back_f32(void *step, Py_ssize_t first, Py_ssize_t end) noexcept nogil:
    back_rows(step, <const float *> NULL, first, end)


cdef void step_back_f64(void *step, Py_ssize_t first, Py_ssize_t end) noexcept nogil:
    back_rows(step, <const double *> NULL, first, end)
