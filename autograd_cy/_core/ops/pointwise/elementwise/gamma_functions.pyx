"""Special functions without a row: derivatives of digamma, the multivariate gamma function, Airy's function."""

import math
import operator

import numpy as np

cimport cython
from cpython.object cimport PyObject

from autograd_cy._core.arrays.buffers cimport copy_in_order
from autograd_cy._core.arrays.dtypes cimport FLOAT64, code_of, dtype_of, is_half, to_inexact, type_word
from autograd_cy._core.graph.node cimport Node, save_input, unpack
from autograd_cy._core.graph.record cimport as_tensor, as_type, needs_node, new_node, record, shown
from autograd_cy._core.graph.tensor cimport Tensor, extend, new_tensor
from autograd_cy._core.ops.overwriting cimport in_place
from autograd_cy._core.ops.pointwise.nodes cimport Pointwise
from autograd_cy._core.ops.pointwise.pointwise cimport binary, forward, row_of

from autograd_cy._core.batching.rules import declare_rule, on_values
from autograd_cy._core.ops.registry import inplace_op, op


cdef Pointwise *OP_zeta = row_of("zeta")
cdef Pointwise *OP_trigamma = row_of("trigamma")


@cython.final
cdef class PolygammaBackward0(Node):
    cdef tuple saved_names(self):
        return ("self", None, None)

    cdef tuple constant_names(self):
        return ("n",)

    cdef object vjp(self, object g, int i):
        return g * polygamma(self.constants[0] + 1, unpack(self, 0))


def batched_polygamma(call, n, input):
    """A number, and a tensor with all samples at once."""
    return call(n, call.value(input))


@op(batch=batched_polygamma)
def polygamma(n: int, input):
    """polygamma(n, input) -> Tensor: the n-th derivative of digamma(input).

    As a method: x.polygamma(n). From n = 2 on it needs SciPy: pip install 'autograd_cy[scipy]'. RuntimeError for a negative n.

    >>> import autograd_cy as ag
    >>> ag.polygamma(1, ag.tensor([1.0, 2.0]))
    tensor([1.6449, 0.6449])
    """
    cdef Tensor x = as_tensor(input, "polygamma"), plain, y
    cdef Node node
    cdef PyObject *arrays[1]
    if n < 0:
        raise RuntimeError("polygamma(n, x) does not support negative n.")
    if code_of(x.array) > FLOAT64:
        raise NotImplementedError(f"\"polygamma\" not implemented for '{type_word(code_of(x.array))}' (polygamma() is not "
                                  f"implemented for tensors of type {dtype_of(code_of(x.array))})")
    if n == 0:
        return x.digamma()
    plain = new_tensor(copy_in_order(x.array, to_inexact(code_of(x.array))))
    factor = math.factorial(n) * (1 if n % 2 else -1) if n < 170 else math.inf if n % 2 else -math.inf
    if n == 1:
        arrays[0] = <PyObject *> plain.array
        y = new_tensor(forward(OP_trigamma, arrays, code_of(plain.array), None))
    else:
        y = new_tensor(np.asarray(((<Tensor> binary(OP_zeta, n + 1, plain)).array * float(factor)).astype(plain.array.dtype)))
    if needs_node(x):
        node = new_node(PolygammaBackward0, (n,))
        save_input(node, 0, x)
        return record(node, y, x)
    return y


MOST_DIMENSIONS = 65536         # of mvlgamma(), which computes one step for each


@op(methods=("mvlgamma",), batch=on_values)
def mvlgamma(input, p: int):
    """mvlgamma(input, p) -> Tensor: the logarithm of the p-dimensional gamma function.

    RuntimeError for p below 1, or above 65536, which would take minutes.

    >>> import autograd_cy as ag
    >>> ag.mvlgamma(ag.tensor([2.0, 5.0]), 2)
    tensor([0.4516, 6.2042])
    """
    if p < 1:
        raise RuntimeError("p has to be greater than or equal to 1")
    if p > MOST_DIMENSIONS:
        raise RuntimeError(f"mvlgamma(): p has to be at most {MOST_DIMENSIONS}, but got {p}")
    cdef Tensor given = as_tensor(input, "mvlgamma")
    cdef object x = as_type(given, dtype_of(to_inexact(code_of(given.array)))), total = x.lgamma()
    if isinstance(p, np.generic):
        p = operator.index(p)
    for k in range(1, p):
        total = total + (x - 0.5 * k).lgamma()
    return total + p * (p - 1) * math.log(math.pi) / 4


@op(namespace="special", kind="elementwise")
def airy_ai(input):
    """airy_ai(input) -> Tensor: Airy's function Ai. Not differentiable. Needs SciPy: pip install 'autograd_cy[scipy]'.

    >>> import autograd_cy as ag
    >>> ag.special.airy_ai(ag.tensor([0.0, 1.0]))
    tensor([0.3550, 0.1353])
    """
    cdef Tensor x = as_tensor(input, "airy_ai")
    cdef int dtype_code = to_inexact(code_of(x.array))
    if is_half(dtype_code) or dtype_code > FLOAT64:
        raise NotImplementedError(f"\"airy_ai_cpu\" not implemented for '{type_word(dtype_code)}' (airy_ai() is not "
                                  f"implemented for tensors of type {dtype_of(dtype_code)})")
    try:
        from scipy.special import airy
    except ImportError:
        raise ImportError("airy_ai() needs SciPy: pip install 'autograd_cy[scipy]'") from None
    return shown("airy_ai", new_tensor(np.asarray(airy(copy_in_order(x.array, dtype_code))[0])), (x,))


def derivative_of_digamma(Tensor self, n: int):
    """polygamma(n) -> Tensor: the n-th derivative of digamma()."""
    return polygamma(n, self)


def polygamma_(Tensor self, n: int):
    """polygamma_(n) -> Tensor: polygamma() written into the tensor's own memory."""
    return in_place("polygamma_", derivative_of_digamma, self, (n,))


def mvlgamma_(Tensor self, p: int):
    """mvlgamma_(p) -> Tensor: mvlgamma() written into the tensor's own memory."""
    return in_place("mvlgamma_", mvlgamma, self, (p,))


extend("polygamma", derivative_of_digamma)
inplace_op(polygamma_, batch=on_values)
inplace_op(mvlgamma_, mvlgamma)
declare_rule(derivative_of_digamma, on_values)
