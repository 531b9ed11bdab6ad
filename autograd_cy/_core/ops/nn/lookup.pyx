"""nn.functional.embedding: indices first, negative padding rows, and renormalization of rows."""

from autograd_cy._core.graph.record cimport tensor_argument
from autograd_cy._core.graph.tensor cimport Tensor
from autograd_cy._core.runtime cimport numpy_api as cnp
from autograd_cy._core.runtime.state cimport NO_GRAD, Extent, enter_modes, leave_modes

from autograd_cy._core.batching.rules import COMPOSITE
from autograd_cy._core.ops.nn.embedding import embedding as rows_of, embedding_renorm_
from autograd_cy._core.ops.registry import op

cnp.import_array()


cdef Py_ssize_t padding_row(object padding_idx, Tensor weight) except -2:
    """The padding row, counted from the front; -1 if there is none."""
    cdef Py_ssize_t n
    if padding_idx is None:
        return -1
    n = cnp.PyArray_DIM(weight.array, 0) if cnp.PyArray_NDIM(weight.array) else 0
    if not -n <= padding_idx < n:
        raise AssertionError("Padding_idx must be within num_embeddings")
    return padding_idx + n if padding_idx < 0 else padding_idx


cdef int shorten(object weight, object indices, object max_norm, object norm_type) except -1:
    """embedding_renorm_ without recording."""
    cdef Extent extent = enter_modes(NO_GRAD, 0)
    try:
        embedding_renorm_(weight.detach(), indices, max_norm, norm_type)
    finally:
        leave_modes(extent)
    return 0


@op(namespace="nn.functional", batch=COMPOSITE)
def embedding(input, weight, padding_idx=None, max_norm=None, norm_type=2.0, scale_grad_by_freq=False, sparse=False):
    """embedding(input, weight, padding_idx=None, max_norm=None, norm_type=2.0, scale_grad_by_freq=False) -> Tensor: rows.

    The rows of `weight` (n, d) at the integers `input`, in a tensor (*input.shape, d). Row `padding_idx` (negative: from the
    end) gets no gradient. With `max_norm`, the rows that are read are first shortened to that norm, in place. With
    `scale_grad_by_freq`, a row's gradient is divided by how often the row was read. IndexError for an index that is
    negative or too large. With `sparse`, the gradient of the weight is a sparse tensor.

    >>> import autograd_cy as ag
    >>> ag.nn.functional.embedding(ag.tensor([1, 0]), ag.tensor([[1.0, 2.0], [3.0, 4.0]]))
    tensor([[3., 4.],
            [1., 2.]])
    """
    cdef Tensor w = tensor_argument(weight, "embedding", "weight", 2)
    cdef Py_ssize_t row = padding_row(padding_idx, w)
    tensor_argument(input, "embedding", "input", 1)
    if max_norm is not None:
        shorten(w, input, max_norm, norm_type)
    return rows_of(w, input, row, scale_grad_by_freq, sparse)
