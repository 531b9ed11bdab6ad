"""Max pooling of windows with random starts."""

import numpy as np

cimport cython

from autograd_cy._core.arrays.dtypes cimport FLOAT16, FLOAT64, code_of, type_word
from autograd_cy._core.graph.record cimport shape_of, tensor_argument
from autograd_cy._core.graph.tensor cimport Tensor, new_tensor
from autograd_cy._core.runtime cimport numpy_api as cnp

from autograd_cy._core.batching.batched import rank_of
from autograd_cy._core.batching.rules import COMPOSITE
from autograd_cy._core.ops.drawing import drawing_levels, drawn_array
from autograd_cy._core.ops.registry import op


cdef class FractionalMaxima(WindowMaxima):
    cdef tuple constant_names(self):
        return ("kernel_size", "output_size")


@cython.final
cdef class FractionalMaxPool2DBackward0(FractionalMaxima):
    pass


@cython.final
cdef class FractionalMaxPool3DBackward0(FractionalMaxima):
    cdef int dims(self) noexcept:
        return 3


cdef tuple numbers_along(object value, str operation, str name, int dims):
    cdef tuple numbers = ints_argument(value, operation, name, 2)
    if is_int(value):
        return numbers * dims
    if len(numbers) != dims:
        several = "Ints" if dims == 2 else "three Ints"
        raise RuntimeError(f"{operation}: {name} must either be a single Int or tuple of {several}")
    return numbers


cdef object sizes_by_ratio(object output_ratio, tuple own, str operation):
    if output_ratio is None:
        raise ValueError(f"{operation} requires specifying either an output_size or an output_ratio")
    cdef tuple ratios = tuple(output_ratio) if isinstance(output_ratio, (tuple, list)) else (output_ratio,) * len(own)
    if len(ratios) != len(own):
        raise ValueError(f"{operation} requires output_ratio to either be a single Int or tuple of Ints.")
    return tuple([int(n * ratio) for n, ratio in zip(own, ratios)])


cdef object checked_samples(object samples, Tensor x, int dims):
    """The random numbers for each plane: (planes, dims)."""
    cdef tuple outer = shape_of(x)[:cnp.PyArray_NDIM(x.array) - dims]
    cdef tuple wanted = ((1,) + outer if len(outer) == 1 else outer) + (dims,)
    if samples is None:
        drawing_levels()        # raises if `randomness` forbids it; with batched input, each sample draws its own
        samples = new_tensor(drawn_array("uniform", wanted, x.array.dtype, None, f"fractional_max_pool{dims}d"))
    cdef Tensor numbers = tensor_argument(samples, f"fractional_max_pool{dims}d", "_random_samples", 4)
    cdef tuple sizes = shape_of(numbers)
    if code_of(numbers.array) != code_of(x.array):
        raise RuntimeError("Expect _random_samples to have the same dtype as input")
    if len(sizes) != 3:
        raise RuntimeError(f"Expect _random_samples to have 3 dimensions, got {len(sizes)}")
    if sizes[0] < wanted[0]:
        raise RuntimeError("Expect _random_samples.size(0) no less then input batch size.")
    if sizes[1] != wanted[1]:
        raise RuntimeError("Expect _random_samples.size(1) equals to input channel size.")
    if sizes[2] != dims:
        raise RuntimeError(f"Expect _random_samples.size(2) equals to {dims}; got {sizes[2]}.")
    return numbers.array[:wanted[0]].reshape(-1, dims)


cdef object random_windows(object samples, Py_ssize_t n, Py_ssize_t count, Py_ssize_t kernel):
    """A table for each plane: windows about evenly apart, the last one at the end. Graham, "Fractional max-pooling" (2014)."""
    cdef object table = np.empty((2, len(samples), count), np.int64)
    table[1] = kernel
    if count == 0:
        return table
    kind = np.float64 if samples.dtype == np.float64 else np.float32
    samples = samples.astype(kind)[:, None]
    step = kind(n - kernel) / kind(max(count - 1, 1))
    numbers = np.arange(count).astype(kind)
    with np.errstate(invalid="ignore"):
        starts = ((numbers + samples) * step).astype(np.int64) - (samples * step).astype(np.int64)
    starts[:, -1] = n - kernel
    table[0] = np.clip(starts, 0, n - kernel)
    return table


cdef tuple fractional(object input, int dims, object kernel_size, object output_size, object output_ratio, object samples):
    cdef str operation = f"fractional_max_pool{dims}d"
    cdef Tensor x = tensor_argument(input, operation, "input", 1)
    check_planes(x, dims, f"{operation}(): Expected {dims + 1}D or {dims + 2}D tensor, but got: {list(shape_of(x))}")
    cdef tuple own = shape_of(x)[-dims:], names = ("time", "height", "width")[3 - dims:]
    if output_size is None:
        output_size = sizes_by_ratio(output_ratio, own, operation)
    cdef tuple kernel = numbers_along(kernel_size, operation, "kernel_size", dims)
    cdef tuple counts = numbers_along(output_size, operation, "output_size", dims)
    check_not_empty(x, operation + "(): Expected input to have non-zero size for non-batch dimensions, but got{} with "
                                   "dimension {} "
                                   "being empty.")
    check_output_sizes(shape_of(x)[:cnp.PyArray_NDIM(x.array) - dims] + counts)
    if min(kernel) < 1:
        raise RuntimeError(f"{operation}(): kernel_size should be greater than zero, but got {list(kernel)}")
    for name, n, count, size in zip(names, own, counts, kernel):
        if count + size - 1 > n:
            raise RuntimeError(f"{operation}{'_out' if dims == 3 else ''}(): pool {name} {size} too large relative to input "
                               f"{name} {n}")
    if not FLOAT16 <= code_of(x.array) <= FLOAT64:
        raise NotImplementedError(f"\"{operation}\" not implemented for '{type_word(code_of(x.array))}'")
    numbers = checked_samples(samples, x, dims)
    tables = tuple([random_windows(numbers[:, dims - 1 - k if dims == 2 else k], own[k], counts[k], kernel[k])
                    for k in range(dims)])
    return pooled(FractionalMaxPool2DBackward0 if dims == 2 else FractionalMaxPool3DBackward0, x, counts, tables, (1,) * dims,
                  (kernel, counts), operation)


class FractionalRule:
    """FractionalRule(dims): the batching rule of fractional pooling.

    Given random numbers belong to each sample. If all samples share their numbers, the rule draws them.
    """

    def __init__(self, dims):
        self.planes = PlanesRule(dims)

    def __call__(self, call, input, kernel_size, output_size=None, output_ratio=None, return_indices=False,
                 _random_samples=None):
        """The operation on all samples."""
        numbers, rank = _random_samples, rank_of(input)
        if numbers is None and rank in (self.planes.dims + 1, self.planes.dims + 2) and not drawing_levels():
            outer = ((1,) + shape_of(input))[-2 - self.planes.dims:][:2]
            numbers = new_tensor(drawn_array("uniform", (*outer, self.planes.dims), (<Tensor> input).array.dtype, None,
                                             call.function.__name__))
        if isinstance(numbers, Tensor) and rank_of(numbers) == 3 and rank in (self.planes.dims + 1, self.planes.dims + 2):
            own = 1 if rank == self.planes.dims + 1 else input.shape[0]
            numbers = call.front(numbers)[:, :own].flatten(0, 1)
        return self.planes(call, input, kernel_size, output_size, output_ratio, return_indices, numbers)


@op(namespace="nn.functional", batch=FractionalRule(2))
def fractional_max_pool2d(input, kernel_size, output_size=None, output_ratio=None, return_indices=False, _random_samples=None):
    """fractional_max_pool2d(input, kernel_size, output_size=None, output_ratio=None, return_indices=False) -> Tensor: the
    maxima of windows of planes (N, C, H, W) or (C, H, W) with random starts, about evenly apart.

    The number of windows is `output_size`, or `output_ratio` times the input's sizes. ValueError without either,
    RuntimeError if so many don't fit. `_random_samples` are the numbers from [0, 1) to use: (N, C, 2).

    >>> import autograd_cy as ag
    >>> ag.nn.functional.fractional_max_pool2d(ag.arange(16.0).reshape(1, 4, 4), 2, output_size=1)
    tensor([[[15.]]])
    """
    results = fractional(input, 2, kernel_size, output_size, output_ratio, _random_samples)
    return results if return_indices else results[0]


@op(namespace="nn.functional", batch=FractionalRule(3))
def fractional_max_pool3d(input, kernel_size, output_size=None, output_ratio=None, return_indices=False, _random_samples=None):
    """fractional_max_pool3d(input, kernel_size, output_size=None, output_ratio=None, return_indices=False) -> Tensor: the
    same for an input (N, C, D, H, W) or (C, D, H, W); see fractional_max_pool2d().

    >>> import autograd_cy as ag
    >>> ag.nn.functional.fractional_max_pool3d(ag.arange(8.0).reshape(1, 2, 2, 2), 1, output_size=1)
    tensor([[[[7.]]]])
    """
    results = fractional(input, 3, kernel_size, output_size, output_ratio, _random_samples)
    return results if return_indices else results[0]


@op(namespace="nn.functional", batch=COMPOSITE)
def fractional_max_pool2d_with_indices(
        input, kernel_size, output_size=None, output_ratio=None, return_indices=False, _random_samples=None):
    """fractional_max_pool2d_with_indices(input, kernel_size, output_size=None, output_ratio=None) -> (Tensor, Tensor):
    fractional_max_pool2d() and the places of its results. `return_indices` is of no effect, as in PyTorch.

    >>> import autograd_cy as ag
    >>> ag.nn.functional.fractional_max_pool2d_with_indices(ag.arange(4.0).reshape(1, 2, 2), 2, output_size=1)
    (tensor([[[3.]]]), tensor([[[3]]]))
    """
    return fractional_max_pool2d(input, kernel_size, output_size, output_ratio, True, _random_samples)


@op(namespace="nn.functional", batch=COMPOSITE)
def fractional_max_pool3d_with_indices(
        input, kernel_size, output_size=None, output_ratio=None, return_indices=False, _random_samples=None):
    """fractional_max_pool3d_with_indices(input, kernel_size, output_size=None, output_ratio=None) -> (Tensor, Tensor):
    fractional_max_pool3d() and the places of its results. `return_indices` is of no effect, as in PyTorch.

    >>> import autograd_cy as ag
    >>> ag.nn.functional.fractional_max_pool3d_with_indices(ag.arange(8.0).reshape(1, 2, 2, 2), 2, output_size=1)
    (tensor([[[[7.]]]]), tensor([[[[7]]]]))
    """
    return fractional_max_pool3d(input, kernel_size, output_size, output_ratio, True, _random_samples)
