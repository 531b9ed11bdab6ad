"""affine_grid(): points for grid_sample(), moved by affine maps."""

import warnings

import numpy as np

cimport cython

from autograd_cy._core.arrays.buffers cimport in_type
from autograd_cy._core.arrays.dtypes cimport COMPLEX64, FLOAT16, check_has_kernel, code_of, dtype_of
from autograd_cy._core.graph.node cimport Node
from autograd_cy._core.graph.record cimport int64_of, record_linear, shape_of, tensor_argument
from autograd_cy._core.graph.tensor cimport Tensor, new_tensor
from autograd_cy._core.ops.nn.pooling cimport check_output_sizes, is_int
from autograd_cy._core.runtime cimport numpy_api as cnp

from autograd_cy._core.batching.batched import rank_of
from autograd_cy._core.batching.rules import COMPOSITE
from autograd_cy._core.ops.registry import op


# the arguments

cdef bint aligned_argument(object align_corners) except -1:
    if align_corners is None:
        warnings.warn("Default grid_sample and affine_grid behavior has changed to align_corners=False since 1.3.0. Please "
                      "specify align_corners=True if the old behavior is desired. See the documentation of grid_sample for "
                      "details.", UserWarning, stacklevel=2)
    return bool(align_corners)


cdef tuple sizes_argument(object size, str operation):
    if not isinstance(size, (tuple, list)):
        raise TypeError(f"{operation}(): argument 'size' (position 2) must be tuple of ints, not {type(size).__name__}")
    for place, n in enumerate(size, 1):
        if not is_int(n):
            raise TypeError(f"{operation}(): argument 'size' failed to unpack the object at pos {place} with error \"type "
                            f"must be tuple of ints,but got {type(n).__name__}\"")
    return tuple([int64_of(n.__index__()) for n in size])


cdef cnp.ndarray base_points(tuple sizes, bint aligned, int code):
    """The points of the unchanged grid, (x, y, 1) or (x, y, z, 1)."""
    axes = []
    for n in sizes:
        ends = 0.0 if n == 1 else 1.0 if aligned else (n - 1) / n
        axes.append(np.linspace(-ends, ends, n))
    grid = np.meshgrid(*axes, indexing="ij")
    points = np.stack([*reversed(grid), np.ones(sizes)], -1)
    return points.reshape(-1, len(sizes) + 1).astype(dtype_of(code).numpy_dtype)


# the node

@cython.final
cdef class AffineGridGeneratorBackward0(Node):
    cdef tuple constant_names(self):
        return ("size", "align_corners")

    cdef object vjp(self, object g, int i):
        sizes, aligned = self.constants
        points = new_tensor(base_points(sizes[2:], aligned, code_of((<Tensor> g).array)))
        return g.flatten(1, -2).transpose(1, 2) @ points


# the operations

def batched_affine_grid(call, theta, size, align_corners):
    """The samples become batches."""
    maps = call.value(theta)
    if rank_of(theta) != 3 or not isinstance(size, (tuple, list)) or not size or maps.shape[1] != size[0]:
        call.on_sample(theta, size, align_corners)
    y = call(maps.flatten(0, 1), (maps.shape[0] * maps.shape[1], *size[1:]), align_corners)
    return y.reshape(*maps.shape[:2], *y.shape[1:])


@op(batch=batched_affine_grid, linear=AffineGridGeneratorBackward0)
def affine_grid_generator(theta, size, align_corners: bool):
    """affine_grid_generator(theta, size, align_corners) -> Tensor: affine_grid() with all arguments.

    RuntimeError if the size is not 4-D or 5-D, or if the matrices don't fit it.

    >>> import autograd_cy as ag
    >>> ag.affine_grid_generator(ag.tensor([[[2.0, 0.0, 1.0], [0.0, 1.0, 0.0]]]), (1, 1, 1, 2), False)
    tensor([[[[0., 0.],
              [2., 0.]]]])
    """
    cdef Tensor matrices = tensor_argument(theta, "affine_grid_generator", "theta", 1)
    cdef tuple sizes = sizes_argument(size, "affine_grid_generator"), own = shape_of(matrices)
    cdef int dims = len(sizes) - 2, code = code_of(matrices.array)
    if dims not in (2, 3):
        raise RuntimeError("AffineGridGenerator needs 4d (spatial) or 5d (volumetric) inputs.")
    if own != (sizes[0], dims, dims + 1):
        raise RuntimeError(f"affine_grid_generator(): expected theta of sizes {[sizes[0], dims, dims + 1]} for size "
                           f"{list(sizes)}, got {list(own)}")
    if not FLOAT16 <= code < COMPLEX64:
        raise NotImplementedError(f"affine_grid_generator(): expected theta to have floating point type, got {theta.dtype}")
    check_has_kernel(code, "affine_grid_generator")
    check_output_sizes(sizes)
    points = base_points(sizes[2:], bool(align_corners), code)
    array = np.matmul(points, matrices.array.swapaxes(1, 2)).reshape(sizes[:1] + sizes[2:] + (dims,))
    return record_linear(AffineGridGeneratorBackward0, (sizes, bool(align_corners)), matrices, in_type(array, code))


@op(namespace="nn.functional", batch=COMPOSITE)
def affine_grid(theta, size, align_corners=None):
    """affine_grid(theta, size, align_corners=None) -> Tensor: points for grid_sample(), moved by affine maps.

    Maps theta (N, 2, 3) for a size (N, C, H, W) give points (N, H, W, 2), and theta (N, 3, 4) for (N, C, D, H, W) points
    (N, D, H, W, 3): theta @ (x, y, 1) for each element. Without align_corners it warns and uses False.
    ValueError if the matrices don't fit.

    >>> import autograd_cy as ag
    >>> ag.nn.functional.affine_grid(ag.tensor([[[1.0, 0.0, 0.5], [0.0, 1.0, 0.0]]]), (1, 1, 1, 2), align_corners=False)
    tensor([[[[0., 0.],
              [1., 0.]]]])
    """
    cdef bint aligned = aligned_argument(align_corners)
    cdef Tensor matrices = tensor_argument(theta, "affine_grid", "theta", 1)
    cdef tuple own = shape_of(matrices), sizes
    if not FLOAT16 <= code_of(matrices.array) < COMPLEX64:
        raise ValueError(f"Expected theta to have floating point type, but got {theta.dtype}")
    if not isinstance(size, (tuple, list)) or len(size) not in (4, 5):
        raise NotImplementedError("affine_grid only supports 4D and 5D sizes, for 2D and 3D affine transforms, respectively. "
                                  f"Got size {size}.")
    cdef int dims = len(size) - 2
    if len(own) != 3 or own[1:] != (dims, dims + 1):
        raise ValueError(f"Expected a batch of {dims}D affine matrices of shape Nx{dims}x{dims + 1} for size {size}. Got "
                         f"{theta.shape}.")
    sizes = sizes_argument(size, "affine_grid_generator")
    if aligned and min(sizes[2:]) == 1:
        warnings.warn("Since version 1.3.0, affine_grid behavior has changed for unit-size grids when align_corners=True. "
                      "This is not an intended use case of affine_grid. See the documentation of affine_grid for details.",
                      UserWarning, stacklevel=2)
    elif min(sizes) <= 0:
        raise ValueError(f"Expected non-zero, positive output size. Got {size}")
    return affine_grid_generator(theta, size, aligned)
