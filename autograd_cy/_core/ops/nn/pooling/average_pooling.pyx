"""Pooling by the mean of each window, strided or adaptive, and by the p-norm."""

import numpy as np

cimport cython

from autograd_cy._core.arrays.buffers cimport has_channels_last, show_channels_last
from autograd_cy._core.arrays.dtypes cimport FLOAT16, FLOAT64, INT64, code_of, is_half, type_word
from autograd_cy._core.batching.batched cimport values_of
from autograd_cy._core.graph.record cimport int64_of, shape_of, shown, tensor_argument
from autograd_cy._core.graph.tensor cimport Tensor, new_tensor
from autograd_cy._core.ops.reductions.sums cimport values_fit
from autograd_cy._core.runtime cimport numpy_api as cnp

from autograd_cy._core.arrays.dtypes import finfo_of
from autograd_cy._core.batching.rules import COMPOSITE
from autograd_cy._core.ops.registry import op


# nodes

cdef class Averages(TapsNode):
    cdef tuple saved_names(self):
        return ("self", None, None)


cdef class StridedAverages(Averages):
    cdef tuple constant_names(self):
        return (None, "kernel_size", "stride", "padding", "ceil_mode", "count_include_pad", "divisor_override")


@cython.final
cdef class AvgPool2DBackward0(StridedAverages):
    pass


@cython.final
cdef class AvgPool3DBackward0(StridedAverages):
    pass


@cython.final
cdef class AdaptiveAvgPool2DBackward0(Averages):
    pass


@cython.final
cdef class AdaptiveAvgPool3DBackward0(Averages):
    pass


# windows with a stride

cdef object means_of_windows(object input, int dims, Pooling windows, object count_include_pad, object divisor_override):
    cdef Tensor x = input
    cdef object divisor = None if divisor_override is None else int64_of(divisor_override)
    cdef int own = code_of(x.array)
    if divisor == 0:
        raise RuntimeError("divisor must be not zero")
    if dims == 2:
        check_not_empty(x, "Expected 3D or 4D (batch mode) tensor with optional 0 dim batch size for input, but got:{}")
    else:
        check_not_empty(x, "avg_pool3d(): Expected input's non-batch dimensions to have positive length, but input has a "
                           "shape of "
                           "{0} and non-batch dimension {1} has length zero!")
    cdef tuple sizes = shape_of(x)[-dims:]
    if dims == 3 and any([n + 2 * padding < kernel for n, kernel, padding in zip(sizes, windows.kernel, windows.padding)]):
        image, found = [" ".join([f"{prefix}{letter}: {n}" for letter, n in zip("THW", side)])
                        for prefix, side in (("", sizes), ("k", windows.kernel))]
        raise RuntimeError(f"input image ({image}) smaller than kernel size ({found})")
    cdef tuple counts = windows.counts(x)
    if own == INT64:
        return shown("avg_pool", new_tensor(integer_means(x.array, sizes, counts, windows, count_include_pad, divisor)), (x,))
    if not FLOAT16 <= own <= FLOAT64 or (dims == 3 and is_half(own)):
        kernel = "avg_pool2d" if dims == 2 else "avg_pool3d_out_frame"
        raise NotImplementedError(f"\"{kernel}\" not implemented for '{type_word(own)}'")
    cdef list taps = []
    for n, count, kernel, stride, padding in zip(sizes, counts, windows.kernel, windows.stride, windows.padding):
        over = None if divisor is None else 1 if taps else divisor
        taps.append(averages(n, count, kernel, stride, padding, bool(count_include_pad), over))
    constants = (tuple(taps), windows.kernel, windows.given_stride, windows.padding, windows.ceil_mode,
                 bool(count_include_pad), divisor)
    return weighed(AvgPool2DBackward0 if dims == 2 else AvgPool3DBackward0, constants, x, x)


cdef object integer_means(object x, tuple sizes, tuple counts, Pooling windows, object count_include_pad, object divisor):
    """The means of int64, rounded towards zero, by differences of cumulative sums."""
    cdef int axis = x.ndim - len(sizes)
    total = np.int64(1)
    for n, count, kernel, stride, padding in zip(sizes, counts, windows.kernel, windows.stride, windows.padding):
        starts, within, padded = windows_within(n, count, kernel, stride, padding)
        zeros = np.zeros(x.shape[:axis] + (1,) + x.shape[axis + 1:], np.int64)
        sums = np.concatenate([zeros, np.cumsum(x, axis)], axis)
        x = np.take(sums, starts + within, axis) - np.take(sums, starts, axis)
        total = np.multiply.outer(total, np.maximum(padded if count_include_pad else within, 1))
        axis += 1
    total = total if divisor is None else np.int64(divisor)
    return np.sign(x) * np.sign(total) * (abs(x) // abs(total))


cdef object averaged(object input, int dims, object kernel_size, object stride, object padding, object ceil_mode,
                     object count_include_pad, object divisor_override):
    cdef str operation = f"avg_pool{dims}d"
    cdef Tensor x = tensor_argument(input, operation, "input", 1)
    check_planes(x, dims, f"non-empty {dims + 1}D or {dims + 2}D (batch mode) tensor expected for input")
    windows = Pooling(operation, dims, kernel_size, stride, padding, 1, ceil_mode)
    return means_of_windows(input, dims, windows, count_include_pad, divisor_override)


cdef int check_rows(Tensor x, str operation) except -1:
    if cnp.PyArray_NDIM(x.array) not in (2, 3):
        raise RuntimeError(f"Expected 2 to 3 dimensions, but got {cnp.PyArray_NDIM(x.array)}-dimensional tensor for argument "
                           f"#1 "
                           f"'self' (while checking arguments for {operation})")
    return 0


@op(batch=PlanesRule(1))
def avg_pool1d(input, kernel_size, stride=(), padding=0, ceil_mode=False, count_include_pad=True):
    """avg_pool1d(input, kernel_size, stride=(), padding=0, ceil_mode=False, count_include_pad=True) -> Tensor: the mean of
    each window along the last dimension of an input (N, C, L) or (C, L).

    The stride is the kernel's size by default. Padding is zeros, which count unless `count_include_pad` is False.
    RuntimeError for windows that don't fit.

    >>> import autograd_cy as ag
    >>> ag.avg_pool1d(ag.tensor([[1.0, 3.0, 2.0, 0.0]]), 2)
    tensor([[2., 1.]])
    """
    cdef Tensor x = tensor_argument(input, "avg_pool1d", "input", 1)
    check_rows(x, "avg_pool1d")
    cdef Pooling along = Pooling("avg_pool1d", 1, kernel_size, stride, padding, 1, ceil_mode)
    cdef Pooling windows = Pooling("avg_pool2d", 2, (1, *along.kernel), (1, *along.stride), (0, *along.padding), 1, ceil_mode)
    return means_of_windows(input.unsqueeze(-2), 2, windows, count_include_pad, None).squeeze(-2)


@op(namespace="nn.functional", batch=PlanesRule(2))
def avg_pool2d(input, kernel_size, stride=None, padding=0, ceil_mode=False, count_include_pad=True, divisor_override=None):
    """avg_pool2d(input, kernel_size, stride=None, padding=0, ceil_mode=False, count_include_pad=True, divisor_override=None)
    -> Tensor: the mean of each window of planes (N, C, H, W) or (C, H, W).

    Sizes of windows are one number, or one for each dimension; the stride is the kernel's size by default. Padding is zeros,
    which count unless `count_include_pad` is False. Sums are divided by `divisor_override` if that is given. RuntimeError
    for windows that don't fit.

    >>> import autograd_cy as ag
    >>> ag.nn.functional.avg_pool2d(ag.tensor([[[1.0, 3.0], [2.0, 0.0]]]), 2)
    tensor([[[1.5000]]])
    """
    return averaged(input, 2, kernel_size, stride, padding, ceil_mode, count_include_pad, divisor_override)


@op(namespace="nn.functional", batch=PlanesRule(3))
def avg_pool3d(input, kernel_size, stride=None, padding=0, ceil_mode=False, count_include_pad=True, divisor_override=None):
    """avg_pool3d(input, kernel_size, stride=None, padding=0, ceil_mode=False, count_include_pad=True, divisor_override=None)
    -> Tensor: the mean of each window of an input (N, C, D, H, W) or (C, D, H, W); see avg_pool2d().

    >>> import autograd_cy as ag
    >>> ag.nn.functional.avg_pool3d(ag.arange(8.0).reshape(1, 2, 2, 2), 2)
    tensor([[[[3.5000]]]])
    """
    return averaged(input, 3, kernel_size, stride, padding, ceil_mode, count_include_pad, divisor_override)


# adaptive

cdef object adaptive_means(object input, object output_size, int dims):
    cdef str operation = f"adaptive_avg_pool{dims}d"
    cdef Tensor x = tensor_argument(input, operation, "input", 1)
    cdef tuple counts = output_sizes(output_size, x, dims, operation), own = shape_of(x)
    cdef Tensor y
    check_planes(x, dims, f"{operation}(): Expected {dims + 1}D or {dims + 2}D tensor, but got {listed(own)}")
    if min(counts) < 0:
        found = ", ".join(map(str, counts[:2])) + "".join([f",{size}" for size in counts[2:]])
        raise RuntimeError(f"{operation}: elements of output_size must be greater than or equal to 0 but received {{{found}}}")
    if counts == (1,) * dims:
        y = input.mean(tuple(range(-1, -dims - 1, -1)), True)
        if has_channels_last(x.array) and not y.batched:
            show_channels_last(y.array)
        return y
    check_not_empty(x, operation + "(): Expected input to have non-zero size for non-batch dimensions, but input has sizes "
                                   "{0} "
                                   "with dimension {1} being empty")
    check_output_sizes(own[:len(own) - dims] + counts)
    if not FLOAT16 <= code_of(x.array) <= FLOAT64:
        raise NotImplementedError(f"\"{operation}{'_cpu' if dims == 3 else ''}\" not implemented for "
                                  f"'{type_word(code_of(x.array))}'")
    taps = tuple([adaptive_averages(n, count) for n, count in zip(own[len(own) - dims:], counts)])
    return weighed(AdaptiveAvgPool2DBackward0 if dims == 2 else AdaptiveAvgPool3DBackward0, (taps,), x, x)


@op(batch=PlanesRule(1))
def adaptive_avg_pool1d(input, output_size):
    """adaptive_avg_pool1d(input, output_size) -> Tensor: the means of `output_size` windows that cover the last dimension of
    an input (N, C, L) or (C, L).

    >>> import autograd_cy as ag
    >>> ag.adaptive_avg_pool1d(ag.tensor([[1.0, 3.0, 2.0]]), 2)
    tensor([[2.0000, 2.5000]])
    """
    cdef Tensor x = tensor_argument(input, "adaptive_avg_pool1d", "input", 1)
    cdef tuple counts = output_sizes(output_size, x, 1, "adaptive_avg_pool1d")
    check_rows(x, "adaptive_avg_pool1d")
    return adaptive_means(input.unsqueeze(-2), (1, *counts), 2).squeeze(-2)


@op(namespace="nn.functional", batch=PlanesRule(2))
def adaptive_avg_pool2d(input, output_size):
    """adaptive_avg_pool2d(input, output_size) -> Tensor: the means of windows that cover the planes of an input (N, C, H, W)
    or (C, H, W): `output_size` along each dimension (None: the input's size).

    >>> import autograd_cy as ag
    >>> ag.nn.functional.adaptive_avg_pool2d(ag.arange(6.0).reshape(1, 2, 3), 1)
    tensor([[[2.5000]]])
    """
    return adaptive_means(input, output_size, 2)


@op(namespace="nn.functional", batch=PlanesRule(3))
def adaptive_avg_pool3d(input, output_size):
    """adaptive_avg_pool3d(input, output_size) -> Tensor: the same for an input (N, C, D, H, W) or (C, D, H, W); see
    adaptive_avg_pool2d().

    >>> import autograd_cy as ag
    >>> ag.nn.functional.adaptive_avg_pool3d(ag.arange(8.0).reshape(1, 2, 2, 2), 1)
    tensor([[[[3.5000]]]])
    """
    return adaptive_means(input, output_size, 3)


# norms

cdef object power_pooled(object input, object norm_type, object kernel_size, object stride, object ceil_mode, object average,
                         object largest, int dims):
    cdef object size = kernel_size
    if isinstance(norm_type, np.generic):
        norm_type = norm_type.item()
    if isinstance(kernel_size, (tuple, list)):
        if len(kernel_size) != dims:
            raise ValueError(f"lp_pool{dims}d(): expected {dims} kernel sizes, got {len(kernel_size)}")
        size = 1
        for n in kernel_size:
            size *= n
    else:
        size = kernel_size ** dims
    if norm_type == float("inf"):
        return largest(input.abs(), kernel_size, stride, 0, 1, ceil_mode)
    if norm_type == -float("inf"):
        return -largest(-input.abs(), kernel_size, stride, 0, 1, ceil_mode)
    sums = average(input.pow(norm_type), kernel_size, () if stride is None else stride, 0, ceil_mode)
    if powers_fit(<Tensor> input, <Tensor> sums, dims):
        return root_of(sums * size, norm_type)
    ends = input.detach().abs().amax(tuple(range(-dims, 0)), True)
    ends = ends.where((ends > 0) & ends.isfinite(), 1)
    sums = average((input / ends).pow(norm_type), kernel_size, () if stride is None else stride, 0, ceil_mode)
    return root_of(sums * size, norm_type) * ends


cdef object root_of(object sums, object norm_type):
    """sums ** (1 / norm_type), whose derivatives at 0 are 0, in forward and reverse mode."""
    cdef object some = sums != 0
    return sums.where(some, 1).pow(1.0 / norm_type).where(some, 0.0 if norm_type > 0 else float("inf"))


cdef bint powers_fit(Tensor input, Tensor sums, int dims):
    """Whether the roots of the planes' largest sums of powers, and their derivatives, stay in the range of the type."""
    cdef cnp.ndarray array = values_of(sums).array
    if values_fit(array):
        return True
    limits, axes = finfo_of(array.dtype), tuple(range(-dims, 0))
    tops = np.abs(array).max(axes)
    fit = (tops >= limits.tiny**0.5) & (tops <= limits.max**0.5)
    return np.all(fit) or np.all(fit | (tops == 0) & (np.abs(values_of(input).array).max(axes) == 0))


@op(namespace="nn.functional", batch=COMPOSITE)
def lp_pool1d(input, norm_type, kernel_size, stride=None, ceil_mode=False):
    """lp_pool1d(input, norm_type, kernel_size, stride=None, ceil_mode=False) -> Tensor: the p-norm of each window along the
    last dimension of an input (N, C, L) or (C, L), without absolute values: sum(x ** p) ** (1 / p).

    >>> import autograd_cy as ag
    >>> ag.nn.functional.lp_pool1d(ag.tensor([[3.0, 4.0]]), 2, 2)
    tensor([[5.]])
    """
    return power_pooled(input, norm_type, kernel_size, stride, ceil_mode, avg_pool1d, functional_max_pool1d, 1)


@op(namespace="nn.functional", batch=COMPOSITE)
def lp_pool2d(input, norm_type, kernel_size, stride=None, ceil_mode=False):
    """lp_pool2d(input, norm_type, kernel_size, stride=None, ceil_mode=False) -> Tensor: the p-norm of each window of planes
    (N, C, H, W) or (C, H, W), without absolute values: sum(x ** p) ** (1 / p).

    >>> import autograd_cy as ag
    >>> ag.nn.functional.lp_pool2d(ag.tensor([[[3.0, 4.0]]]), 2, (1, 2))
    tensor([[[5.]]])
    """
    return power_pooled(input, norm_type, kernel_size, stride, ceil_mode, avg_pool2d, functional_max_pool2d, 2)


@op(namespace="nn.functional", batch=COMPOSITE)
def lp_pool3d(input, norm_type, kernel_size, stride=None, ceil_mode=False):
    """lp_pool3d(input, norm_type, kernel_size, stride=None, ceil_mode=False) -> Tensor: the p-norm of each window of an input
    (N, C, D, H, W) or (C, D, H, W), without absolute values: sum(x ** p) ** (1 / p).

    >>> import autograd_cy as ag
    >>> ag.nn.functional.lp_pool3d(ag.tensor([[[[3.0, 4.0]]]]), 2, (1, 1, 2))
    tensor([[[[5.]]]])
    """
    return power_pooled(input, norm_type, kernel_size, stride, ceil_mode, avg_pool3d, functional_max_pool3d, 3)
