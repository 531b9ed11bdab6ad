"""Distances between the rows of two matrices."""

import numpy as np

cimport cython

from autograd_cy._core.arrays.buffers cimport cast
from autograd_cy._core.arrays.dtypes cimport (
    FLOAT16, FLOAT32, FLOAT64, check_has_kernel, code_of, is_half, type_word)
from autograd_cy._core.engine.engine cimport limit_of_quotient
from autograd_cy._core.graph.context cimport note_zero_norm
from autograd_cy._core.graph.node cimport Node, Request, save_input, save_output, saved_array, unpack
from autograd_cy._core.graph.record cimport needs_node, new_node, record2, shape_of, tensor_argument
from autograd_cy._core.graph.tensor cimport Tensor, new_tensor
from autograd_cy._core.kernels.gemm cimport distances, pulls
from autograd_cy._core.ops.reductions.sums cimport in_range, scales_of
from autograd_cy._core.runtime cimport numpy_api as cnp
from autograd_cy._core.runtime.state cimport FORWARD_AD, current_mode

from autograd_cy._core.batching.batched import rank_of
from autograd_cy._core.batching.rules import COMPOSITE
from autograd_cy._core.ops.registry import op

MANY = 25               # rows; above this, PyTorch computes squared distances by a product of matrices
MODES = ("use_mm_for_euclid_dist_if_necessary", "use_mm_for_euclid_dist", "donot_use_mm_for_euclid_dist")


cdef class Distances(Node):
    """The node of Euclidean distances. The gradient of a distance of 0 is 0. Constants: p, the sizes of both operands."""

    cdef tuple saved_names(self):
        return ("x1", "x2", "result")

    cdef object vjp(self, object g, int i):
        a, b, y = unpack(self, i), unpack(self, 1 - i), unpack(self, 2)
        limit = limit_of_quotient(self, g, y)
        y = y.masked_fill(y == 0, np.inf)
        if i:
            g, y, limit = g.transpose(-2, -1), y.transpose(-2, -1), None if limit is None else limit.transpose(-2, -1)
        result = self.against(a, b, g, y)
        if limit is not None:
            result = result + self.against(a, b, limit, y.new_ones(()).expand(y.shape))
        return result.sum_to_size(self.constants[1 + i])

    cdef object against(self, object a, object b, object g, object y):
        """For each row of `a`, the sum over the rows of `b` of their difference times g / y."""
        raise NotImplementedError


@cython.final
cdef class CdistBackward0(Distances):
    cdef tuple constant_names(self):
        return ("p", None, None)

    cdef object vjp_array(self, object g, int i, Request *request):
        cdef object y = saved_array(self, 2), a = saved_array(self, i), b = saved_array(self, 1 - i)
        if a.shape != self.constants[1 + i] or a.shape[:-2] != y.shape[:-2] or g.shape != y.shape or is_half(code_of(a)):
            return Node.vjp_array(self, g, i, request)
        return pulls(a, b, np.swapaxes(g, -2, -1), np.swapaxes(y, -2, -1)) if i else pulls(a, b, g, y)

    cdef object against(self, object a, object b, object g, object y):
        return (g.unsqueeze(-1) * ((a.unsqueeze(-2) - b.unsqueeze(-3)) / y.unsqueeze(-1))).sum(-2)


@cython.final
cdef class EuclideanDistBackward0(Distances):
    cdef object against(self, object a, object b, object g, object y):
        """Rows and distances are divided by a power of two if quotients, here and in derivatives, might leave the range of the
        type."""
        ends = (<object> (<Tensor> unpack(self, 2)).array).max((-2, -1), keepdims=True, initial=0)
        if not ((ends > 1e-8) & (ends < 1e8)).all():
            each = new_tensor(scales_of(ends))          # one scale for each pair of matrices
            a, b, y = a / each, b / each, y / each
        slope = g / y
        return a * slope.sum(-1, keepdim=True) - slope @ b


cdef object by_products(object a, object b):
    """Falls back to differences if squares leave the range of the type."""
    with np.errstate(over="ignore", invalid="ignore"):
        first, second = np.sum(a * a, -1), np.sum(b * b, -1)
        if not (squares_fit(first, a) and squares_fit(second, b)):
            return distances(a, b)
        squares = first[..., :, None] + second[..., None, :] - 2 * (a @ np.swapaxes(b, -2, -1))
        return np.sqrt(np.maximum(squares, 0))


cdef bint squares_fit(object squares, object rows):
    """Whether no sum of squares of a row has left the range of the type, or is so near its end that twice it might."""
    return in_range(np.asarray(squares * 4)) or in_range(np.where(rows.any(-1), squares * 4, 1))


cdef object by_differences(object a, object b):
    if is_half(code_of(a)):
        return cast(distances(cast(a, FLOAT32), cast(b, FLOAT32)), code_of(a))
    return distances(a, b)


cdef Tensor euclidean(Tensor a, Tensor b, bint as_product):
    cdef Tensor y = new_tensor(by_products(a.array, b.array) if as_product else by_differences(a.array, b.array))
    if needs_node(a) or needs_node(b):
        node = new_node(EuclideanDistBackward0 if as_product else CdistBackward0, (2.0, shape_of(a), shape_of(b)))
        save_input(node, 0, a)
        save_input(node, 1, b)
        save_output(node, y)
        record2(node, y, a, b)
        if current_mode() & FORWARD_AD and not np.all(y.array):
            note_zero_norm()                # case 3 of NOTE [Norms of 0]
    return y


cdef int check_operands(Tensor a, Tensor b, object p, object compute_mode) except -1:
    cdef Tensor x
    for name, x in (("X1", a), ("X2", b)):
        if cnp.PyArray_NDIM(x.array) < 2:
            raise RuntimeError(f"cdist only supports at least 2D tensors, {name} got: {cnp.PyArray_NDIM(x.array)}D")
        check_has_kernel(code_of(x.array), "cdist")
        if not FLOAT16 <= code_of(x.array) <= FLOAT64:
            raise RuntimeError(f"cdist only supports floating-point dtypes, {name} got: {type_word(code_of(x.array))}")
    if shape_of(a)[-1] != shape_of(b)[-1]:
        raise RuntimeError("X1 and X2 must have the same number of columns. X1: "
                           f"{shape_of(a)[-1]} X2: {shape_of(b)[-1]}")
    if p < 0:
        raise RuntimeError("cdist only supports non-negative p values")
    if compute_mode is not None and compute_mode not in MODES:
        raise ValueError(f"{compute_mode} is not a valid value for compute_mode")
    return 0


def batched_distances(call, x1, x2, *args, **kwargs):
    cdef int rank = max(rank_of(x1), rank_of(x2))
    if min(rank_of(x1), rank_of(x2)) < 2:
        call.on_sample(x1, x2)
    return call(call.aligned(x1, rank), call.aligned(x2, rank), *args, **kwargs)


@op(batch=batched_distances)
def cdist(x1, x2, p=2.0, compute_mode: str | None = None):
    """cdist(x1, x2, p=2.0, compute_mode=None) -> Tensor: the p-norms of the differences of each row of `x1` and each of `x2`.

    Batches (..., m, d) and (..., n, d) are broadcast; the result is (..., m, n). With more than 25 rows, the squares of
    Euclidean distances come from a product of matrices. That is fast, but distances that are small compared to the rows lose
    digits. compute_mode 'use_mm_for_euclid_dist' and 'donot_use_mm_for_euclid_dist' force or forbid it for all sizes.

    >>> import autograd_cy as ag
    >>> ag.cdist(ag.tensor([[0.0, 0.0]]), ag.tensor([[3.0, 4.0], [0.0, 1.0]]))
    tensor([[5., 1.]])
    """
    cdef Tensor a = tensor_argument(x1, "cdist", "x1", 1), b = tensor_argument(x2, "cdist", "x2", 2)
    check_operands(a, b, p, compute_mode)
    if p != 2 or code_of(a.array) != code_of(b.array):
        return (x1.unsqueeze(-2) - x2.unsqueeze(-3)).norm(float(p), dim=-1)
    many = max(shape_of(a)[-2], shape_of(b)[-2]) > MANY if compute_mode in (None, MODES[0]) else compute_mode == MODES[1]
    return euclidean(a, b, many and not is_half(code_of(a.array)))


@op(batch=COMPOSITE)
def pdist(input, p: float = 2.0):
    """pdist(input, p=2.0) -> Tensor: the p-norms of the differences of all pairs of rows, (0, 1), (0, 2), ..., (1, 2), ...

    >>> import autograd_cy as ag
    >>> ag.pdist(ag.tensor([[0.0, 0.0], [3.0, 4.0], [3.0, 0.0]]))
    tensor([5., 3., 4.])
    """
    cdef Tensor x = tensor_argument(input, "pdist", "input", 1)
    if cnp.PyArray_NDIM(x.array) != 2:
        raise RuntimeError(f"pdist only supports 2D tensors, got: {cnp.PyArray_NDIM(x.array)}D")
    check_has_kernel(code_of(x.array), "pdist")
    if not FLOAT16 <= code_of(x.array) <= FLOAT64:
        raise RuntimeError("pdist only supports floating-point dtypes")
    if p < 0:
        raise RuntimeError("pdist only supports non-negative p values")
    first, second = [new_tensor(index) for index in np.triu_indices(cnp.PyArray_DIM(x.array, 0), 1)]
    return cdist(input, input, p, "donot_use_mm_for_euclid_dist")[first, second]
