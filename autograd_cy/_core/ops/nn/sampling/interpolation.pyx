"""interpolate(): resizing of planes."""

import warnings

import numpy as np

cimport cython

from autograd_cy._core.arrays.buffers cimport in_format
from autograd_cy._core.arrays.dtypes cimport FLOAT16, FLOAT64, UINT8, code_of, is_half, type_word
from autograd_cy._core.graph.record cimport int64_of, shape_of, shown, tensor_argument
from autograd_cy._core.graph.tensor cimport Tensor, new_tensor
from autograd_cy._core.kernels.sampling_loops cimport tapped
from autograd_cy._core.ops.nn.pooling cimport TapsNode, check_output_sizes, is_int, suggested, weighed
from autograd_cy._core.runtime cimport numpy_api as cnp

from autograd_cy._core.batching.batched import rank_of
from autograd_cy._core.batching.rules import COMPOSITE
from autograd_cy._core.ops.nn.pooling import (
    PlanesRule, adaptive_avg_pool1d, adaptive_avg_pool2d, adaptive_avg_pool3d, cubic, in_16_bits, linear, nearest, smoothed)
from autograd_cy._core.ops.registry import op

KNOWN_MODES = "nearest | linear | bilinear | bicubic | trilinear | lanczos | area | nearest-exact"
AREA = {3: adaptive_avg_pool1d, 4: adaptive_avg_pool2d, 5: adaptive_avg_pool3d}
RANKS = {"linear": 3, "bilinear": 4, "bicubic": 4, "lanczos": 4, "trilinear": 5}        # of the input


# nodes

cdef class Upsampling(TapsNode):
    cdef tuple constant_names(self):
        return (None, "self_sym_sizes", "output_size", "align_corners") + self.scale_names()

    cdef tuple scale_names(self):
        cdef int dims = len(<tuple> self.constants[2])
        return ("scales",) if dims == 1 else ("scales_d", "scales_h", "scales_w")[3 - dims:]


cdef class NearestUpsampling(Upsampling):
    cdef int gradient_format(self, cnp.ndarray g) except -1:
        return cnp.PyArray_NDIM(g) == 4 and Upsampling.gradient_format(self, g)

    cdef tuple constant_names(self):
        return (None, "self_sym_sizes", "output_size", None) + self.scale_names()


cdef class BicubicUpsampling(Upsampling):
    cdef int gradient_format(self, cnp.ndarray g) except -1:
        return False


@cython.final
cdef class UpsampleNearest1DBackward0(NearestUpsampling):
    pass


@cython.final
cdef class UpsampleNearest2DBackward0(NearestUpsampling):
    pass


@cython.final
cdef class UpsampleNearest3DBackward0(NearestUpsampling):
    pass


@cython.final
cdef class UpsampleNearestExact1DBackward0(NearestUpsampling):
    pass


@cython.final
cdef class UpsampleNearestExact2DBackward0(NearestUpsampling):
    pass


@cython.final
cdef class UpsampleNearestExact3DBackward0(NearestUpsampling):
    pass


@cython.final
cdef class UpsampleLinear1DBackward0(Upsampling):
    pass


@cython.final
cdef class UpsampleBilinear2DBackward0(Upsampling):
    pass


@cython.final
cdef class UpsampleTrilinear3DBackward0(Upsampling):
    pass


@cython.final
cdef class UpsampleBicubic2DBackward0(BicubicUpsampling):
    pass


@cython.final
cdef class UpsampleBilinear2DAaBackward0(Upsampling):
    pass


@cython.final
cdef class UpsampleBicubic2DAaBackward0(BicubicUpsampling):
    pass


@cython.final
cdef class UpsampleLanczos2DAaBackward0(BicubicUpsampling):
    pass


NODES = {
    ("nearest", 3): UpsampleNearest1DBackward0, ("nearest", 4): UpsampleNearest2DBackward0,
    ("nearest", 5): UpsampleNearest3DBackward0, ("nearest-exact", 3): UpsampleNearestExact1DBackward0,
    ("nearest-exact", 4): UpsampleNearestExact2DBackward0, ("nearest-exact", 5): UpsampleNearestExact3DBackward0,
    ("linear", 3): UpsampleLinear1DBackward0, ("bilinear", 4): UpsampleBilinear2DBackward0,
    ("trilinear", 5): UpsampleTrilinear3DBackward0, ("bicubic", 4): UpsampleBicubic2DBackward0,
}
SMOOTH_NODES = {
    "bilinear": UpsampleBilinear2DAaBackward0, "bicubic": UpsampleBicubic2DAaBackward0,
    "lanczos": UpsampleLanczos2DAaBackward0,
}


# arguments

cdef tuple given_sizes(object size, tuple own):
    """The requested sizes, one for each dimension."""
    if isinstance(size, (tuple, list)):
        if len(size) != len(own):
            raise ValueError(
                "Input and output must have the same number of spatial dimensions, but got input with spatial dimensions of "
                f"{list(own)} and output size of {size}. Please provide input tensor in (N, C, d1, d2, ...,dK) format and "
                f"output "
                "size in (o1, o2, ...,oK) format.")
        if not all([is_int(n) for n in size]):
            raise TypeError("expected size to be one of int or Tuple[int] or Tuple[int, int] or Tuple[int, int, int], but "
                            "got size "
                            f"with types {[type(n) for n in size]}")
    elif not is_int(size):
        raise TypeError(f"interpolate(): argument 'size' must be int or tuple of ints, not {type(size).__name__}")
    return tuple([int64_of(n.__index__()) for n in (size if isinstance(size, (tuple, list)) else (size,) * len(own))])


cdef tuple given_scales(object scale_factor, tuple own):
    if isinstance(scale_factor, (tuple, list)) and len(scale_factor) != len(own):
        raise ValueError(
            "Input and scale_factor must have the same number of spatial dimensions, but got input with spatial dimensions of "
            f"{list(own)} and scale_factor of shape {scale_factor}. Please provide input tensor in (N, C, d1, d2, ...,dK) "
            f"format "
            "and scale_factor in (s1, s2, ...,sK) format.")
    return tuple([float(s) for s in (scale_factor if isinstance(scale_factor, (tuple, list)) else (scale_factor,) * len(own))])


cdef tuple scaled_sizes(tuple own, tuple scales):
    cdef list sizes = []
    for n, scale in zip(own, scales):
        size = n * scale
        if not abs(size) < 1 << 63:
            raise RuntimeError(f"value cannot be converted to type int64_t without overflow (interpolate: {n} * {scale})")
        sizes.append(int(size))
    return tuple(sizes)


cdef int check_mode(str mode, int rank, object antialias, object align_corners) except -1:
    """Check that the mode exists for this rank."""
    if antialias and not (mode in SMOOTH_NODES and rank == 4):
        raise ValueError("Anti-alias option is restricted to bilinear, bicubic, and lanczos modes and requires a 4-D tensor "
                         "as input")
    if mode == "lanczos" and rank == 4:
        if align_corners:
            raise ValueError("Lanczos mode does not support align_corners=True")
        if not antialias:
            raise ValueError("Lanczos mode requires antialias=True")
        return 0
    if rank in (3, 4, 5) and (mode == "area" or (mode, rank) in NODES):
        return 0
    if rank in (3, 4, 5) and mode in ("linear", "bilinear", "trilinear"):
        raise NotImplementedError(f"Got {rank}D input, but {mode} mode needs {RANKS[mode]}D input")
    raise NotImplementedError(f"Input Error: Only 3D, 4D and 5D input Tensors supported (got {rank}D) for the modes: "
                              f"{KNOWN_MODES} (got {mode})")


cdef int check_sizes(Tensor x, tuple sizes) except -1:
    cdef tuple own = shape_of(x)
    cdef str letters = "DHW"[5 - len(own):]
    if min(sizes) <= 0 or min(own[2:]) == 0:
        before, after = [", ".join([f"{d}: {n}" for d, n in zip(letters, side)]) for side in (own[2:], sizes)]
        raise RuntimeError(f"Input and output sizes should be greater than 0, but got input ({before}) "
                           f"{'and ' if len(own) == 3 else ''}output ({after})")
    if own[1] == 0:
        raise RuntimeError(f"Non-empty {len(own)}D data tensor expected but got a tensor with sizes {list(own)}")
    return check_output_sizes(own[:2] + sizes)


cdef int check_type(Tensor x, str mode, object antialias) except -1:
    cdef int own = code_of(x.array), rank = cnp.PyArray_NDIM(x.array)
    if FLOAT16 <= own <= FLOAT64 and not (antialias and is_half(own)):
        return 0
    if own == UINT8 and mode not in ("linear", "trilinear"):
        return 0
    if antialias:
        kernel = "compute_index_ranges_weights"
    elif mode in ("nearest", "nearest-exact"):
        kernel = f"upsample_nearest{rank - 2}d{'_channels_last' if rank > 3 else ''}"
    else:
        kernel = {"bilinear": "upsample_bilinear2d_channels_last", "bicubic": "compute_indices_weights_cubic"}.get(
            mode, "compute_indices_weights_linear")
    raise NotImplementedError(f"\"{kernel}\" not implemented for '{type_word(own)}'")


# the operation

cdef object taps_of(str mode, Py_ssize_t n, Py_ssize_t count, object align_corners, object scale, object antialias,
                    bint narrow):
    """The matrix along one dimension."""
    if antialias:
        return smoothed(mode, n, count, align_corners, scale)
    if mode in ("nearest", "nearest-exact"):
        return nearest(n, count, scale, mode == "nearest-exact", narrow)
    return (cubic if mode == "bicubic" else linear)(n, count, align_corners, scale)


cdef object of_bytes(Tensor x, tuple taps):
    """Interpolate bytes along one dimension after the other, last one first, rounding each time."""
    cdef bint channels_last = suggested(x.array, taps, False)
    values = x.array.astype(np.float64)
    for k in range(-1, -len(taps) - 1, -1):
        values = tapped(np.ascontiguousarray(np.moveaxis(values, k, -1)), (in_16_bits(taps[k]),))
        values = np.clip(np.floor(np.moveaxis(values, -1, k) + 0.5), 0, 255)
    return shown("upsample", new_tensor(in_format(np.ascontiguousarray(values, np.uint8), channels_last)), (x,))


def batched_interpolate(call, input, *args, **kwargs):
    """Merge the samples into the batch."""
    if rank_of(input) not in (3, 4, 5):
        call.on_sample(input, *args)
    return PlanesRule(rank_of(input) - 2)(call, input, *args, **kwargs)


@op(namespace="nn.functional", batch=batched_interpolate)
def interpolate(input, size=None, scale_factor=None, mode="nearest", align_corners=None, recompute_scale_factor=None,
                antialias=False):
    """interpolate(input, size=None, scale_factor=None, mode='nearest', align_corners=None, recompute_scale_factor=None,
    antialias=False) -> Tensor: an input (N, C, ...) of one to three more dimensions in another size along those.

    Give a size or a factor, one for all dimensions or one for each. Modes: 'nearest' (the element before), 'nearest-exact',
    'linear', 'bilinear' and 'trilinear' for one to three dimensions, 'bicubic' for two, 'area' (means over the area of an
    element). With align_corners the centers of the outer elements keep their place, else their outer edges do. With
    antialias ('bilinear', 'bicubic' and 'lanczos') the input is smoothed before it shrinks. NotImplementedError for a mode
    with another number of dimensions, ValueError for arguments that exclude each other.

    >>> import autograd_cy as ag
    >>> ag.nn.functional.interpolate(ag.tensor([[[0.0, 4.0]]]), scale_factor=2, mode="linear")
    tensor([[[0., 1., 3., 4.]]])
    """
    cdef Tensor x = tensor_argument(input, "interpolate", "input", 1)
    cdef tuple own = shape_of(x)[2:], sizes, scales = (None,) * len(own)
    if mode in ("nearest", "area", "nearest-exact"):
        if align_corners is not None:
            raise ValueError("align_corners option can only be set with the interpolating modes: linear | bilinear | bicubic "
                             "| "
                             "trilinear")
    if size is not None and scale_factor is not None:
        raise ValueError("only one of size or scale_factor should be defined")
    if size is None and scale_factor is None:
        raise ValueError("either size or scale_factor should be defined")
    if size is not None:
        sizes = given_sizes(size, own)
        if recompute_scale_factor:
            raise ValueError("recompute_scale_factor is not meaningful with an explicit size.")
    else:
        scales = given_scales(scale_factor, own)
        sizes = scaled_sizes(own, scales)
        if recompute_scale_factor or mode == "area":
            scales = (None,) * len(own)
    check_mode(str(mode), cnp.PyArray_NDIM(x.array), antialias, align_corners)
    if mode == "area":
        return AREA[len(own) + 2](input, sizes)
    check_sizes(x, sizes)
    check_type(x, mode, antialias)
    cdef bint aligned = bool(align_corners), narrow = code_of(x.array) != FLOAT64
    taps = tuple([taps_of(mode, n, count, aligned, scale, antialias, narrow) for n, count, scale in zip(own, sizes, scales)])
    if code_of(x.array) == UINT8:
        return of_bytes(x, taps)
    node_class = SMOOTH_NODES[mode] if antialias else NODES[mode, len(own) + 2]
    return weighed(node_class, (taps, shape_of(x), sizes, aligned) + scales, x)


@op(namespace="nn.functional", batch=COMPOSITE)
def upsample(input, size=None, scale_factor=None, mode="nearest", align_corners=None):
    """upsample(input, size=None, scale_factor=None, mode='nearest', align_corners=None) -> Tensor: interpolate() by an old
    name.

    It warns.

    >>> import warnings
    >>> import autograd_cy as ag
    >>> with warnings.catch_warnings(action="ignore"):
    ...     y = ag.nn.functional.upsample(ag.tensor([[[0.0, 4.0]]]), scale_factor=2)
    >>> y
    tensor([[[0., 0., 4., 4.]]])
    """
    warn_of("upsample")
    return interpolate(input, size, scale_factor, mode, align_corners)


@op(namespace="nn.functional", batch=COMPOSITE)
def upsample_nearest(input, size=None, scale_factor=None):
    """upsample_nearest(input, size=None, scale_factor=None) -> Tensor: interpolate() with mode 'nearest', by an old name.

    It warns.

    >>> import warnings
    >>> import autograd_cy as ag
    >>> with warnings.catch_warnings(action="ignore"):
    ...     y = ag.nn.functional.upsample_nearest(ag.tensor([[[0.0, 4.0]]]), 4)
    >>> y
    tensor([[[0., 0., 4., 4.]]])
    """
    warn_of("upsample_nearest")
    return interpolate(input, size, scale_factor, "nearest")


@op(namespace="nn.functional", batch=COMPOSITE)
def upsample_bilinear(input, size=None, scale_factor=None):
    """upsample_bilinear(input, size=None, scale_factor=None) -> Tensor: interpolate() with mode 'bilinear' and aligned
    corners, by an old name.

    It warns.

    >>> import warnings
    >>> import autograd_cy as ag
    >>> with warnings.catch_warnings(action="ignore"):
    ...     y = ag.nn.functional.upsample_bilinear(ag.tensor([[[[0.0, 4.0]]]]), (1, 3))
    >>> y
    tensor([[[[0., 2., 4.]]]])
    """
    warn_of("upsample_bilinear")
    return interpolate(input, size, scale_factor, "bilinear", True)


cdef int warn_of(str name) except -1:
    warnings.warn(f"`nn.functional.{name}` is deprecated. Use `nn.functional.interpolate` instead.", UserWarning, stacklevel=2)
    return 0
