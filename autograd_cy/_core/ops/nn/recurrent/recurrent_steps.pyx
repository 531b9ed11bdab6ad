"""A direction of a recurrent layer step by step, by recorded operations: for forward mode, vmap, projections and second
derivatives.

A cell computes activations from `x` and `p`, the input's and the state's parts of the gates, by the formulas of
recurrent_loops.pyx. The state of all samples is passed from step to step; a step changes its first rows.
"""

from autograd_cy._core.kernels.recurrent_loops cimport GRU, LSTM, TANH, CellKind

from autograd_cy._core.ops.shapes.joining import cat, stack


cdef object linear(object x, object weight, object bias):
    y = x.matmul(weight.transpose(-2, -1))
    return y if bias is None else y + bias


cdef object first_rows(object state, object n):
    return state if state is None or n == state.shape[0] else state[:n]


cdef object with_rows(object state, object rows):
    """The state with its first rows replaced."""
    return rows if rows is None or rows.shape[0] == state.shape[0] else cat([rows, state[rows.shape[0]:]])


cdef list steps_of(object starts, bint reverse):
    """The first and the end row of each step, in the order of the walk."""
    cdef list steps = [(int(first), int(end)) for first, end in zip(starts[:-1], starts[1:])]
    return steps[::-1] if reverse else steps


# one step

cdef tuple activations(CellKind kind, object x, object p):
    """The activations of the gates; for GRU, also the state's part of the last gate."""
    if kind == LSTM:
        i, f, g, o = (x + p).chunk(4, -1)
        return i.sigmoid(), f.sigmoid(), g.tanh(), o.sigmoid()
    if kind == GRU:
        (xr, xz, xn), (pr, pz, inner) = x.chunk(3, -1), p.chunk(3, -1)
        r = (xr + pr).sigmoid()
        return r, (xz + pz).sigmoid(), (xn + r * inner).tanh(), inner
    return ((x + p).tanh() if kind == TANH else (x + p).relu(),)


cdef tuple after(CellKind kind, tuple gates, object h, object c):
    """The state after the step."""
    if kind == LSTM:
        i, f, g, o = gates
        c = f * c + i * g
        return o * c.tanh(), c
    if kind == GRU:
        _, z, n, _ = gates
        return n + z * (h - n), None
    return gates[0], None


cdef tuple before(CellKind kind, tuple gates, object h, object c, object gh, object gc):
    """The gradients of x, p, and h and c before the step (except through p), from the gradients of h and c after it."""
    if kind == LSTM:
        i, f, g, o = gates
        t = (f * c + i * g).tanh()
        gc = gc + gh * o * (1 - t * t)
        gates = gc * g * i * (1 - i), gc * c * f * (1 - f), gc * i * (1 - g * g), gh * t * o * (1 - o)
        gx = cat(gates, -1)
        return gx, gx, None, gc * f
    if kind == GRU:
        r, z, n, inner = gates
        gz, gn = gh * (h - n) * z * (1 - z), gh * (1 - z) * (1 - n * n)
        gr = gn * inner * r * (1 - r)
        return cat((gr, gz, gn), -1), cat((gr, gz, gn * r), -1), gh * z, None
    y = gates[0]
    gx = gh * (1 - y * y) if kind == TANH else gh * (y > 0)
    return gx, gx, None, None


# all steps

cdef tuple unrolled(CellKind kind, object x, object starts, bint reverse, object h, object c, tuple parameters):
    """The output, h and c (or None). Parameters: weights of input and state, their biases, the weight of a projection."""
    cdef list outputs = []
    weight_ih, weight_hh, bias_ih, bias_hh, weight_hr = parameters
    inputs = linear(x, weight_ih, bias_ih).flatten(0, -2)
    for first, end in steps_of(starts, reverse):
        h_rows, c_rows = first_rows(h, end - first), first_rows(c, end - first)
        gates = activations(kind, inputs[first:end], linear(h_rows, weight_hh, bias_hh))
        h_rows, c_rows = after(kind, gates, h_rows, c_rows)
        if weight_hr is not None:
            h_rows = linear(h_rows, weight_hr, None)
        h, c = with_rows(h, h_rows), with_rows(c, c_rows)
        outputs.append(h_rows)
    outputs = outputs[::-1] if reverse else outputs
    return stack(outputs) if x.ndim == 3 else cat(outputs), h, c


cdef tuple adjoint(CellKind kind, object x, object starts, bint reverse, object h, object c, tuple parameters, list g):
    """The gradients of x, h, c and the four parameters, from the gradients of output, h and c (None: zero)."""
    cdef list walked = [], to_input = [], to_product = []
    weight_ih, weight_hh, bias_ih, bias_hh = parameters
    gy = None if g[0] is None else g[0].flatten(0, -2)
    gh = h.new_zeros(h.shape) if g[1] is None else g[1]
    gc = None if c is None else c.new_zeros(c.shape) if g[2] is None else g[2]
    rows = x.flatten(0, -2)
    inputs = linear(rows, weight_ih, bias_ih)
    for first, end in steps_of(starts, reverse):
        h_rows, c_rows = first_rows(h, end - first), first_rows(c, end - first)
        gates = activations(kind, inputs[first:end], linear(h_rows, weight_hh, bias_hh))
        walked.append((first, end, gates, h_rows, c_rows))
        h_rows, c_rows = after(kind, gates, h_rows, c_rows)
        h, c = with_rows(h, h_rows), with_rows(c, c_rows)
    for first, end, gates, h_rows, c_rows in reversed(walked):
        gh_rows = first_rows(gh, end - first)
        gh_rows = gh_rows if gy is None else gh_rows + gy[first:end]
        gx, gp, direct, gc_rows = before(kind, gates, h_rows, c_rows, gh_rows, first_rows(gc, end - first))
        gh_rows = gp.matmul(weight_hh)
        gh, gc = with_rows(gh, gh_rows if direct is None else gh_rows + direct), with_rows(gc, gc_rows)
        to_input.append(gx)
        to_product.append(gp)
    states = [step[3] for step in reversed(walked)]
    gx, gp, states = [cat(parts if reverse else parts[::-1]) for parts in (to_input, to_product, states)]
    return (gx.matmul(weight_ih).reshape(x.shape), gh, gc, gx.transpose(0, 1).matmul(rows), gp.transpose(0, 1).matmul(states),
            gx.sum(0), gp.sum(0))
