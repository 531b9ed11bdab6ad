"""Loops of recurrent layers."""

from autograd_cy._core.kernels.matrix_views cimport Matrix
from autograd_cy._core.kernels.reduction_loops cimport real
from autograd_cy._core.runtime.numpy_api cimport npy_intp

# in recurrent_loops.pyx

cdef enum CellKind:
    TANH = 0
    RELU = 1
    GRU = 2
    LSTM = 3

cdef struct Step:               # one step; dense memory: a row for each sample, of `hidden` units, or of all its gates
    CellKind kind
    npy_intp hidden
    void *gates                 # all gates: the input's part; then the activations
    void *product               # all gates: the part of the state before the step
    void *bias                  # of all gates, one row
    void *inner_bias            # GRU: another bias, of the state's part of the last gate; one row
    void *state                 # h before the step, then after it
    void *cell                  # LSTM's c, likewise
    void *output                # h after the step, once more
    void *inner                 # GRU: the state's part of the last gate, for backward; or NULL
    void *cell_before           # LSTM: c before the step, for backward; or NULL

cdef inline int gates_of(CellKind kind) noexcept nogil:
    return 4 if kind == LSTM else 3 if kind == GRU else 1

# shared with backward: LANES units in small local arrays, which nothing aliases

cdef enum:
    LANES = 32              # more than the compiler unrolls before it vectorizes

# tanh below 0.625: S. Moshier, Cephes, tanhf.c and tanh.c; beyond that by exp.
cdef extern from *:
    """
    #include "clones.h"
    #include "elementary.h"
    static inline float autograd_cy_tanh_f32(float x) {
        float a = fabsf(x), z = x * x, far, near;
        a = a > 10.0f ? 10.0f : a;
        far = copysignf(1.0f - 2.0f / (autograd_cy_exp_within_f32(a + a) + 1.0f), x);
        near = ((-5.70498872745e-3f * z + 2.06390887954e-2f) * z - 5.37397155531e-2f) * z + 1.33314422036e-1f;
        near = (near * z - 3.33332819422e-1f) * z * x + x;
        return z < 0.390625f ? near : x == x ? far : x;
    }
    static inline double autograd_cy_tanh_f64(double x) {
        double a = fabs(x), z = x * x, far, near;
        a = a > 20.0 ? 20.0 : a;
        far = copysign(1.0 - 2.0 / (autograd_cy_exp_within_f64(a + a) + 1.0), x);
        near = (-9.64399179425052238628e-1 * z - 9.92877231001918586564e1) * z - 1.61468768441708447952e3;
        near = near / (((z + 1.12811678491632931402e2) * z + 2.23548839060100448583e3) * z + 4.84406305325125486048e3);
        near = near * z * x + x;
        return z < 0.390625 ? near : x == x ? far : x;
    }
    """
    float tanh_f32 "autograd_cy_tanh_f32"(float) noexcept nogil
    double tanh_f64 "autograd_cy_tanh_f64"(double) noexcept nogil
    float sigmoid_f32 "autograd_cy_sigmoid_f32"(float) noexcept nogil
    double sigmoid_f64 "autograd_cy_sigmoid_f64"(double) noexcept nogil

cdef inline real tanh(real x) noexcept nogil:
    return tanh_f32(x) if real is float else tanh_f64(x)

cdef inline real sigmoid(real x) noexcept nogil:
    return sigmoid_f32(x) if real is float else sigmoid_f64(x)

cdef inline void read(real *out, const real *x, npy_intp m) noexcept nogil:
    """Read m numbers, and pad with zeros to LANES."""
    cdef npy_intp k
    for k in range(m):
        out[k] = x[k]
    for k in range(m, LANES):
        out[k] = 0

cdef inline void read_sum(real *out, const real *x, const real *y, const real *z, npy_intp m) noexcept nogil:
    cdef npy_intp k
    for k in range(m):
        out[k] = x[k] + y[k] + z[k]
    for k in range(m, LANES):
        out[k] = 0

cdef inline void write(real *out, const real *x, npy_intp m) noexcept nogil:
    cdef npy_intp k
    for k in range(m):
        out[k] = x[k]

# in recurrent_gradients.pyx

cdef struct StepBack:           # dense memory, as in a Step
    CellKind kind
    npy_intp hidden
    void *gates                 # all gates: the activations
    void *state_before          # GRU: h before the step
    void *inner                 # GRU: the state's part of the last gate
    void *cell_before           # LSTM: c before the step
    void *from_output           # the gradient of the output; or NULL
    void *from_state            # the gradient of h after the step, or a part of it ...
    void *carried               # ... LSTM: the gradient of c; GRU: the rest of it. Overwritten for the step before
    void *to_input              # all gates: the gradient of the input's part
    void *to_product            # all gates: the gradient of the state's part; the same array, except for GRU

# in recurrent_layers.pyx

cdef struct Walk:
    int dtype_code              # float32 or float64
    npy_intp steps
    const npy_intp *starts      # the first row of each step, then the number of rows; a step has the first few samples
    bint reverse                # from the last step to the first

cdef void walk(Walk *way, Step *layer, Matrix *weight, char *state_before) noexcept nogil
cdef void walk_back(Walk *way, StepBack *layer, Matrix *weight) noexcept nogil
