"""The backward of one step of a recurrent layer, as loops over its units."""

from autograd_cy._core.kernels.recurrent_loops cimport CellKind
from autograd_cy._core.runtime.numpy_api cimport npy_intp

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

cdef void step_back_f32(void *step, Py_ssize_t first, Py_ssize_t end) noexcept nogil
cdef void step_back_f64(void *step, Py_ssize_t first, Py_ssize_t end) noexcept nogil
