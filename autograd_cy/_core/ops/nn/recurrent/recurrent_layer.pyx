"""One direction of a recurrent layer as one operation: all steps, with one node that saves the gates of all of them.

The input's part of the gates is one product for all steps, and so is the gradient of each weight. For create_graph, within
vmap and in forward mode, the layer consists of recorded operations (recurrent_steps.pyx).
"""

import numpy as np

cimport cython

from autograd_cy._core.arrays.buffers cimport flat, in_type, new_array, new_zeros
from autograd_cy._core.arrays.dtypes cimport FLOAT16, FLOAT64, code_of, dtype_of, kernel_code, long_word, type_word
from autograd_cy._core.graph.memory cimport all_zero, zeroed
from autograd_cy._core.graph.node cimport HANDLES, Node, SavedTensor, freed_error, save_several
from autograd_cy._core.graph.record cimport has_tangent, needs_node, new_node, record_all, shape_of
from autograd_cy._core.graph.tensor cimport Tensor, new_tensor
from autograd_cy._core.kernels.gemm cimport product
from autograd_cy._core.kernels.loops cimport add_into
from autograd_cy._core.kernels.matrix_views cimport Matrix, matrix_of
from autograd_cy._core.kernels.recurrent_loops cimport GRU, LSTM, CellKind, Step, StepBack, Walk, gates_of, walk, walk_back
from autograd_cy._core.kernels.reduction_loops cimport total_of
from autograd_cy._core.parallel.threads cimport thresholds
from autograd_cy._core.runtime cimport numpy_api as cnp
from autograd_cy._core.runtime.numpy_api cimport npy_intp
from autograd_cy._core.runtime.state cimport BATCHED, FORWARD_AD, KEEP_ZEROS, NO_GRAD, SAVED_HOOKS, current_mode, thread_state

from autograd_cy._core.graph.node import declare_outputs

cdef enum:
    TRANSPOSED_ONCE = 4         # with more steps, a weight that BLAS would read transposed is copied


# arrays

cdef inline void *data_of(cnp.ndarray array) noexcept:
    return NULL if array is None else cnp.PyArray_DATA(array)


cdef cnp.ndarray matrix(int dtype_code, npy_intp rows, npy_intp columns):
    cdef npy_intp[2] dims = [rows, columns]
    return new_array(dtype_code, 2, dims)


cdef cnp.ndarray matrix_from(cnp.ndarray array, int dtype_code):
    """A dense copy of a matrix."""
    cdef cnp.ndarray out = matrix(dtype_code, cnp.PyArray_DIM(array, 0), cnp.PyArray_DIM(array, 1))
    (<object> out)[...] = array
    return out


cdef cnp.ndarray flat_rows(cnp.ndarray array, int dtype_code, npy_intp rows):
    """A dense matrix: all dimensions but the last are merged."""
    array = flat(array, dtype_code)
    return array if cnp.PyArray_NDIM(array) == 2 else (<object> array).reshape(rows, (<object> array).shape[-1])


cdef cnp.ndarray total_bias(CellKind kind, Tensor bias_ih, Tensor bias_hh, npy_intp size, int dtype_code):
    """The bias of the gates. It excludes the last part of GRU's state bias, which is multiplied by a gate."""
    if bias_ih is None:
        return new_zeros(dtype_code, 1, &size)
    total = np.array(bias_ih.array, dtype_of(dtype_code).numpy_dtype)
    end = size // 3 * 2 if kind == GRU else size
    total[:end] += (<object> bias_hh.array)[:end]
    return total


cdef Walk way_of(cnp.ndarray starts, bint reverse, int dtype_code) noexcept:
    return Walk(dtype_code, cnp.PyArray_DIM(starts, 0) - 1, <const npy_intp *> cnp.PyArray_DATA(starts), reverse)


cdef npy_intp rows_in(cnp.ndarray starts) noexcept:
    """The number of rows of all steps."""
    return (<const npy_intp *> cnp.PyArray_DATA(starts))[cnp.PyArray_DIM(starts, 0) - 1]


# the node

@cython.final
cdef class RecurrentLayerBackward0(Node):
    """The node of the output, h and, for LSTM, c. Slot 0 has all inputs: x, h, c and the weights and biases of input and
    state. Its constants are the sizes of the outputs and their dtype.

    Results of the steps belong to the node, so it keeps them as arrays; with saved-tensor hooks, in slot 1.
    """
    cdef CellKind kind
    cdef bint reverse
    cdef cnp.ndarray starts
    cdef cnp.ndarray gates          # for each row of x: the activations
    cdef cnp.ndarray state_before   # ... h before the step
    cdef cnp.ndarray cell_before    # ... LSTM: c before the step
    cdef cnp.ndarray inner          # ... GRU: the state's part of the last gate

    cdef tuple saved_names(self):
        return (None, None, None)

    cdef tuple inputs(self):
        if self.released:
            raise freed_error(self)
        return tuple([None if saved is None else (<SavedTensor> saved).restored(self) for saved in <tuple> self.saved0])

    cdef tuple steps(self):
        """The saved results of the steps: gates, state_before, cell_before, inner."""
        if self.kinds[1] != HANDLES:
            return self.gates, self.state_before, self.cell_before, self.inner
        kept = [(<SavedTensor> saved).restored(self) for saved in <tuple> self.saved1]
        return tuple([None if x is None else (<Tensor> x).array for x in kept])

    cdef int pack_steps(self) except -1:
        """Pass these results to saved-tensor hooks."""
        save_several(self, 1, tuple([None if array is None else new_tensor(array) for array in self.steps()]))
        self.gates = self.state_before = self.cell_before = self.inner = None
        return 0

    cdef int release_saved(self) except -1:
        self.gates = self.state_before = self.cell_before = self.inner = None
        return Node.release_saved(self)

    cdef object vjp(self, object g, int i):
        return self.recorded(list(g))[i]

    cdef tuple recorded(self, list g):
        """All gradients by operations."""
        x, h, c, *parameters = self.inputs()
        g = g + [None] * (3 - len(g))
        if g.count(None) == 3:
            return (None,) * self.n_edges
        gradients = adjoint(self.kind, x, self.starts, self.reverse, h, c, tuple(parameters), g)
        found = tuple([None if self.next_node(i) is None else gradients[i] for i in range(self.n_edges)])
        return with_zeros_kept(found, g) if thread_state().mode & KEEP_ZEROS else found

    cdef tuple vjps(self, object g):
        cdef int mode = current_mode()
        cdef list gradients = list(g)
        if not mode & NO_GRAD or mode & FORWARD_AD or (mode & BATCHED and any_batched(gradients)):
            return self.recorded(gradients)
        if gradients.count(None) == len(gradients):
            return (None,) * self.n_edges
        found = tuple([None if array is None else new_tensor(array) for array in walked_back(self, self.inputs(), gradients)])
        return with_zeros_kept(found, gradients) if thread_state().mode & KEEP_ZEROS else found


cdef tuple with_zeros_kept(tuple found, list g):
    """Case 4 of NOTE [Zeros that stay], which the engine leaves to nodes that return all gradients at once."""
    zeros = all_zero(g)
    return tuple([zeroed(result, zeros) for result in found])


cdef bint any_batched(object tensors) except -1:
    for x in tensors:
        if x is not None and (<Tensor> x).batched:
            return True
    return False


# forward

cdef tuple walked(RecurrentLayerBackward0 node, CellKind kind, Tensor x, cnp.ndarray starts, bint reverse, Tensor h, Tensor c,
                  tuple parameters):
    """The output, h and c as arrays; stores data for the gradient in the node unless it is None."""
    cdef int dtype_code = kernel_code(x.array), gates = gates_of(kind)
    cdef npy_intp rows = rows_in(starts), n = cnp.PyArray_DIM(h.array, 1)
    cdef Tensor weight_ih, weight_hh, bias_ih, bias_hh
    cdef cnp.ndarray inner = None, state_before = None, cell_before = None
    weight_ih, weight_hh, bias_ih, bias_hh = parameters
    cdef cnp.ndarray state = matrix_from(h.array, dtype_code), cell = None if c is None else matrix_from(c.array, dtype_code)
    cdef cnp.ndarray activations = product(
        flat_rows(x.array, dtype_code, rows), False, flat(weight_ih.array, dtype_code), True)
    cdef cnp.ndarray output = matrix(dtype_code, rows, n), bias = total_bias(kind, bias_ih, bias_hh, gates * n, dtype_code)
    cdef cnp.ndarray inner_bias = None
    if kind == GRU:
        inner_bias = bias if bias_hh is None else flat((<object> bias_hh.array)[2 * n:], dtype_code)
    if node is not None:
        state_before = matrix(dtype_code, rows, n)
        cell_before = matrix(dtype_code, rows, n) if kind == LSTM else None
        inner = matrix(dtype_code, rows, n) if kind == GRU else None
        node.kind, node.reverse, node.starts, node.gates = kind, reverse, starts, activations
        node.state_before, node.cell_before, node.inner = state_before, cell_before, inner
    cdef cnp.ndarray weight = flat(weight_hh.array, dtype_code), by_state = matrix(
        dtype_code, cnp.PyArray_DIM(state, 0), gates * n)
    cdef bint copied = cnp.PyArray_DIM(starts, 0) > TRANSPOSED_ONCE
    if copied:
        weight = matrix_from((<object> weight).T, dtype_code)
    cdef Matrix factor = matrix_of(weight, not copied)
    cdef Walk way = way_of(starts, reverse, dtype_code)
    cdef Step step = Step(kind, n, data_of(activations), data_of(by_state), data_of(bias), data_of(inner_bias), data_of(state),
                          data_of(cell), data_of(output), data_of(inner), data_of(cell_before))
    cdef char *before = <char *> data_of(state_before)
    if rows * gates * n * n < thresholds.unlocked_product:
        walk(&way, &step, &factor, before)
    else:
        with nogil:
            walk(&way, &step, &factor, before)
    return (<object> output).reshape(*shape_of(x)[:-1], n), state, cell


def like_layer(RecurrentLayerBackward0 node, int i):
    return node.constants[i], node.constants[3]


declare_outputs(RecurrentLayerBackward0, like_layer)


# backward

cdef list walked_back(RecurrentLayerBackward0 node, tuple inputs, list g):
    """The gradient of each input as an array, or None."""
    cdef Tensor x = inputs[0], weight_ih = inputs[3], weight_hh = inputs[4]
    cdef cnp.ndarray gates, state_before, cell_before, inner
    gates, state_before, cell_before, inner = node.steps()
    cdef int dtype_code = code_of(gates)
    cdef npy_intp rows = rows_in(node.starts), n = cnp.PyArray_DIM(state_before, 1)
    check_sizes(node.kind, x, rows, <Tensor> inputs[1], <Tensor> inputs[2], inputs[3:])
    cdef cnp.ndarray to_input = matrix(dtype_code, rows, cnp.PyArray_DIM(gates, 1))
    cdef cnp.ndarray to_product = matrix(dtype_code, rows, cnp.PyArray_DIM(gates, 1)) if node.kind == GRU else to_input
    cdef cnp.ndarray from_output = None if g[0] is None else flat((<Tensor> g[0]).array, dtype_code)
    cdef cnp.ndarray from_state = gradient_or_zeros(<Tensor> g[1], <Tensor> inputs[1], dtype_code), carried = None
    if node.kind >= GRU:
        carried = gradient_or_zeros(<Tensor> g[2] if node.kind == LSTM else None, <Tensor> inputs[1], dtype_code)
    cdef Matrix factor
    cdef cnp.ndarray weight = flat(weight_hh.array, dtype_code)
    factor = matrix_of(weight, False)
    cdef Walk way = way_of(node.starts, node.reverse, dtype_code)
    cdef StepBack step = StepBack(
        node.kind, n, data_of(gates), data_of(state_before), data_of(inner), data_of(cell_before),
        data_of(from_output), data_of(from_state), data_of(carried), data_of(to_input), data_of(to_product))
    if rows * n * cnp.PyArray_DIM(gates, 1) < thresholds.unlocked_product:
        walk_back(&way, &step, &factor)
    else:
        with nogil:
            walk_back(&way, &step, &factor)
    if node.kind == GRU:
        add_into(from_state, carried)
    return gradients_of(node, x, weight_ih, state_before, to_input, to_product, from_state,
                        carried if node.kind == LSTM else None)


cdef cnp.ndarray gradient_or_zeros(Tensor g, Tensor like, int dtype_code):
    """A copy of a gradient, or zeros, to be overwritten."""
    if g is None:
        return new_zeros(dtype_code, 2, cnp.PyArray_DIMS(like.array))
    return matrix_from(g.array, dtype_code)


cdef list gradients_of(RecurrentLayerBackward0 node, Tensor x, Tensor weight_ih, cnp.ndarray state_before,
                       cnp.ndarray to_input, cnp.ndarray to_product, cnp.ndarray from_state, cnp.ndarray from_cell):
    """The requested gradients, from the gradients of the input's and the state's parts of the gates."""
    cdef int dtype_code = code_of(to_input), i
    cdef npy_intp rows = cnp.PyArray_DIM(to_input, 0)
    cdef list wanted = [node.next_node(i) is not None for i in range(node.n_edges)]
    cdef list found = [None, from_state, from_cell, None, None, None, None]
    if wanted[0]:
        found[0] = (<object> product(to_input, False, flat(weight_ih.array, dtype_code), False)).reshape(shape_of(x))
    if wanted[3]:
        found[3] = product(to_input, True, flat_rows(x.array, dtype_code, rows), False)
    if wanted[4]:
        found[4] = product(to_product, True, state_before, False)
    if wanted[5]:
        found[5] = total_of(to_input, dtype_code, 1, False)
    if wanted[6]:
        found[6] = total_of(to_product, dtype_code, 1, False)
    return [in_type(<cnp.ndarray> found[i], code_of(x.array)) if wanted[i] else None for i in range(node.n_edges)]


# the operation

cdef int check_sizes(CellKind kind, Tensor x, npy_intp rows, Tensor h, Tensor c, object parameters) except -1:
    """Refuse sizes that don't match, because the loops rely on them."""
    cdef tuple own = shape_of(x)
    cdef npy_intp total = 1
    weight_ih, weight_hh, bias_ih, bias_hh = parameters
    if cnp.PyArray_NDIM(h.array) != 2 or cnp.PyArray_NDIM((<Tensor> weight_ih).array) != 2:
        raise RuntimeError(f"recurrent layer: the state and the weights must be matrices, got sizes {list(shape_of(h))} and "
                           f"{list(shape_of(<Tensor> weight_ih))}")
    size, n = gates_of(kind) * shape_of(h)[1], shape_of(h)[1]
    for k in own[:-1]:
        total *= k
    if total != rows:
        raise RuntimeError(f"recurrent layer: expected {rows} rows of input, got size {list(own)}")
    if shape_of(<Tensor> weight_ih)[1] != own[-1]:
        raise RuntimeError(f"mat1 and mat2 shapes cannot be multiplied ({rows}x{own[-1]} and "
                           f"{shape_of(<Tensor> weight_ih)[1]}x{shape_of(<Tensor> weight_ih)[0]})")
    for name, tensor, sizes in (
            ("weight_ih", weight_ih, (size, own[-1])), ("weight_hh", weight_hh, (size, n)), ("bias_ih", bias_ih, (size,)),
            ("bias_hh", bias_hh, (size,)), ("c", c, shape_of(h))):
        if tensor is not None and shape_of(<Tensor> tensor) != sizes:
            raise RuntimeError(f"recurrent layer: expected {name} to have size {list(sizes)}, got "
                               f"{list(shape_of(<Tensor> tensor))}")
    return 0


cdef int check_types(tuple inputs) except -1:
    cdef int own = code_of((<Tensor> inputs[0]).array)
    if not FLOAT16 <= own <= FLOAT64:
        raise RuntimeError(f"\"addmm_impl_cpu_\" not implemented for '{type_word(own)}' (recurrent layers take floats)")
    for x in inputs:
        if x is not None and code_of((<Tensor> x).array) != own:
            raise RuntimeError("expected m1 and m2 to have the same dtype, but got: "
                               f"{long_word(own)} != {long_word(code_of((<Tensor> x).array))}")
    return 0


cdef tuple layer_of(CellKind kind, Tensor x, cnp.ndarray starts, bint reverse, Tensor h, Tensor c, tuple parameters):
    """The output, h and (or None) c of a layer; x has the rows of all steps, h and c a row for each sample.

    `parameters`: weights of the input and of the state, their biases or Nones, the weight of a projection or None.
    """
    cdef tuple inputs = (x, h, c) + parameters[:4], outputs
    cdef RecurrentLayerBackward0 node = None
    cdef bint wanted = False
    check_types(inputs + parameters[4:])
    if parameters[4] is None:
        check_sizes(kind, x, rows_in(starts), h, c, parameters[:4])
    if parameters[4] is not None or in_operations(inputs):
        return unrolled(kind, x, starts, reverse, h, c, parameters)
    for tensor in inputs:
        wanted = wanted or (tensor is not None and needs_node(<Tensor> tensor))
    if wanted:
        node = new_node(RecurrentLayerBackward0, ())
    outputs = tuple([None if array is None else new_tensor(in_type(<cnp.ndarray> array, code_of(x.array)))
                     for array in walked(node, kind, x, starts, reverse, h, c, parameters[:4])])
    if wanted:
        save_several(node, 0, inputs)
        if current_mode() & SAVED_HOOKS:
            node.pack_steps()
        node.joint = True
        node.constants = tuple([None if y is None else shape_of(<Tensor> y) for y in outputs]) + (x.dtype,)
        record_all(node, outputs if kind == LSTM else outputs[:2], inputs)
    return outputs


cdef bint in_operations(tuple inputs) except -1:
    """Whether an input is batched or has a tangent, so that the layer must consist of operations."""
    for x in inputs:
        if x is not None and ((<Tensor> x).batched or has_tangent(<Tensor> x)):
            return True
    return False


cdef cnp.ndarray starts_of(object batch_sizes):
    """The first row of each step, then the number of rows."""
    starts = np.zeros(len(batch_sizes) + 1, np.intp)
    np.cumsum(batch_sizes, out=starts[1:])
    return starts
