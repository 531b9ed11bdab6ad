"""Padding with a constant, or by reflection, replication or circular continuation."""

import functools

import numpy as np

cimport cython

from autograd_cy._core.arrays.buffers cimport channels_at_end, channels_second, has_channels_last, in_format
from autograd_cy._core.arrays.dtypes cimport COMPLEX64, FLOAT16, FLOAT64, LONGDOUBLE, code_of
from autograd_cy._core.graph.node cimport Node, save_input, saved_array
from autograd_cy._core.graph.record cimport needs_node, new_node, record, record_linear, shape_of, tensor_argument
from autograd_cy._core.graph.tensor cimport Tensor, new_tensor
from autograd_cy._core.kernels.window_loops cimport folded_in, spread_out
from autograd_cy._core.runtime cimport numpy_api as cnp

from autograd_cy._core.ops.registry import op
from autograd_cy._core.ops.shapes.joining import constant_pad_nd

cdef enum:
    LONG = 1024                 # longer maps are not cached


# arrays

@functools.lru_cache(256)
def short_map(n, before, after, mode):
    """map_of(), cached because it takes longer than a kernel on small arrays."""
    return map_of(n, before, after, mode)


cdef object map_of(Py_ssize_t n, object before, object after, str mode):
    """For each element of a dimension with borders, the index of its source; negative pads cut off elements.

    They cut the result, or, in circular mode, the dimension beforehand.
    """
    if mode == "circular":
        inside = np.arange(max(-before, 0), n - max(-after, 0), dtype=np.intp)
        return np.concatenate([inside[len(inside) - max(before, 0):], inside, inside[:max(after, 0)]])
    index = np.arange(-before, n + after, dtype=np.intp)
    if mode == "replicate":
        return np.clip(index, 0, n - 1)
    return np.where(index < 0, -index, np.where(index < n, index, 2 * (n - 1) - index))


cdef list maps_of(tuple sizes, tuple pads, str mode):
    """The maps of the last three dimensions."""
    cdef list maps = []
    for k in range(3):
        n = sizes[len(sizes) - 1 - k] if k < len(sizes) else 1
        before, after = pads[2 * k:2 * k + 2] if 2 * k < len(pads) else (0, 0)
        if n + before + after < LONG:
            maps.insert(0, short_map(n, before, after, mode))
        else:
            maps.insert(0, map_of(n, before, after, mode))
    return maps


cdef bint keeps_format(cnp.ndarray x, str mode) noexcept:
    """Whether the result and the gradient get channels last."""
    return mode != "circular" and has_channels_last(x)


cdef list channel_maps(list maps, Py_ssize_t channels):
    """The maps of two dimensions, and the identity for the channels behind them."""
    index = short_map(channels, 0, 0, "replicate") if channels < LONG else map_of(channels, 0, 0, "replicate")
    return [maps[1], maps[2], index]


cdef object padded(cnp.ndarray x, tuple pads, str mode, bint channels_last):
    """A new array with borders; a kernel computes floats."""
    maps = maps_of((<object> x).shape, pads, mode)
    if FLOAT16 <= code_of(x) <= FLOAT64:
        if channels_last and len(pads) == 4:
            return channels_second(spread_out(channels_at_end(x), channel_maps(maps, cnp.PyArray_DIM(x, 1))))
        return in_format(spread_out(x, maps), channels_last)
    y = x
    for k in range(len(pads) // 2):
        y = np.take(y, maps[2 - k], axis=y.ndim - 1 - k)
    return in_format(y, channels_last)


cdef object folded(cnp.ndarray g, tuple pads, str mode, tuple sizes, bint channels_last):
    """The transpose, to an array of these sizes."""
    maps = maps_of(sizes, pads, mode)
    if code_of(g) == LONGDOUBLE:
        return in_format(folded_by_rows(g, maps, sizes, len(pads) // 2), channels_last)
    if code_of(g) < COMPLEX64:
        if channels_last and len(pads) == 4:
            own = (sizes[0], *sizes[2:], sizes[1])
            return channels_second(folded_in(channels_at_end(g), channel_maps(maps, sizes[1]), own))
        return in_format(folded_in(g, maps, sizes), channels_last)
    real, imaginary = [folded_in(part, maps, sizes) for part in ((<object> g).real, (<object> g).imag)]
    return in_format(real + g.dtype.type(1j) * imaginary, channels_last)


cdef object folded_by_rows(object g, list maps, tuple sizes, int dims):
    """The same by NumPy, one dimension after the other."""
    cdef int k, axis
    for k in range(dims):
        axis = g.ndim - 1 - k
        total = np.zeros((*g.shape[:axis], sizes[axis], *g.shape[axis + 1:]), g.dtype)
        np.add.at(total, (slice(None),) * axis + (np.asarray(maps[2 - k]),), g)
        g = total
    return g


# nodes

cdef class Padded(Node):
    """Its constants: the pads, the mode, and the sizes before."""

    cdef tuple constant_names(self):
        return ("padding", None, None)

    cdef object vjp(self, object g, int i):
        pads, mode, sizes = self.constants
        channels_last = self.is_channels_last()
        return record_linear(Folded, self.constants, <Tensor> g, folded((<Tensor> g).array, pads, mode, sizes, channels_last))

    cdef object jvp(self, tuple tangents):
        return bordered(<Tensor> tangents[0], self.constants, None)

    cdef int is_channels_last(self) except -1:
        """Whether the gradient gets channels last. The input isn't read otherwise, but a changed one is an error, as in
        PyTorch."""
        return self.saves and keeps_format(saved_array(self, 0), self.constants[1])


@cython.final
cdef class Folded(Node):
    """The node of Padded's gradient."""

    cdef object vjp(self, object g, int i):
        return bordered(<Tensor> g, self.constants, None)

    cdef object jvp(self, tuple tangents):
        pads, mode, sizes = self.constants
        cdef Tensor t = <Tensor> tangents[0]
        return record_linear(Folded, self.constants, t, folded(t.array, pads, mode, sizes, keeps_format(t.array, mode)))


cdef class PaddedFromInside(Padded):
    """Modes for which PyTorch has its own function."""

    cdef tuple saved_names(self):
        return ("self", None, None)


@cython.final
cdef class ReflectionPad1DBackward0(PaddedFromInside):
    pass


@cython.final
cdef class ReflectionPad2DBackward0(PaddedFromInside):
    pass


@cython.final
cdef class ReflectionPad3DBackward0(PaddedFromInside):
    pass


@cython.final
cdef class ReplicationPad1DBackward0(PaddedFromInside):
    pass


@cython.final
cdef class ReplicationPad2DBackward0(PaddedFromInside):
    pass


@cython.final
cdef class ReplicationPad3DBackward0(PaddedFromInside):
    pass


@cython.final
cdef class CircularPadBackward0(Padded):
    """Has no name in PyTorch, which copies into an empty tensor."""


NODES = {"reflect": [ReflectionPad1DBackward0, ReflectionPad2DBackward0, ReflectionPad3DBackward0],
         "replicate": [ReplicationPad1DBackward0, ReplicationPad2DBackward0, ReplicationPad3DBackward0],
         "circular": [CircularPadBackward0] * 3}


cdef Tensor bordered(Tensor x, tuple constants, Tensor saved):
    """The tensor with a border according to the node's constants; the node saves `saved`."""
    pads, mode, _ = constants
    cdef Tensor y = new_tensor(padded(x.array, pads, mode, keeps_format(x.array, mode)))
    if not needs_node(x):
        return y
    cdef Node node = new_node(NODES[mode][len(pads) // 2 - 1], constants)
    if saved is not None and mode != "circular":
        save_input(node, 0, saved)
    return record(node, y, x)


# operations

cdef tuple pads_of(object pad):
    if not isinstance(pad, (tuple, list)) or not all([hasattr(n, "__index__") for n in pad]):
        raise TypeError(f"pad(): argument 'pad' (position 2) must be tuple of ints, not {type(pad).__name__}")
    return tuple([int(n) for n in pad])


def batched_pad(call, input, pad, mode="constant", value=None):
    """Merge the samples into the batch, except for constant padding."""
    cdef tuple sizes = shape_of(<Tensor> input)
    x = call.value(input)
    if mode == "constant" or len(sizes) < 2 or len(sizes) != len(pad) // 2 + 2:
        return pad_of(x, pad, mode, value, len(sizes))
    y = pad_of(x.flatten(0, 1), pad, mode, value, len(sizes))
    return y.reshape(call.size, sizes[0], *y.shape[1:])


@op(namespace="nn.functional", batch=batched_pad)
def pad(input, pad, mode: str = "constant", value: float | None = None):
    """pad(input, pad, mode='constant', value=None) -> Tensor: input with a border.

    `pad` has two numbers for the last dimension, before and after it, then two for the one before, ...; negative ones cut
    off. Modes: 'constant' fills with `value` (default 0); 'reflect' mirrors at the outermost elements, 'replicate' repeats
    them, 'circular' continues at the other side, for the last one to three dimensions of (N, C, ...) or (C, ...).

    >>> import autograd_cy as ag
    >>> x = ag.tensor([[1.0, 2.0, 3.0]])
    >>> ag.nn.functional.pad(x, (2, 1), mode="reflect"), ag.nn.functional.pad(x, (1, 1), mode="circular")
    (tensor([[3., 2., 1., 2., 3., 2.]]), tensor([[3., 1., 2., 3., 1.]]))
    """
    return pad_of(tensor_argument(input, "pad", "input", 1), pad, mode, value, input.ndim)


cdef object pad_of(object input, object pad, object mode, object value, int rank):
    """pad() of a tensor whose samples have that rank."""
    cdef Tensor x = <Tensor> input
    cdef tuple pads = pads_of(pad)
    cdef int dims = len(pads) // 2
    if len(pads) % 2:
        raise RuntimeError("Padding length must be divisible by 2")
    if len(pads) > 2 * rank:
        raise RuntimeError(f"Padding length should be less than or equal to two times the input dimension but got padding "
                           f"length {len(pads)} and input of dimension {rank}")
    if mode == "constant":
        return constant_pad_nd(input, pads, 0 if value is None else value)
    if value is not None and value != 0:
        raise RuntimeError(f"Padding mode \"{mode}\" doesn't take in value argument")
    if mode not in NODES:
        raise NotImplementedError(f"Unrecognised padding mode {mode}")
    if not 1 <= dims <= 3 or rank not in (dims + 1, dims + 2):
        raise NotImplementedError("Only 2D, 3D, 4D, 5D padding with non-constant padding are supported for now")
    check_borders(shape_of(x), pads, mode)
    if x.batched:
        return by_indices(input, pads, mode)
    return bordered(x, (pads, mode, shape_of(x)), x)


cdef int check_borders(tuple sizes, tuple pads, str mode) except -1:
    """Refuse borders that need more elements than there are."""
    for k in range(len(pads) // 2):
        axis, before, after = len(sizes) - 1 - k, pads[2 * k], pads[2 * k + 1]
        n = sizes[axis]
        if mode == "reflect" and max(before, after) >= max(n, 1):
            raise RuntimeError("Argument #4: Padding size should be less than the corresponding input dimension, but got: "
                               f"padding ({before}, {after}) at dimension {axis} of input {list(sizes)}")
        if mode == "circular" and max(before, after) > n:
            raise RuntimeError("Padding value causes wrapping around more than once.")
        if mode == "circular" and min(before, 0) + min(after, 0) + n < max(before, after, 0):
            raise RuntimeError("Negative padding value is resulting in an empty dimension")
        if not n or n + before + after < (mode != "circular") or max(-before, -after) > n:
            raise RuntimeError(f"Expected a tensor with non-zero size along padded dimensions, but got: {list(sizes)} with "
                               f"padding ({before}, {after}) at dimension {axis}")
    return 0


cdef object by_indices(object x, tuple pads, str mode):
    """The same by operations that have batching rules, where there are several levels of vmap."""
    for k in range(len(pads) // 2):
        axis = x.ndim - 1 - k
        index = map_of(x.shape[axis], pads[2 * k], pads[2 * k + 1], mode)
        x = x.index_select(axis, new_tensor(index))
    return x
