"""One direction of a recurrent layer over all steps."""

from autograd_cy._core.kernels.matrix_views cimport Matrix
from autograd_cy._core.kernels.recurrent_gradients cimport StepBack
from autograd_cy._core.kernels.recurrent_loops cimport Step
from autograd_cy._core.runtime.numpy_api cimport npy_intp

cdef struct Walk:
    int dtype_code              # float32 or float64
    npy_intp steps
    const npy_intp *starts      # the first row of each step, then the number of rows; a step has the first few samples
    bint reverse                # from the last step to the first

cdef void walk(Walk *way, Step *layer, Matrix *weight, char *state_before) noexcept nogil
cdef void walk_back(Walk *way, StepBack *layer, Matrix *weight) noexcept nogil
