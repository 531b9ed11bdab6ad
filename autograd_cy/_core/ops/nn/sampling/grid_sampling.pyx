"""grid_sample(): interpolation of an input at given points."""

import numpy as np

cimport cython

from autograd_cy._core.arrays.buffers cimport flat, in_type, sizes_of
from autograd_cy._core.arrays.dtypes cimport FLOAT16, FLOAT64, INT64, code_of, dtype_of, kernel_code, type_word
from autograd_cy._core.batching.batched cimport zeros_as
from autograd_cy._core.graph.node cimport Node, Request, save_input, saved_array, unpack
from autograd_cy._core.graph.record cimport needs_node, new_node, record_all, shape_of, tensor_argument
from autograd_cy._core.graph.tensor cimport Tensor, new_tensor
from autograd_cy._core.kernels.sampling_loops cimport gathered, products, scattered
from autograd_cy._core.ops.nn.pooling cimport is_int
from autograd_cy._core.runtime cimport numpy_api as cnp

from autograd_cy._core.batching.batched import rank_of
from autograd_cy._core.batching.rules import COMPOSITE
from autograd_cy._core.ops.registry import op
from autograd_cy._core.ops.shapes.joining import stack

MODES = {"bilinear": 0, "nearest": 1, "bicubic": 2}
PADDINGS = {"zeros": 0, "border": 1, "reflection": 2}


# the node

cdef class GridSampler(Node):
    """Its constants: mode, padding, whether corners are aligned."""

    cdef tuple saved_names(self):
        return ("input", "grid")

    cdef tuple constant_names(self):
        return ("interpolation_mode", "padding_mode", "align_corners")

    cdef object vjp_array(self, object g, int i, Request *request):
        cdef cnp.ndarray x = saved_array(self, 0), grid = saved_array(self, 1)
        cdef int wide = kernel_code(x)
        cdef tuple own = sizes_of(x), table = arrays_of(grid, own[2:], self.constants)
        cdef cnp.ndarray gradient = planes_of(<cnp.ndarray> g, wide), summed
        if i == 0:
            summed = scattered(gradient, table[0], table[1], plane_size(own))
            return in_type(summed.reshape(own), code_of(x))
        summed = products(gradient, planes_of(x, wide), table[0])
        numbers = np.stack([np.einsum("npt,npt->np", summed, slope) for slope in table[2]], -1)
        return in_type(numbers.reshape(sizes_of(grid)), code_of(grid))

    cdef object vjp(self, object g, int i):
        x, grid = unpack(self, 0), unpack(self, 1)
        cdef object wide = dtype_of(kernel_code((<Tensor> x).array))
        planes, gradient = x.to(wide).flatten(2), g.to(wide).flatten(2)
        index, weights, slopes = grid_table(grid.to(wide), tuple(x.shape)[2:], self.constants)
        exists, index = index >= 0, index.clamp(0)
        if i == 0:
            return spread(gradient, exists, index, weights, planes.shape).reshape(x.shape).to(x.dtype)
        sums = []
        for tap in range(weights.shape[-1]):
            places = index.select(-1, tap).unsqueeze(1).expand(gradient.shape)
            sums.append((gradient * planes.gather(2, places)).sum(1))
        summed = stack(sums, -1).where(exists, 0.0)
        numbers = [(summed * slope.where(exists, 0.0)).sum(-1) for slope in slopes]
        return stack(numbers, -1).reshape(grid.shape).to(grid.dtype)


@cython.final
cdef class GridSampler2DBackward0(GridSampler):
    pass


@cython.final
cdef class GridSampler3DBackward0(GridSampler):
    pass


cdef object spread(object g, object exists, object index, object weights, object sizes):
    """The gradient of planes of `sizes`: each point's gradient times its weights, added at the elements it used."""
    weights = weights.where(exists, 0.0)
    planes = zeros_as(g, tuple(sizes))
    for tap in range(weights.shape[-1]):
        places = index.select(-1, tap).unsqueeze(1).expand(g.shape)
        parts = (g * weights.select(-1, tap).unsqueeze(1)).where(exists.select(-1, tap).unsqueeze(1), 0.0)
        planes = planes.scatter_add(2, places, parts)
    return planes


cdef cnp.ndarray planes_of(cnp.ndarray x, int code):
    """The array in a type, as (batches, channels, elements)."""
    cdef tuple own = sizes_of(x)
    return flat(x, code).reshape((own[0], own[1], plane_size(own)))


cdef tuple arrays_of(cnp.ndarray grid, tuple sizes, tuple constants):
    """The table of a grid as arrays for the loops: (index, weights, slopes)."""
    cdef int wide = kernel_code(grid)
    index, weights, slopes = grid_table(new_tensor(flat(grid, wide)), sizes, constants)
    return (flat((<Tensor> index).array, INT64), flat((<Tensor> weights).array, wide),
            [(<Tensor> slope).array for slope in slopes])


# the operation

cdef int check_input(Tensor x, Tensor grid, int dims, int mode) except -1:
    cdef tuple own = shape_of(x), points = shape_of(grid)
    cdef str shown = f"but got input with sizes {list(own)} and grid with sizes {list(points)}"
    if not own or not points or own[0] != points[0]:
        raise RuntimeError(f"grid_sampler(): expected grid and input to have same batch size, {shown}")
    if points[-1] != len(own) - 2:
        raise RuntimeError(f"grid_sampler(): expected grid to have size {len(own) - 2} in last dimension, but got grid with "
                           f"sizes {list(points)}")
    if len(own) != len(points) or len(own) != (dims or min(max(len(own), 4), 5)):
        expected = dims or (4 if len(own) == 4 else 5)
        raise RuntimeError(f"grid_sampler(): expected {expected}D input and grid with same number of dimensions, {shown}")
    for k in range(2, len(own)):
        if own[k] == 0:
            raise RuntimeError("grid_sampler(): expected input to have non-empty spatial dimensions, but input has sizes "
                               f"{list(own)} with dimension {k} being empty")
    if len(own) == 5 and mode == 2:
        raise RuntimeError("grid_sampler(): bicubic interpolation only supports 4D input")
    cdef int code = code_of(x.array)
    if not FLOAT16 <= code <= FLOAT64:
        kernel = "grid_sampler_2d_cpu_kernel_impl" if len(own) == 4 else "grid_sampler3d_cpu"
        raise NotImplementedError(f"\"{kernel}\" not implemented for '{type_word(code)}'")
    if code_of(grid.array) != code:
        raise RuntimeError(f"expected scalar type {type_word(code)} but found {type_word(code_of(grid.array))} "
                           "(grid_sampler: input and grid)")
    return 0


cdef int choice(object value, str operation, str name, int position) except -1:
    """A mode by its number."""
    if not is_int(value):
        raise TypeError(f"{operation}(): argument '{name}' (position {position}) must be int, not {type(value).__name__}")
    if not 0 <= value.__index__() <= 2:
        raise ValueError(f"{operation}(): expected {name} to be 0, 1 or 2, got {value}")
    return value.__index__()


cdef object sampler(str operation, object input, object grid, object interpolation_mode, object padding_mode,
                    object align_corners, int rank):
    """grid_sampler() of an input with `rank` dimensions; 0 means 4 or 5."""
    cdef Tensor x = tensor_argument(input, operation, "input", 1), points = tensor_argument(grid, operation, "grid", 2)
    cdef int mode = choice(interpolation_mode, operation, "interpolation_mode", 3)
    cdef int padding = choice(padding_mode, operation, "padding_mode", 4)
    check_input(x, points, rank, mode)
    cdef tuple own = shape_of(x), constants = (mode, padding, bool(align_corners))
    index, weights, _ = arrays_of(points.array, own[2:], constants)
    cdef cnp.ndarray values = gathered(planes_of(x.array, kernel_code(x.array)), index, weights)
    cdef Tensor y = new_tensor(in_type(values.reshape(own[:2] + shape_of(points)[1:-1]), code_of(x.array)))
    if not (needs_node(x) or needs_node(points)):
        return y
    cdef Node node = new_node(GridSampler2DBackward0 if len(own) == 4 else GridSampler3DBackward0, constants)
    save_input(node, 0, x)
    save_input(node, 1, points)
    return record_all(node, y, (x, points))


cdef Py_ssize_t plane_size(tuple sizes):
    cdef Py_ssize_t size = 1
    for n in sizes[2:]:
        size *= n
    return size


def batched_sampler(call, input, grid, *args, **kwargs):
    """The samples become batches."""
    x, points = call.front(input), call.front(grid)
    if rank_of(input) < 2 or rank_of(grid) < 2 or x.shape[1] != points.shape[1]:
        call.on_sample(input, grid, *args)
    y = call(x.flatten(0, 1), points.flatten(0, 1), *args, **kwargs)
    return y.reshape(*x.shape[:2], *y.shape[1:])


@op(batch=COMPOSITE)
def grid_sampler(input, grid, interpolation_mode: int, padding_mode: int, align_corners: bool):
    """grid_sampler(input, grid, interpolation_mode, padding_mode, align_corners) -> Tensor: grid_sample() with numbers.

    Modes: 0 bilinear, 1 nearest, 2 bicubic; paddings: 0 zeros, 1 border, 2 reflection.

    >>> import autograd_cy as ag
    >>> ag.grid_sampler(ag.tensor([[[[0.0, 4.0]]]]), ag.tensor([[[[0.0, 0.0], [0.5, 0.0]]]]), 0, 0, False)
    tensor([[[[2., 4.]]]])
    """
    if rank_of(tensor_argument(input, "grid_sampler", "input", 1)) == 5:
        return grid_sampler_3d(input, grid, interpolation_mode, padding_mode, align_corners)
    if rank_of(input) == 4:
        return grid_sampler_2d(input, grid, interpolation_mode, padding_mode, align_corners)
    return sampler("grid_sampler", input, grid, interpolation_mode, padding_mode, align_corners, 0)


@op(batch=batched_sampler)
def grid_sampler_2d(input, grid, interpolation_mode: int, padding_mode: int, align_corners: bool):
    """grid_sampler_2d(input, grid, interpolation_mode, padding_mode, align_corners) -> Tensor: grid_sampler() of a 4-D input.

    RuntimeError for an input of other dimensions.

    >>> import autograd_cy as ag
    >>> ag.grid_sampler_2d(ag.tensor([[[[0.0, 4.0]]]]), ag.tensor([[[[0.0, 0.0]]]]), 0, 0, False)
    tensor([[[[2.]]]])
    """
    return sampler("grid_sampler_2d", input, grid, interpolation_mode, padding_mode, align_corners, 4)


@op(batch=batched_sampler)
def grid_sampler_3d(input, grid, interpolation_mode: int, padding_mode: int, align_corners: bool):
    """grid_sampler_3d(input, grid, interpolation_mode, padding_mode, align_corners) -> Tensor: grid_sampler() of a 5-D input.

    RuntimeError for an input of other dimensions.

    >>> import autograd_cy as ag
    >>> ag.grid_sampler_3d(ag.tensor([[[[[0.0, 4.0]]]]]), ag.tensor([[[[[0.0, 0.0, 0.0]]]]]), 0, 0, False)
    tensor([[[[[2.]]]]])
    """
    return sampler("grid_sampler_3d", input, grid, interpolation_mode, padding_mode, align_corners, 5)


@op(namespace="nn.functional", batch=COMPOSITE)
def grid_sample(input, grid, mode="bilinear", padding_mode="zeros", align_corners=None):
    """grid_sample(input, grid, mode='bilinear', padding_mode='zeros', align_corners=None) -> Tensor: the input interpolated
    at the points of a grid.

    An input (N, C, H, W) and a grid (N, h, w, 2) of points (x, y) give (N, C, h, w); in three dimensions an input (N, C, D,
    H, W) and points (x, y, z). -1 and 1 are the outer edges of the input or, with align_corners, the centers of its outer
    elements. Modes: 'bilinear', 'nearest', and for planes 'bicubic'. Points outside give 0, the nearest element ('border'),
    or their mirror image at the edge ('reflection'). A NaN gives nothing, or the first element. Without align_corners it
    warns and uses False. RuntimeError for sizes that don't fit.
    Source: Jaderberg et al., "Spatial transformer networks" (2015).

    >>> import autograd_cy as ag
    >>> points = ag.tensor([[[[0.0, 0.0], [0.5, 0.0], [2.0, 0.0]]]])
    >>> ag.nn.functional.grid_sample(ag.tensor([[[[0.0, 4.0]]]]), points, align_corners=False)
    tensor([[[[2., 4., 0.]]]])
    """
    if mode not in MODES:
        raise ValueError("nn.functional.grid_sample(): expected mode to be 'bilinear', 'nearest' or 'bicubic', but got: "
                         f"'{mode}'")
    if padding_mode not in PADDINGS:
        raise ValueError("nn.functional.grid_sample(): expected padding_mode to be 'zeros', 'border', or 'reflection', but "
                         f"got: '{padding_mode}'")
    return grid_sampler(input, grid, MODES[mode], PADDINGS[padding_mode], aligned_argument(align_corners))
