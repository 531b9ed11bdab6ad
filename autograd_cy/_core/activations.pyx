"""clamp and gelu: which row of the elementwise table they are depends on their arguments."""

import numpy as np

from autograd_cy._core.dtypes cimport BOOL, code_of, dtype, dtype_of
from autograd_cy._core.pointwise cimport row_of, ternary, unary
from autograd_cy._core.pointwise_node cimport Pointwise, with_constants
from autograd_cy._core.record cimport as_tensor
from autograd_cy._core.tensor cimport Tensor

from autograd_cy._core.registry import op

cdef Pointwise *OP_clamp_numbers = row_of("clamp_numbers")
cdef Pointwise *OP_clamp_tensors = row_of("clamp_tensors")
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
    cdef Tensor x = as_tensor(input, "clamp")
    cdef dtype d = dtype_of(code_of(x.array))
    if d.is_complex or d.code == BOOL:
        raise NotImplementedError(f"clamp() is not implemented for tensors of type {d}")
    tensors = isinstance(min, Tensor) or isinstance(max, Tensor)
    y = ternary(OP_clamp_tensors if tensors else OP_clamp_numbers, x, bound(min, d, -1), bound(max, d, 1))
    return y if tensors else with_constants(y, (min, max))


cdef object bound(object value, dtype d, int side):
    """A bound of clamp: the end of the type's range where none is given, or where an integer lies beyond it."""
    if d.is_floating_point:
        return side * np.inf if value is None else value
    limits = np.iinfo(d.numpy_dtype)
    if value is None:
        return int(limits.max if side > 0 else limits.min)
    if isinstance(value, int):
        return int(limits.min) if value < limits.min else int(limits.max) if value > limits.max else value
    return value


@op(name="gelu", namespace="nn.functional", kind="elementwise")
def gelu(input, approximate="none"):
    """gelu(input, approximate='none') -> Tensor: input times the normal distribution function of input.

    approximate='tanh' takes the approximation by tanh. Source: Hendrycks, Gimpel, "Gaussian error linear units" (2016).

    >>> import autograd_cy as ag
    >>> ag.nn.functional.gelu(ag.tensor([0.0, 1.0]))
    tensor([0.0000, 0.8413])
    """
    if approximate not in ("none", "tanh"):
        raise RuntimeError(f"approximate argument must be either none or tanh, not {approximate!r}.")
    return with_constants(unary(OP_gelu_erf if approximate == "none" else OP_gelu_tanh, input), (approximate,))
