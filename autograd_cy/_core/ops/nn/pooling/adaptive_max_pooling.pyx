"""Adaptive max pooling: as many windows as the output has elements."""

from autograd_cy._core.arrays.dtypes cimport FLOAT16, code_of, type_word
from autograd_cy._core.graph.record cimport shape_of, tensor_argument
from autograd_cy._core.graph.tensor cimport Tensor
from autograd_cy._core.kernels.window_loops cimport adaptive_windows
from autograd_cy._core.runtime cimport numpy_api as cnp

from autograd_cy._core.batching.rules import COMPOSITE
from autograd_cy._core.ops.registry import op


cdef tuple adaptive_maxima(object input, object output_size, int dims):
    cdef str operation = f"adaptive_max_pool{dims}d"
    cdef Tensor x = tensor_argument(input, operation, "input", 1)
    cdef tuple counts = output_sizes(output_size, x, dims, operation), own = shape_of(x)
    check_planes(x, dims, f"{operation}(): Expected {dims + 1}D or {dims + 2}D tensor, but got: {listed(own)}")
    check_not_empty(x, operation + "(): Expected input to have non-zero size for non-batch dimensions, but input has sizes "
                                   "{0} "
                                   "with dimension {1} being empty")
    check_output_sizes(own[:len(own) - dims] + counts)
    if code_of(x.array) < FLOAT16:
        raise NotImplementedError(f"\"{operation}{'_cpu' if dims == 3 else ''}\" not implemented for "
                                  f"'{type_word(code_of(x.array))}'")
    tables = tuple([adaptive_windows(n, count) for n, count in zip(own[len(own) - dims:], counts)])
    return pooled(AdaptiveMaxPool2DBackward0 if dims == 2 else AdaptiveMaxPool3DBackward0, x, counts, tables, (1,) * dims, (),
                  operation, dims == 2)


cdef tuple adaptive_1d(object input, object output_size):
    cdef Tensor x = tensor_argument(input, "adaptive_max_pool1d", "input", 1)
    cdef tuple counts = output_sizes(output_size, x, 1, "adaptive_max_pool1d")
    if cnp.PyArray_NDIM(x.array) not in (2, 3):
        raise RuntimeError(f"Expected 2 to 3 dimensions, but got {cnp.PyArray_NDIM(x.array)}-dimensional tensor for argument "
                           f"#1 "
                           "'self' (while checking arguments for adaptive_max_pool1d)")
    check_not_empty(x, "adaptive_max_pool1d(): Expected input to have non-zero size for non-batch dimensions, but input has "
                       "sizes {0} with dimension {1} being empty")
    y, indices = adaptive_maxima(input.unsqueeze(-2), (1, *counts), 2)
    return y.squeeze(-2), indices.squeeze(-2)


@op(name="adaptive_max_pool1d", namespace="nn.functional", batch=PlanesRule(1))
def functional_adaptive_max_pool1d(input, output_size, return_indices=False):
    """adaptive_max_pool1d(input, output_size, return_indices=False) -> Tensor: the largest elements of `output_size` windows
    that cover the last dimension of an input (N, C, L) or (C, L).

    >>> import autograd_cy as ag
    >>> ag.nn.functional.adaptive_max_pool1d(ag.tensor([[1.0, 3.0, 2.0]]), 2)
    tensor([[3., 3.]])
    """
    return chosen(adaptive_1d(input, output_size), return_indices)


@op(namespace="nn.functional", batch=PlanesRule(2))
def adaptive_max_pool2d(input, output_size, return_indices=False):
    """adaptive_max_pool2d(input, output_size, return_indices=False) -> Tensor: the largest elements of windows that cover the
    planes of an input (N, C, H, W) or (C, H, W): `output_size` along each dimension (None: the input's size).

    >>> import autograd_cy as ag
    >>> ag.nn.functional.adaptive_max_pool2d(ag.arange(6.0).reshape(1, 2, 3), (1, 2))
    tensor([[[4., 5.]]])
    """
    return chosen(adaptive_maxima(input, output_size, 2), return_indices)


@op(namespace="nn.functional", batch=PlanesRule(3))
def adaptive_max_pool3d(input, output_size, return_indices=False):
    """adaptive_max_pool3d(input, output_size, return_indices=False) -> Tensor: the same of an input (N, C, D, H, W) or
    (C, D, H, W); see adaptive_max_pool2d().

    >>> import autograd_cy as ag
    >>> ag.nn.functional.adaptive_max_pool3d(ag.arange(8.0).reshape(1, 2, 2, 2), 1)
    tensor([[[[7.]]]])
    """
    return chosen(adaptive_maxima(input, output_size, 3), return_indices)


@op(namespace="nn.functional", batch=COMPOSITE)
def adaptive_max_pool1d_with_indices(input, output_size, return_indices=False):
    """adaptive_max_pool1d_with_indices(input, output_size) -> (Tensor, Tensor): adaptive_max_pool1d() and the places of its
    results. `return_indices` is of no effect, as in PyTorch.

    >>> import autograd_cy as ag
    >>> ag.nn.functional.adaptive_max_pool1d_with_indices(ag.tensor([[1.0, 3.0]]), 1)
    (tensor([[3.]]), tensor([[1]]))
    """
    return functional_adaptive_max_pool1d(input, output_size, True)


@op(namespace="nn.functional", batch=COMPOSITE)
def adaptive_max_pool2d_with_indices(input, output_size, return_indices=False):
    """adaptive_max_pool2d_with_indices(input, output_size) -> (Tensor, Tensor): adaptive_max_pool2d() and the places of its
    results. `return_indices` is of no effect, as in PyTorch.

    >>> import autograd_cy as ag
    >>> ag.nn.functional.adaptive_max_pool2d_with_indices(ag.tensor([[[1.0, 3.0]]]), 1)
    (tensor([[[3.]]]), tensor([[[1]]]))
    """
    return adaptive_max_pool2d(input, output_size, True)


@op(namespace="nn.functional", batch=COMPOSITE)
def adaptive_max_pool3d_with_indices(input, output_size, return_indices=False):
    """adaptive_max_pool3d_with_indices(input, output_size) -> (Tensor, Tensor): adaptive_max_pool3d() and the places of its
    results. `return_indices` is of no effect, as in PyTorch.

    >>> import autograd_cy as ag
    >>> ag.nn.functional.adaptive_max_pool3d_with_indices(ag.tensor([[[[1.0, 3.0]]]]), 1)
    (tensor([[[[3.]]]]), tensor([[[[1]]]]))
    """
    return adaptive_max_pool3d(input, output_size, True)


@op(batch=COMPOSITE)
def adaptive_max_pool1d(input, output_size):
    """adaptive_max_pool1d(input, output_size) -> (Tensor, Tensor): the largest elements of `output_size` windows that cover
    the last dimension of an input (N, C, L) or (C, L), and their places.

    >>> import autograd_cy as ag
    >>> ag.adaptive_max_pool1d(ag.tensor([[1.0, 3.0, 2.0]]), 1)
    (tensor([[3.]]), tensor([[1]]))
    """
    return functional_adaptive_max_pool1d(input, output_size, True)
