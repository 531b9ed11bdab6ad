"""Logarithms of sums, also of complex numbers; frexp."""

import numpy as np

cimport cython

from autograd_cy._core.arrays.dtypes cimport COMPLEX64, FLOAT16, code_of
from autograd_cy._core.graph.node cimport Node
from autograd_cy._core.graph.record cimport as_tensor, record_linear, tensor_argument
from autograd_cy._core.graph.tensor cimport Tensor, new_tensor
from autograd_cy._core.ops.pointwise.nodes cimport Pointwise
from autograd_cy._core.ops.pointwise.pointwise cimport called, row_of

from autograd_cy._core.batching.rules import on_values
from autograd_cy._core.ops import return_types
from autograd_cy._core.ops.pointwise.nodes import where
from autograd_cy._core.ops.registry import op

cdef Pointwise *OP_logaddexp = row_of("logaddexp")


@op(methods=("logaddexp",), kind="elementwise")
def logaddexp(input, other):
    """logaddexp(input, other) -> Tensor: log(exp(input) + exp(other)), without overflow on the way.

    >>> import autograd_cy as ag
    >>> ag.logaddexp(ag.tensor([0.0]), ag.tensor([1.0]))
    tensor([1.3133])
    """
    cdef Tensor a = tensor_argument(input, "logaddexp", "input", 1), b = tensor_argument(other, "logaddexp", "other", 2)
    if code_of(a.array) < COMPLEX64 and code_of(b.array) < COMPLEX64:
        return called(OP_logaddexp, a, b)
    is_first = a.real >= b.real
    high, low = where(is_first, a, b), where(is_first, b, a)
    distance = low - high
    at_infinity = distance.isnan() & (high == low)          # the distance of equal infinities is 0
    return high + where(at_infinity, 0, distance).exp().log1p()


@cython.final
cdef class FrexpBackward0(Node):
    """Constant: the exponents. The mantissa is input over that power of two."""

    cdef tuple constant_names(self):
        return ("exponent",)

    cdef object vjp(self, object g, int i):
        return g.ldexp(-self.constants[0])

    cdef object jvp(self, tuple tangents):
        return tangents[0].ldexp(-self.constants[0])


@op(methods=("frexp",), batch=on_values)
def frexp(input):
    """frexp(input) -> frexp: the mantissa, from 0.5 to 1 (or negative), and the exponent: input is mantissa * 2**exponent.

    For 0, infinities and NaN the mantissa is the number itself, and the exponent 0.

    >>> import autograd_cy as ag
    >>> ag.frexp(ag.tensor([3.0, -8.0])).mantissa
    tensor([ 0.7500, -0.5000])
    """
    cdef Tensor x = as_tensor(input, "frexp")
    if not FLOAT16 <= code_of(x.array) < COMPLEX64:
        raise RuntimeError("torch.frexp() only supports floating-point dtypes")
    mantissa, exponent = np.frexp(x.array)
    exponents = new_tensor(np.where(np.isfinite(x.array), exponent, np.int32(0)).astype(np.int32))
    return return_types.frexp(record_linear(FrexpBackward0, (exponents,), x, np.asarray(mantissa)), exponents)
