"""Rearrangement of channels into pixels, and shuffling of channels.

Source: Shi et al., "Real-time single image and video super-resolution using an efficient sub-pixel convolutional neural
network" (2016); Zhang et al., "ShuffleNet" (2017).
"""

cimport cython

from autograd_cy._core.arrays.buffers cimport has_channels_last, new_in_format
from autograd_cy._core.arrays.dtypes cimport code_of
from autograd_cy._core.graph.node cimport Node
from autograd_cy._core.graph.record cimport record_linear, shape_of, tensor_argument
from autograd_cy._core.graph.tensor cimport Tensor
from autograd_cy._core.runtime cimport numpy_api as cnp

from autograd_cy._core.batching.batched import rank_of
from autograd_cy._core.ops.registry import op


@cython.final
cdef class PixelShuffleBackward0(Node):

    cdef tuple constant_names(self):
        return ("upscale_factor",)

    cdef tuple arguments(self):
        return self.constants

    cdef object vjp(self, object g, int i):
        return pixel_unshuffle(g, self.constants[0])


@cython.final
cdef class PixelUnshuffleBackward0(Node):

    cdef tuple constant_names(self):
        return ("downscale_factor",)

    cdef tuple arguments(self):
        return self.constants

    cdef object vjp(self, object g, int i):
        return pixel_shuffle(g, self.constants[0])


@cython.final
cdef class NativeChannelShuffleBackward0(Node):
    """Its constants: the number of groups, and the number for the inverse."""

    cdef tuple constant_names(self):
        return ("groups",)

    cdef tuple arguments(self):
        return self.constants[:1]

    cdef object vjp(self, object g, int i):
        return native_channel_shuffle(g, self.constants[1])


cdef cnp.ndarray copied_as(object parts, tuple sizes, cnp.ndarray x):
    """A copy of `parts` with some dimensions merged to `sizes`; it has channels last if `x` has."""
    cdef cnp.ndarray copy = new_in_format(code_of(x), sizes, has_channels_last(x))
    (<object> copy).reshape(parts.shape)[...] = parts
    return copy


def batched_pixels(call, input, *factor, **named):
    """The last three dimensions."""
    if rank_of(input) < 3:
        call.on_sample(input, *factor, *named.values())
    return call(call.value(input), *factor, **named)


@op(batch=batched_pixels, linear=PixelShuffleBackward0)
def pixel_shuffle(input, upscale_factor: int):
    """pixel_shuffle(input, upscale_factor) -> Tensor: (..., C * r * r, H, W) as (..., C, H * r, W * r).

    RuntimeError if the channels can't be divided.

    >>> import autograd_cy as ag
    >>> ag.pixel_shuffle(ag.arange(4.0).reshape(4, 1, 1), 2)
    tensor([[[0., 1.],
             [2., 3.]]])
    """
    cdef Tensor x = tensor_argument(input, "pixel_shuffle", "input", 1)
    cdef tuple sizes = shape_of(x), outer
    cdef Py_ssize_t r = upscale_factor, c
    check_rank("pixel_shuffle", sizes)
    if r <= 0:
        raise RuntimeError(f"pixel_shuffle expects a positive upscale_factor, but got {r}")
    outer, (c, h, w) = sizes[:-3], sizes[-3:]
    if r > 1 << 20 or c % (r * r):
        raise RuntimeError("pixel_shuffle expects its input's 'channel' dimension to be divisible by the square of "
                           f"upscale_factor, but input.size(-3)={c} is not divisible by "
                           f"{r * r if r <= 1 << 20 else r ** 2.0:g}")
    k = len(outer)
    parts = x.array.reshape(outer + (c // (r * r), r, r, h, w)).transpose(*range(k), k, k + 3, k + 1, k + 4, k + 2)
    return record_linear(PixelShuffleBackward0, (r,), x, copied_as(parts, outer + (c // (r * r), h * r, w * r), x.array))


@op(batch=batched_pixels, linear=PixelUnshuffleBackward0)
def pixel_unshuffle(input, downscale_factor: int):
    """pixel_unshuffle(input, downscale_factor) -> Tensor: (..., C, H * r, W * r) as (..., C * r * r, H, W).

    RuntimeError if height and width can't be divided.

    >>> import autograd_cy as ag
    >>> ag.pixel_unshuffle(ag.arange(4.0).reshape(1, 2, 2), 2).flatten()
    tensor([0., 1., 2., 3.])
    """
    cdef Tensor x = tensor_argument(input, "pixel_unshuffle", "input", 1)
    cdef tuple sizes = shape_of(x), outer
    cdef Py_ssize_t r = downscale_factor
    check_rank("pixel_unshuffle", sizes)
    if r <= 0:
        raise RuntimeError(f"pixel_unshuffle expects a positive downscale_factor, but got {r}")
    outer, (c, h, w) = sizes[:-3], sizes[-3:]
    for name, axis, size in (("height", -2, h), ("width", -1, w)):
        if size % r:
            raise RuntimeError(f"pixel_unshuffle expects {name} to be divisible by downscale_factor, but "
                               f"input.size({axis})={size} is not divisible by {r}")
    k = len(outer)
    parts = x.array.reshape(outer + (c, h // r, r, w // r, r)).transpose(*range(k), k, k + 2, k + 4, k + 1, k + 3)
    return record_linear(PixelUnshuffleBackward0, (r,), x, copied_as(parts, outer + (c * r * r, h // r, w // r), x.array))


cdef int check_rank(str name, tuple sizes) except -1:
    if len(sizes) < 3:
        raise RuntimeError(f"{name} expects input to have at least 3 dimensions, but got input with {len(sizes)} dimension(s)")
    return 0


def batched_channels(call, input, groups):
    """Merge the samples into the batch."""
    if rank_of(input) < 3:
        call.on_sample(input, groups)
    sizes = shape_of(<Tensor> input)
    return call(call.value(input).reshape(call.size * sizes[0], *sizes[1:]), groups).reshape(call.size, *sizes)


@op(batch=batched_channels, linear=NativeChannelShuffleBackward0)
def native_channel_shuffle(input, groups: int):
    """native_channel_shuffle(input, groups) -> Tensor: the first channel of each group, then the second of each, ...

    The channels are the second dimension of (N, C, ...). RuntimeError where they can't be divided into groups.

    >>> import autograd_cy as ag
    >>> ag.native_channel_shuffle(ag.arange(4.0).reshape(1, 4, 1), 2).flatten()
    tensor([0., 2., 1., 3.])
    """
    cdef Tensor x = tensor_argument(input, "channel_shuffle", "input", 1)
    cdef tuple sizes = shape_of(x)
    cdef Py_ssize_t n = groups
    if len(sizes) < 3:
        raise RuntimeError(f"channel_shuffle expects input with > 2 dims, but got input with sizes {list(sizes)}")
    if n <= 0:
        raise RuntimeError(f"Number of groups to divide channels in must be positive. Value of groups:{n}")
    if sizes[1] % n:
        raise RuntimeError(f"Number of channels must be divisible by groups. Got {sizes[1]} channels and {n} groups.")
    parts = x.array.reshape(sizes[:1] + (n, sizes[1] // n) + sizes[2:]).swapaxes(1, 2)
    return record_linear(NativeChannelShuffleBackward0, (n, max(sizes[1] // n, 1)), x, copied_as(parts, sizes, x.array))


@op(batch=batched_channels)
def channel_shuffle(input, groups: int):
    """channel_shuffle(input, groups) -> Tensor: the first channel of each group, then the second of each, ...

    The channels are the second dimension of (N, C, ...). RuntimeError where they can't be divided into groups.

    >>> import autograd_cy as ag
    >>> ag.channel_shuffle(ag.arange(4.0).reshape(1, 4, 1), 2).flatten()
    tensor([0., 2., 1., 3.])
    """
    return native_channel_shuffle(input, groups)
