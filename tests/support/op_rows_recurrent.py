"""Rows of the op table: recurrent layers and their cells. The reference is a loop over the steps in NumPy."""

import functools

import numpy as np
from op_case import FLOATS, HALF, OpInfo, S

GATES = {"lstm": 4, "gru": 3, "rnn_tanh": 1, "rnn_relu": 1}


def sigmoid(x):
    return 1 / (1 + np.exp(-x))


def cell(kind, x, hx, w_ih, w_hh, b_ih=None, b_hh=None, w_hr=None):
    """The states after one step: (h, c) of lstm, else (h,)."""
    h = hx[0]
    of_input = x @ w_ih.T + (0 if b_ih is None else b_ih)
    of_state = h @ w_hh.T + (0 if b_hh is None else b_hh)
    if kind == "lstm":
        i, f, g, o = np.split(of_input + of_state, 4, -1)
        c = sigmoid(f) * hx[1] + sigmoid(i) * np.tanh(g)
        h = sigmoid(o) * np.tanh(c)
        return (h if w_hr is None else h @ w_hr.T), c
    if kind == "gru":
        (xr, xz, xn), (hr, hz, hn) = np.split(of_input, 3, -1), np.split(of_state, 3, -1)
        z = sigmoid(xz + hz)
        return ((1 - z) * np.tanh(xn + sigmoid(xr + hr) * hn) + z * h,)
    return (np.tanh(of_input + of_state) if kind == "rnn_tanh" else np.maximum(of_input + of_state, 0),)


def direction(kind, sequences, states, parameters):
    """Of a direction, sequence by sequence, each (length, size): the outputs, and the last states of all."""
    outputs, ends = [], []
    for k, sequence in enumerate(sequences):
        state, output = tuple(s[k:k + 1] for s in states), []
        for x in sequence:
            state = cell(kind, x[None], state, *parameters)
            output.append(state[0])
        outputs.append(np.concatenate(output))
        ends.append(state)
    return outputs, [np.concatenate(column) for column in zip(*ends, strict=True)]


def network(kind, sequences, hx, params, has_biases, num_layers, bidirectional):
    """The output of each sequence, and the last states: by this, packed sequences need no packing."""
    directions, ends = 1 + bidirectional, []
    each = len(params) // (num_layers * directions)
    for layer in range(num_layers):
        found = []
        for k in range(layer * directions, (layer + 1) * directions):
            names = list(params[k * each:(k + 1) * each])
            names = names if has_biases else names[:2] + [None, None] + names[2:]
            turn = slice(None, None, -1 if k % directions else 1)
            outputs, end = direction(kind, [s[turn] for s in sequences], [s[k] for s in hx], names)
            found.append([y[turn] for y in outputs])
            ends.append(end)
        sequences = [np.concatenate(parts, -1) for parts in zip(*found, strict=True)]
    return sequences, [np.stack(column) for column in zip(*ends, strict=True)]


def layers(kind, x, hx, params, has_biases, num_layers, dropout, train, bidirectional, batch_first):
    x = x if batch_first else np.swapaxes(x, 0, 1)
    states = hx if kind == "lstm" else (hx,)
    outputs, ends = network(kind, list(x), states, params, has_biases, num_layers, bidirectional)
    return (np.stack(outputs, 0 if batch_first else 1), *ends)


def cell_row(kind, x, hx, *parameters):
    found = cell(kind, x, hx if kind == "lstm" else (hx,), *parameters)
    return found if kind == "lstm" else found[0]


def states_of(make, kind, *shape):
    return (make(*shape), make(*shape)) if kind == "lstm" else make(*shape)


def parameters_of(make, kind, size, hidden, biases=True):
    rows = GATES[kind] * hidden
    return [make(rows, size), make(rows, hidden)] + ([make(rows), make(rows)] if biases else [])


def layer_samples(kind, make):
    one = parameters_of(make, kind, 2, 3)
    yield S(make(3, 2, 2), states_of(make, kind, 1, 2, 3), one, True, 1, 0.0, False, False, False)
    both = [p for size in (1, 1, 4, 4) for p in parameters_of(make, kind, size, 2, False)]
    yield S(make(1, 2, 1), states_of(make, kind, 4, 1, 2), both, False, 2, 0.0, True, True, True)


def cell_samples(kind, make):
    yield S(make(2, 3), states_of(make, kind, 2, 2), *parameters_of(make, kind, 3, 2))
    yield S(make(1, 1), states_of(make, kind, 1, 1), *parameters_of(make, kind, 1, 1, False))


def rows_of(kind):
    """The layer's row and the cell's."""
    common = {"domain": ((-1.0, 1.0),), "dtypes": FLOATS, "forward": HALF, "result": "first", "method": False}
    bind = functools.partial
    yield OpInfo(kind, bind(layers, kind), bind(layer_samples, kind), **common)
    yield OpInfo(f"{kind}_cell", bind(cell_row, kind), bind(cell_samples, kind), **common)


ROWS = [row for kind in GATES for row in rows_of(kind)]
