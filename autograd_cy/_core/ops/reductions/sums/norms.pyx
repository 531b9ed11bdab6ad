"""The norms of vectors."""

from math import inf, isinf

import numpy as np

cimport cython
from cpython.object cimport PyObject

from autograd_cy._core.arrays.buffers cimport MAX_DIMS, cast, new_zeros
from autograd_cy._core.arrays.dtypes cimport (
    COMPLEX64, FLOAT16, FLOAT32, NCODES, as_dtype, code_of, is_half, promote, to_complex, to_real, type_word)
from autograd_cy._core.engine.engine cimport limit_of_quotient
from autograd_cy._core.graph.context cimport note_zero_norm
from autograd_cy._core.graph.node cimport saved_array, saved_like, unpack
from autograd_cy._core.graph.record cimport as_tensor, needs_node
from autograd_cy._core.graph.tensor cimport Tensor, new_tensor
from autograd_cy._core.kernels.loops cimport Kernel, borrow, evaluate
from autograd_cy._core.kernels.reduction_loops cimport (
    DEVIATING, LARGEST, SIGNED, SMALLEST, SUM, SUM_OF_SIZES, SUM_OF_SQUARES, Dims, divided, pairs_of, reduced, reduced_sizes)
from autograd_cy._core.ops.out_argument cimport call_into
from autograd_cy._core.runtime cimport numpy_api as cnp
from autograd_cy._core.runtime.state cimport FORWARD_AD, current_mode

from autograd_cy._core.batching.rules import Along
from autograd_cy._core.ops.registry import op


cdef Kernel[NCODES] SQRT, ABSOLUTE, POWER


cdef cnp.ndarray call1(Kernel *kernels, cnp.ndarray a, int result, cnp.ndarray out):
    """Call a borrowed loop of one argument; the result goes to `out` or (None) a new array of type `result`."""
    cdef PyObject *operands[1]
    operands[0] = <PyObject *> a
    return evaluate(&kernels[code_of(a)], operands, 1, result, out)


cdef cnp.ndarray call2(Kernel *kernels, cnp.ndarray a, cnp.ndarray b, cnp.ndarray out):
    """Call a borrowed loop of two arguments."""
    cdef PyObject *operands[2]
    operands[0] = <PyObject *> a
    operands[1] = <PyObject *> b
    return evaluate(&kernels[code_of(a)], operands, 2, code_of(a), out)


@cython.final
cdef class LinalgVectorNormBackward0(FusedReduction):
    """Third constant: the order."""

    cdef tuple saved_names(self):
        return ("self", None, "result")

    cdef tuple constant_names(self):
        return ("dim", "keepdim", "ord")

    cdef object vjp(self, object g, int i):
        # it counts nonzero elements, which is locally constant; PyTorch gives it no gradient at all
        if self.constants[2] == 0:
            return None
        cdef object y, limit
        if self.constants[2] == 1:      # the gradient of order 1 is sgn(x) g
            return WeightedReduction.vjp(self, g, i)
        y = unpack(self, 2)
        result = WeightedReduction.vjp(self, g.where(y != 0, 0), i)
        if self.constants[2] != 2 or (limit := limit_of_quotient(self, g, y)) is None:
            return result
        return result + in_type(self.spread(limit) * self.computed_in(), self.dtype_codes[0])

    cdef object jvp(self, tuple tangents):
        if self.constants[2] == 0:
            return new_tensor(np.zeros_like(saved_array(self, 2)))
        return WeightedReduction.jvp(self, tangents)

    cdef Kernel *kernel(self, int dtype_code) except? NULL:
        if self.constants[2] == 2:
            return &DEVIATING[dtype_code]
        return &SIGNED[dtype_code] if self.constants[2] == 1 else NULL

    cdef tuple operands(self, cnp.ndarray x, cnp.ndarray g, Dims dims):
        cdef cnp.ndarray y = saved_like(self, 2, g)
        if self.constants[2] == 1:
            return g, g
        if code_of(y) != code_of(g):
            y = cast(y, code_of(g))
        cdef cnp.ndarray s = divided(g, y, 1)
        return (new_zeros(code_of(x), 0, NULL), s) if quotients_fit(s, g, y) else None

    cdef object weights(self):
        """The derivative of the norm; it is 0 where the norm is 0."""
        p = self.constants[2]
        x = self.computed_in()
        if p == 1:
            return x.sgn()
        if isinf(p):
            return x.sgn() * self.shares()
        y = unpack(self, 2)
        if p == 2:
            return x / self.spread(y.where(y != 0, inf))
        size = x.abs()
        scaled = size.where(size != 0, 1) / self.spread(y.where(y != 0, 1))
        return (x.sgn() * scaled ** (p - 1)).where(self.spread(y != 0), 0)

    cdef object computed_in(self):
        """The input in the type in which the norm was computed."""
        cdef int dtype_code = self.dtype_codes[1]
        return in_type(unpack(self, 0), to_complex(dtype_code) if self.dtype_codes[0] >= COMPLEX64 else dtype_code)

    cdef object shares(self):
        """For each largest (smallest) element one over their number, 0 for others."""
        cdef cnp.ndarray x = saved_array(self, 0)
        y = (<Tensor> self.spread(unpack(self, 2))).array
        equal = np.absolute(x) == y
        count = np.maximum(np.sum(equal, self.constants[0] if cnp.PyArray_NDIM(x) else None, keepdims=True), 1)
        return new_tensor(cast(np.asarray(np.divide(equal, count)), code_of(y)))


cdef cnp.ndarray square_root(cnp.ndarray array):
    """The square root, computed in place."""
    return call1(SQRT, array, code_of(array), array)


cdef cnp.ndarray norm_of(cnp.ndarray array, object order, Dims dims, bint keepdim):
    """The norm of floats or complex numbers; float16 is computed in float32."""
    cdef int dtype_code = code_of(array)
    cdef double p = order
    if is_half(dtype_code):
        return cast(norm_of(cast(array, FLOAT32), order, dims, keepdim), dtype_code)
    if p == 2:
        return roots_of_sums(array, sum_of_squares(array, dims, keepdim), order, dims, keepdim)
    if p == 1 and dtype_code < COMPLEX64:
        return reduced(&SUM_OF_SIZES, array, dims, keepdim)
    if dtype_code >= COMPLEX64 or p != 0:
        array = call1(ABSOLUTE, array, to_real(dtype_code), None)
    if p == inf or p == -inf:
        return reduced(&LARGEST if p > 0 else &SMALLEST, array, dims, keepdim)
    if p == 0:
        return reduced(&SUM, np.asarray(np.not_equal(array, 0), array.dtype), dims, keepdim)
    if p == 1:
        return reduced(&SUM, array, dims, keepdim)
    powers = call2(POWER, array, np.array(order, array.dtype), None)
    return roots_of_sums(array, reduced(&SUM, powers, dims, keepdim), order, dims, keepdim)


cdef object exponent_of_root(object order, object descr):
    """One over the order, in the precision of the type."""
    return 1 / (np.longdouble(order) if descr.char == "g" else float(order))


cdef cnp.ndarray roots_of_sums(cnp.ndarray array, cnp.ndarray total, object order, Dims dims, bint keepdim):
    """Turn sums of powers into norms, in place. Norms with a sum out of the range of the type are computed again."""
    cdef int ndim = cnp.PyArray_NDIM(array)
    cdef double p = order
    cdef object lost = None
    if not in_range(total) and not (p > 0 and zeros_are_exact(total, array, dims, False)):
        lost = lost_sums(array, total, p, dims, keepdim)
    total = square_root(total) if p == 2 else call2(
        POWER, total, np.array(exponent_of_root(order, total.dtype), total.dtype), total)
    if lost is None or not lost.any():
        return total
    kept = tuple([d for d in range(ndim) if not dims >> d & 1])
    if not kept:
        return rescaled_norm(array, order, dims, keepdim)
    rows = array.transpose(kept + tuple([d for d in range(ndim) if dims >> d & 1]))
    rows = rows[lost.reshape([array.shape[d] for d in kept])]
    total[lost] = rescaled_norm(rows, order, ((<Dims> 1) << <int> rows.ndim) - 2, False)
    return total


cdef object lost_sums(cnp.ndarray array, cnp.ndarray total, double p, Dims dims, bint keepdim):
    """Which sums of powers left the range; sums that are 0 because all elements are 0 don't count."""
    limits = np.finfo(total.dtype)
    with np.errstate(all="ignore"):
        lost = ~((total >= limits.tiny / limits.eps) & (total <= limits.max) | np.isnan(total))
        zero = lost & (total == 0)
        if p > 0 and zero.any():
            sizes = array if code_of(array) < COMPLEX64 else call1(ABSOLUTE, array, to_real(code_of(array)), None)
            lost &= ~(zero & (reduced(&SUM_OF_SIZES, sizes, dims, keepdim) == 0))
    return np.asarray(lost)


cdef cnp.ndarray rescaled_norm(cnp.ndarray array, object order, Dims dims, bint keepdim):
    """The norm if a sum of powers is out of range. Elements are divided by a power of two near the largest one, or, if p is
    negative, near the smallest."""
    cdef tuple axes = dim_tuple(dims) if cnp.PyArray_NDIM(array) else ()
    cdef double p = order
    with np.errstate(all="ignore"):
        sizes = np.asarray(np.absolute(array))
        ends = sizes.max(axes, keepdims=True, initial=0) if p > 0 else sizes.min(axes, keepdims=True, initial=np.inf)
        scale = scales_of(ends)
        array = np.asarray(sizes / scale)
        scale = scale.reshape(reduced_sizes(array, dims, keepdim))
        total = reduced(&SUM, np.asarray(array * array if p == 2 else array**order, array.dtype), dims, keepdim)
        root = np.sqrt(total) if p == 2 else total ** exponent_of_root(order, total.dtype)
        return np.asarray(root * scale, array.dtype)


cdef cnp.ndarray sum_of_squares(cnp.ndarray array, Dims dims, bint keepdim):
    """The sum of |x|^2; complex numbers are read as pairs of real ones."""
    cdef int ndim = cnp.PyArray_NDIM(array), dtype_code = code_of(array)
    if dtype_code < COMPLEX64:
        return reduced(&SUM_OF_SQUARES, array, dims, keepdim)
    if ndim == MAX_DIMS:
        array = call1(ABSOLUTE, array, to_real(dtype_code), None)
        return reduced(&SUM_OF_SQUARES, array, dims, keepdim)
    cdef cnp.ndarray total = reduced(&SUM_OF_SQUARES, pairs_of(array), dims | (<Dims> 1) << ndim, keepdim)
    return total.reshape(reduced_sizes(array, dims, True)) if keepdim else total


cdef int norm_code(cnp.ndarray array, object wanted) except -1:
    """The type to compute in: the input's, or `wanted`, which must be as wide, and complex if the input is."""
    cdef int own = code_of(array), dtype_code
    if own < FLOAT16:
        raise RuntimeError(f"linalg.vector_norm: Expected a floating point or complex tensor as input. Got {type_word(own)}")
    if wanted is None:
        return own
    dtype_code = as_dtype(wanted).dtype_code
    if (dtype_code >= COMPLEX64) != (own >= COMPLEX64):
        kind = "complex" if own >= COMPLEX64 else "real"
        raise RuntimeError(f"linalg.vector_norm: dtype should be {kind} for {kind} inputs, but got {type_word(dtype_code)}")
    if promote(own, dtype_code) != dtype_code:
        raise RuntimeError(f"linalg.vector_norm: the dtype of the input ({type_word(own)}) should be convertible without "
                           f"narrowing to the specified dtype ({type_word(dtype_code)})")
    return dtype_code


cdef object order_of(object p):
    """The order as a number; 2 for 'fro' and None."""
    if p is None or (isinstance(p, str) and p == "fro"):
        return 2
    if isinstance(p, str):
        raise NotImplementedError(f"norm(): only norms of vectors are supported, not p={p!r}")
    return p.item() if isinstance(p, Tensor) else p


@op(methods=("norm",), batch=Along("dim", "all"))
def norm(input, p="fro", dim=None, keepdim=False, out=None, dtype=None):
    """norm(input, p='fro', dim=None, keepdim=False, dtype=None) -> Tensor: the p-norm of all elements, or along `dim`.

    The p-th root of the sum of |x| ** p; p=inf and -inf: the largest and smallest |x|; p=0: the number of nonzeros; 'fro' is
    2. Its gradient is 0 where the norm is 0. RuntimeError for integers.

    >>> import autograd_cy as ag
    >>> ag.norm(ag.tensor([3.0, 4.0]))
    tensor(5.)
    """
    cdef Tensor x = as_tensor(input, "norm")
    if out is not None:
        return call_into(norm, (input, p, dim, keepdim), {"out": out, "dtype": dtype})
    order = order_of(p)
    cdef int dtype_code = norm_code(x.array, dtype)
    cdef Dims dims = dims_of(dim, cnp.PyArray_NDIM(x.array), "norm")
    check_identity(x.array, order, dims, dim is None)
    cdef cnp.ndarray array = x.array if dtype_code == code_of(x.array) else cast(x.array, dtype_code)
    cdef Tensor y = new_tensor(norm_of(array, order, dims, keepdim))
    if not needs_node(x):
        return y
    if current_mode() & FORWARD_AD and order == 2 and not np.all(y.array):
        note_zero_norm()                # case 3 of NOTE [Norms of 0]
    record_reduction(LinalgVectorNormBackward0, (None if dim is None else dim_tuple(dims), keepdim, order), x, y,
                     SAVES_INPUT | SAVES_OUTPUT)
    return y


cdef int check_identity(cnp.ndarray array, double p, Dims dims, bint all_of_them) except -1:
    """Refuse norms of empty operands that have no value."""
    cdef int axis
    if p >= 0 and p != inf:
        return 0
    for axis in range(cnp.PyArray_NDIM(array)):
        if dims >> axis & 1 and cnp.PyArray_DIM(array, axis) == 0:
            where = "an empty tensor because the operation" if all_of_them else (
                f"the dimension {axis} because this dimension is empty and the operation")
            raise RuntimeError(f"linalg.vector_norm cannot compute the {p:g} norm on {where} does not have an identity")
    return 0


def real_code(dtype_code):
    return to_real(dtype_code)


borrow(SQRT, np.sqrt, lambda dtype_code: dtype_code)
borrow(POWER, np.power, lambda dtype_code: dtype_code)
borrow(ABSOLUTE, np.absolute, real_code)
