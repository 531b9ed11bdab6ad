"""clamp and gelu: their arguments decide which row of the elementwise table they use."""

import numpy as np

from autograd_cy._core.arrays.buffers cimport fitting
from autograd_cy._core.arrays.dtypes cimport BOOL, COMPLEX64, FLOAT16, code_of, dtype_of
from autograd_cy._core.graph.record cimport as_tensor, common_code, operand_code, rank_of, tensor_of
from autograd_cy._core.graph.tensor cimport Tensor
from autograd_cy._core.ops.pointwise.nodes cimport Pointwise, with_constants
from autograd_cy._core.ops.pointwise.pointwise cimport row_of, ternary, unary

from autograd_cy._core.ops.registry import op

cdef Pointwise *OP_clamp_numbers = row_of("clamp_numbers")
cdef Pointwise *OP_clamp_tensors = row_of("clamp_tensors")
cdef Pointwise *OP_clamp_from = row_of("clamp_from")
cdef Pointwise *OP_clamp_to = row_of("clamp_to")
cdef Pointwise *OP_gelu_erf = row_of("gelu_erf")
cdef Pointwise *OP_gelu_tanh = row_of("gelu_tanh")


@op(methods=("clamp", "clip"), kind="elementwise")
def clamp(input, min=None, max=None):
    """clamp(input, min=None, max=None) -> Tensor: input limited to [min, max], numbers or tensors.

    The gradient passes through where min <= input <= max, the bounds included.

    >>> import autograd_cy as ag
    >>> ag.clamp(ag.tensor([-1.0, 0.5, 2.0]), 0, 1)
    tensor([0.0000, 0.5000, 1.0000])
    """
    if min is None and max is None:
        raise RuntimeError("torch.clamp: At least one of 'min' or 'max' must not be None")
    cdef Tensor x = as_tensor(input, "clamp"), y
    cdef int dtype_code = code_with_bounds(x, [value for value in (min, max) if value is not None])
    cdef Pointwise *row
    if dtype_code == BOOL or dtype_code >= COMPLEX64:
        text = "\"clamp_scalar_cpu\" not implemented for 'Bool'"
        if dtype_code != BOOL:
            text = "clamp is not supported for complex types"
        raise NotImplementedError(f"{text} (clamp() is not implemented for tensors of type {dtype_of(dtype_code)})")
    if isinstance(min, Tensor) or isinstance(max, Tensor):
        row = OP_clamp_to if min is None else OP_clamp_from if max is None else OP_clamp_tensors
        return ternary(row, x, 0 if min is None else min, 0 if max is None else max)
    y = with_constants(ternary(OP_clamp_numbers, x, bound(min, dtype_code, -1), bound(max, dtype_code, 1)), (min, max))
    if min != min or max != max:            # a nan bound, which the floating point kernels ignore
        y.array.fill(np.nan)
    return y


cdef int code_with_bounds(Tensor input, list bounds) except -1:
    """The common type of an input and its bounds."""
    cdef int dtype_codes[3]
    cdef int ranks[3]
    cdef int k, count = len(bounds) + 1
    cdef Tensor x
    dtype_codes[0], ranks[0] = code_of(input.array), rank_of(input)
    for k in range(1, count):
        x = tensor_of(bounds[k - 1])
        dtype_codes[k], ranks[k] = operand_code(x, bounds[k - 1]), rank_of(x)
        if dtype_codes[k] < 0:
            raise TypeError(f"clamp(): bounds must be Tensors or numbers, not {type(bounds[k - 1]).__name__}")
    return common_code(dtype_codes, ranks, count)


cdef object bound(object value, int dtype_code, int side):
    """A bound of clamp, by default the end of the type's range. RuntimeError if the type can't hold it."""
    if value is not None:
        fitting(value, dtype_code)
        return value
    if dtype_code >= FLOAT16:
        return side * np.inf
    limits = np.iinfo(dtype_of(dtype_code).numpy_dtype)
    return int(limits.max if side > 0 else limits.min)


@op(name="gelu", namespace="nn.functional", kind="elementwise")
def gelu(input, approximate="none"):
    """gelu(input, approximate='none') -> Tensor: input times the normal distribution function of input.

    approximate='tanh' approximates it by tanh. Source: Hendrycks, Gimpel, "Gaussian error linear units" (2016).

    >>> import autograd_cy as ag
    >>> ag.nn.functional.gelu(ag.tensor([0.0, 1.0]))
    tensor([0.0000, 0.8413])
    """
    if approximate not in ("none", "tanh"):
        raise RuntimeError(f"approximate argument must be either none or tanh, not {approximate!r}.")
    return with_constants(unary(OP_gelu_erf if approximate == "none" else OP_gelu_tanh, input), (approximate,))
