"""One direction of a recurrent layer over all steps (knows no Tensor): a product with the state, then the step's loop.

A layer is a step whose pointers are at the first row. Arrays of all steps have a row for each sample of each step, step after
step. The state has a row for each sample, and a step processes only as many of them as it has rows. This handles samples of
different lengths, longest first, in both directions.
"""

from libc.string cimport memcpy

from autograd_cy._core.arrays.dtypes cimport FLOAT32
from autograd_cy._core.kernels.gemm cimport multiply_matrices
from autograd_cy._core.kernels.matrix_views cimport Matrix
from autograd_cy._core.parallel.threads cimport parallel_for
from autograd_cy._core.runtime.numpy_api cimport npy_intp

cdef enum:
    GATE = 4                # elements of an elementwise loop that take as long as one gate of a unit


cdef inline void *further(void *array, npy_intp size) noexcept nogil:
    return NULL if array == NULL else <char *> array + size


cdef inline Matrix rows_of(void *data, npy_intp rows, npy_intp columns, npy_intp itemsize) noexcept nogil:
    return Matrix(<char *> data, 1, rows, columns, 0, columns * itemsize, itemsize)


cdef inline npy_intp itemsize_of(Walk *way) noexcept nogil:
    return sizeof(float) if way.dtype_code == FLOAT32 else sizeof(double)


cdef void walk(Walk *way, Step *layer, Matrix *weight, char *state_before) noexcept nogil:
    """Multiply the state by `weight` before each step, and save it in `state_before` unless that is NULL."""
    cdef npy_intp itemsize = itemsize_of(way), n = layer.hidden, gates = gates_of(layer.kind), k, t, row, rows
    cdef Step step
    cdef Matrix state
    for k in range(way.steps):
        t = way.steps - 1 - k if way.reverse else k
        row, rows = way.starts[t], way.starts[t + 1] - way.starts[t]
        step = layer[0]
        step.gates = further(layer.gates, row * gates * n * itemsize)
        step.output = further(layer.output, row * n * itemsize)
        step.inner = further(layer.inner, row * n * itemsize)
        step.cell_before = further(layer.cell_before, row * n * itemsize)
        if state_before != NULL:
            memcpy(state_before + row * n * itemsize, layer.state, rows * n * itemsize)
        state = rows_of(layer.state, rows, n, itemsize)
        multiply_matrices(way.dtype_code, &state, weight, <char *> layer.product)
        parallel_for(step_f32 if way.dtype_code == FLOAT32 else step_f64, &step, rows, GATE * gates * n, 1, True)


cdef void walk_back(Walk *way, StepBack *layer, Matrix *weight) noexcept nogil:
    """From the last step of `walk` to the first."""
    cdef npy_intp itemsize = itemsize_of(way), n = layer.hidden, gates = gates_of(layer.kind), k, t, row, rows
    cdef StepBack step
    cdef Matrix to_product
    for k in range(way.steps):
        t = k if way.reverse else way.steps - 1 - k
        row, rows = way.starts[t], way.starts[t + 1] - way.starts[t]
        step = layer[0]
        step.gates = further(layer.gates, row * gates * n * itemsize)
        step.state_before = further(layer.state_before, row * n * itemsize)
        step.inner = further(layer.inner, row * n * itemsize)
        step.cell_before = further(layer.cell_before, row * n * itemsize)
        step.from_output = further(layer.from_output, row * n * itemsize)
        step.to_input = further(layer.to_input, row * gates * n * itemsize)
        step.to_product = further(layer.to_product, row * gates * n * itemsize)
        parallel_for(step_back_f32 if way.dtype_code == FLOAT32 else step_back_f64, &step, rows, GATE * gates * n, 1, True)
        to_product = rows_of(step.to_product, rows, gates * n, itemsize)
        multiply_matrices(way.dtype_code, &to_product, weight, <char *> layer.from_state)
