"""Logarithms of sums, of complex numbers, too."""

from autograd_cy._core.arrays.dtypes cimport COMPLEX64, code_of
from autograd_cy._core.graph.record cimport tensor_argument
from autograd_cy._core.graph.tensor cimport Tensor
from autograd_cy._core.ops.pointwise.pointwise cimport called, row_of
from autograd_cy._core.ops.pointwise.pointwise_node cimport Pointwise

from autograd_cy._core.ops.pointwise.where import where
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
    at_infinity = distance.isnan() & (high == low)          # of equal infinities the distance is 0
    return high + where(at_infinity, 0, distance).exp().log1p()
