"""Recurrent layers lstm, gru, rnn_tanh and rnn_relu, in one or both directions, and their cells (single steps)."""

import numpy as np

from autograd_cy._core.arrays.dtypes cimport INT64, code_of, type_word
from autograd_cy._core.graph.record cimport shape_of, tensor_argument
from autograd_cy._core.graph.tensor cimport Tensor
from autograd_cy._core.kernels.recurrent_loops cimport GRU, LSTM, RELU, TANH, CellKind, gates_of
from autograd_cy._core.runtime cimport numpy_api as cnp

from autograd_cy._core.batching.rules import COMPOSITE
from autograd_cy._core.ops.nn.activation import dropout as dropped
from autograd_cy._core.ops.registry import op
from autograd_cy._core.ops.shapes.joining import cat, stack


# the arguments

cdef cnp.ndarray packed_starts(object batch_sizes, Py_ssize_t rows, Py_ssize_t batch):
    """The first row of each step of packed sequences."""
    cdef Tensor sizes = tensor_argument(batch_sizes, "recurrent layer", "batch_sizes", 2)
    if code_of(sizes.array) != INT64:
        raise RuntimeError(f"expected scalar type Long but found {type_word(code_of(sizes.array))}")
    values = np.asarray(sizes.array)
    if values.ndim != 1 or not values.size or (values < 1).any() or (values[1:] > values[:-1]).any():
        raise RuntimeError("batch_sizes must be a vector of positive numbers of which none is larger than the one before, got "
                           f"{values.tolist()}")
    if values[0] != batch or int(values.sum()) != rows:
        raise RuntimeError(f"batch_sizes tells of {values[0]} sequences with {int(values.sum())} elements, but there are "
                           f"{batch} hidden states and {rows} rows of data")
    return starts_of(values)


cdef list layers_in(object params, bint has_biases, int directions, bint projected):
    """The five parameters (or Nones) of each direction of each layer."""
    cdef int each = 2 + 2 * has_biases + projected
    for tensor in params:
        if not isinstance(tensor, Tensor):
            raise TypeError(f"the parameters of a recurrent layer must be Tensors, got {type(tensor).__name__}")
    if len(params) % (each * directions) or not len(params):
        raise RuntimeError("got an incorrect number of RNN parameters")
    found = []
    for k in range(0, len(params), each):
        weights, biases = tuple(params[k:k + 2]), tuple(params[k + 2:k + 4]) if has_biases else (None, None)
        found.append(weights + biases + ((params[k + each - 1],) if projected else (None,)))
    return found


cdef tuple states_in(CellKind kind, str name, object hx, int number):
    """h and c (or None), each checked."""
    states = hx if kind == LSTM else (hx,)
    if kind == LSTM and (not isinstance(hx, (tuple, list)) or len(hx) != 2):
        raise RuntimeError(f"{name} expects two hidden states")
    for state in states:
        if cnp.PyArray_NDIM(tensor_argument(state, name, "hx", 2).array) != 3:
            raise RuntimeError(f"{name}: expected hidden states of 3 dimensions, got size {list(state.shape)}")
        if state.shape[0] < number:
            raise RuntimeError("Expected more hidden states in stacked_rnn")
        if state.shape[0] > number or state.shape[1] != states[0].shape[1]:
            raise RuntimeError(f"{name}: expected {number} hidden states for {states[0].shape[1]} samples, got size "
                               f"{list(state.shape)}")
    return states if kind == LSTM else (hx, None)


# the operations

cdef tuple stacked_layers(CellKind kind, str name, tuple arguments):
    """The output and the last states. The arguments have batch_sizes second or batch_first last."""
    cdef bint packed = isinstance(arguments[1], Tensor) and (kind == LSTM or isinstance(arguments[2], Tensor))
    cdef cnp.ndarray starts
    cdef list ends = [], outputs
    if packed:
        input, batch_sizes, hx, params, has_biases, num_layers, dropout, train, bidirectional = arguments
        batch_first = False
    else:
        input, hx, params, has_biases, num_layers, dropout, train, bidirectional, batch_first = arguments
    directions = 2 if bidirectional else 1
    x, (h, c) = tensor_argument(input, name, "input", 1), states_in(kind, name, hx, num_layers * directions)
    projected = kind == LSTM and h.shape[2] != c.shape[2]
    layers = layers_in(params, has_biases, directions, projected)
    if len(layers) != num_layers * directions:
        raise RuntimeError("got an incorrect number of RNN parameters")
    check_rank(x, name, 2 if packed else 3)
    x = x.transpose(0, 1) if batch_first else x
    if packed:
        starts = packed_starts(batch_sizes, x.shape[0], h.shape[1])
    else:
        starts = even_starts(x, h)
    for layer in range(num_layers):
        if layer and train:
            x = dropped(x, dropout, True)
        outputs = []
        for k in range(layer * directions, (layer + 1) * directions):
            y, *end = layer_of(kind, x, starts, k - layer * directions, h[k], None if c is None else c[k], layers[k])
            outputs.append(y)
            ends.append(end)
        x = outputs[0] if directions == 1 else cat(outputs, -1)
    states = [list(column) for column in zip(*ends)][:1 if c is None else 2]
    return (x.transpose(0, 1) if batch_first else x, *[
        column[0].unsqueeze(0) if len(column) == 1 else stack(column) for column in states])


cdef int check_rank(Tensor x, str name, int rank) except -1:
    if cnp.PyArray_NDIM(x.array) != rank:
        raise RuntimeError(f"{name}: Expected input to be {rank}-D, got {cnp.PyArray_NDIM(x.array)}-D instead")
    return 0


cdef cnp.ndarray even_starts(Tensor x, Tensor h):
    """The first row of each step, if all steps have all samples."""
    steps, batch = shape_of(x)[:2]
    if steps == 0:
        raise RuntimeError("Expected sequence length to be larger than 0 in RNN")
    if batch != shape_of(h)[1]:
        raise RuntimeError(f"Expected hidden states of {batch} samples, got size {list(shape_of(h))}")
    return np.arange(steps + 1, dtype=np.intp) * batch


@op(batch=COMPOSITE)
def lstm(input, hx, params, has_biases, num_layers, dropout, train, bidirectional, batch_first):
    """lstm(input, hx, params, has_biases, num_layers, dropout, train, bidirectional, batch_first) -> tuple of Tensors:
    output, h and c.

    Also lstm(data, batch_sizes, hx, params, has_biases, num_layers, dropout, train, bidirectional), for packed sequences.
    nn.LSTM calls it and documents the formulas. `input` is (steps, batch, size), hx a pair of (layers * directions, batch,
    hidden). For each direction of each layer, `params` has the weights of input and state, and their biases. RuntimeError
    if sizes, types or their number don't fit.

    >>> import autograd_cy as ag
    >>> weights = ag.zeros(8, 3), ag.zeros(8, 2)
    >>> output, h, c = ag.lstm(ag.ones(5, 1, 3), (ag.zeros(1, 1, 2), ag.ones(1, 1, 2)), weights, False, 1, 0.0, False, False,
    ...                        False)
    >>> c
    tensor([[[0.0312, 0.0312]]])
    """
    return stacked_layers(LSTM, "lstm", (
        input, hx, params, has_biases, num_layers, dropout, train, bidirectional, batch_first))


@op(batch=COMPOSITE)
def gru(input, hx, params, has_biases, num_layers, dropout, train, bidirectional, batch_first):
    """gru(input, hx, params, has_biases, num_layers, dropout, train, bidirectional, batch_first) -> tuple of two Tensors:
    output and h.

    Like lstm(), with one state; nn.GRU calls it.

    >>> import autograd_cy as ag
    >>> weights = ag.zeros(6, 3), ag.zeros(6, 2)
    >>> output, h = ag.gru(ag.ones(5, 1, 3), ag.ones(1, 1, 2), weights, False, 1, 0.0, False, False, False)
    >>> h
    tensor([[[0.0312, 0.0312]]])
    """
    return stacked_layers(GRU, "gru", (
        input, hx, params, has_biases, num_layers, dropout, train, bidirectional, batch_first))


@op(batch=COMPOSITE)
def rnn_tanh(input, hx, params, has_biases, num_layers, dropout, train, bidirectional, batch_first):
    """rnn_tanh(input, hx, params, has_biases, num_layers, dropout, train, bidirectional, batch_first) -> tuple of two Tensors:
    output and h.

    Like gru(); nn.RNN calls it. h' = tanh(input @ weight_ih.T + bias_ih + h @ weight_hh.T + bias_hh).

    >>> import autograd_cy as ag
    >>> ag.rnn_tanh(ag.ones(2, 1, 1), ag.zeros(1, 1, 1), (ag.ones(1, 1), ag.ones(1, 1)), False, 1, 0.0, False, False, False)[1]
    tensor([[[0.9427]]])
    """
    return stacked_layers(TANH, "rnn_tanh", (
        input, hx, params, has_biases, num_layers, dropout, train, bidirectional, batch_first))


@op(batch=COMPOSITE)
def rnn_relu(input, hx, params, has_biases, num_layers, dropout, train, bidirectional, batch_first):
    """rnn_relu(input, hx, params, has_biases, num_layers, dropout, train, bidirectional, batch_first) -> tuple of two Tensors:
    output and h.

    Like rnn_tanh(), with relu instead of tanh.

    >>> import autograd_cy as ag
    >>> ag.rnn_relu(ag.ones(2, 1, 1), ag.zeros(1, 1, 1), (ag.ones(1, 1), ag.ones(1, 1)), False, 1, 0.0, False, False, False)[1]
    tensor([[[2.]]])
    """
    return stacked_layers(RELU, "rnn_relu", (
        input, hx, params, has_biases, num_layers, dropout, train, bidirectional, batch_first))


# the cells

cdef tuple cell_of(CellKind kind, str name, object input, object hx, object w_ih, object w_hh, object b_ih, object b_hh):
    """h and c (or None) after one step."""
    cdef Tensor x = tensor_argument(input, name, "input", 1), weight = tensor_argument(w_ih, name, "w_ih", 3)
    if kind == LSTM and (not isinstance(hx, (tuple, list)) or len(hx) != 2):
        raise RuntimeError(f"{name} expects two hidden states")
    h, c = hx if kind == LSTM else (hx, None)
    tensor_argument(w_hh, name, "w_hh", 4)
    for k, state in enumerate((h, c) if kind == LSTM else (h,)):
        check_state(x, tensor_argument(state, name, "hx", 2), w_hh, k)
    if shape_of(x)[1] != weight.shape[-1]:
        raise RuntimeError(f"input has inconsistent input_size: got {shape_of(x)[1]} expected {weight.shape[-1]}")
    if weight.shape[0] != gates_of(kind) * h.shape[1]:
        raise RuntimeError(f"weight_ih first dim must be {gates_of(kind)} * hidden_size = {gates_of(kind) * h.shape[1]}, but "
                           f"got {weight.shape[0]}")
    for position, bias in enumerate((b_ih, b_hh)):
        if bias is not None:
            tensor_argument(bias, name, ("b_ih", "b_hh")[position], 5 + position)
    if (b_ih is None) != (b_hh is None):
        b_ih = b_hh.new_zeros(b_hh.shape) if b_ih is None else b_ih
        b_hh = b_ih.new_zeros(b_ih.shape) if b_hh is None else b_hh
    starts = np.array((0, shape_of(x)[0]), np.intp)
    return layer_of(kind, x, starts, False, h, c, (w_ih, w_hh, b_ih, b_hh, None))[1:]


cdef int check_state(Tensor x, Tensor state, object w_hh, int number) except -1:
    cdef tuple own = shape_of(state), of_input = shape_of(x)
    if of_input and own and of_input[0] != own[0]:
        raise RuntimeError(f"Input batch size {of_input[0]} doesn't match hidden{number} batch size {own[0]}")
    if len(own) > 1 and own[1] != w_hh.shape[-1]:
        raise RuntimeError(f"hidden{number} has inconsistent hidden_size: got {own[1]}, expected {w_hh.shape[-1]}")
    if len(of_input) != 2 or len(own) != 2:
        raise IndexError(f"Dimension out of range (expected to be in range of [-1, 0], but got 1) (cells take matrices, got "
                         f"an input of size {list(of_input)} and a state of size {list(own)})")
    return 0


@op(batch=COMPOSITE)
def lstm_cell(input, hx, w_ih, w_hh, b_ih=None, b_hh=None):
    """lstm_cell(input, hx, w_ih, w_hh, b_ih=None, b_hh=None) -> tuple of two Tensors: h and c after one step.

    One step of lstm(), from the pair `hx` of states. `input` is (batch, size), a state (batch, hidden), `w_ih`
    (4 * hidden, size), `w_hh` (4 * hidden, hidden). RuntimeError for other sizes.

    >>> import autograd_cy as ag
    >>> h, c = ag.lstm_cell(ag.ones(1, 3), (ag.zeros(1, 2), ag.ones(1, 2)), ag.zeros(8, 3), ag.zeros(8, 2))
    >>> c
    tensor([[0.5000, 0.5000]])
    """
    return cell_of(LSTM, "lstm_cell", input, hx, w_ih, w_hh, b_ih, b_hh)


@op(batch=COMPOSITE)
def gru_cell(input, hx, w_ih, w_hh, b_ih=None, b_hh=None):
    """gru_cell(input, hx, w_ih, w_hh, b_ih=None, b_hh=None) -> Tensor: one step of gru() from the state `hx`.

    >>> import autograd_cy as ag
    >>> ag.gru_cell(ag.ones(1, 3), ag.ones(1, 2), ag.zeros(6, 3), ag.zeros(6, 2))
    tensor([[0.5000, 0.5000]])
    """
    return cell_of(GRU, "gru_cell", input, hx, w_ih, w_hh, b_ih, b_hh)[0]


@op(batch=COMPOSITE)
def rnn_tanh_cell(input, hx, w_ih, w_hh, b_ih=None, b_hh=None):
    """rnn_tanh_cell(input, hx, w_ih, w_hh, b_ih=None, b_hh=None) -> Tensor: one step of rnn_tanh() from the state `hx`.

    >>> import autograd_cy as ag
    >>> ag.rnn_tanh_cell(ag.ones(1, 3), ag.zeros(1, 2), ag.ones(2, 3), ag.ones(2, 2))
    tensor([[0.9951, 0.9951]])
    """
    return cell_of(TANH, "rnn_tanh_cell", input, hx, w_ih, w_hh, b_ih, b_hh)[0]


@op(batch=COMPOSITE)
def rnn_relu_cell(input, hx, w_ih, w_hh, b_ih=None, b_hh=None):
    """rnn_relu_cell(input, hx, w_ih, w_hh, b_ih=None, b_hh=None) -> Tensor: one step of rnn_relu() from the state `hx`.

    >>> import autograd_cy as ag
    >>> ag.rnn_relu_cell(ag.ones(1, 3), ag.zeros(1, 2), ag.ones(2, 3), ag.ones(2, 2))
    tensor([[3., 3.]])
    """
    return cell_of(RELU, "rnn_relu_cell", input, hx, w_ih, w_hh, b_ih, b_hh)[0]
