"""hash_tensor: a number that two tensors share if they have the same elements."""

import numpy as np

from autograd_cy._core.arrays.buffers cimport cast
from autograd_cy._core.arrays.dtypes cimport COMPLEX64, FLOAT16, FLOAT64, INT64, LONGDOUBLE, UINT16, UINT64, code_of, type_word
from autograd_cy._core.graph.record cimport as_tensor, shown
from autograd_cy._core.graph.tensor cimport Tensor, new_tensor
from autograd_cy._core.kernels.reduction_loops cimport Dims
from autograd_cy._core.ops.reductions.sums cimport dim_tuple, dims_of
from autograd_cy._core.runtime cimport numpy_api as cnp

from autograd_cy._core.batching.rules import Along
from autograd_cy._core.ops.registry import op


@op(methods=("hash_tensor",), batch=Along("dim", "all"))
def hash_tensor(input, dim: _Dims = (), *, keepdim: bool = False, mode: int = 0):
    """hash_tensor(input, dim=(), *, keepdim=False, mode=0) -> Tensor: the bits of all elements, or along `dim`, joined by xor.

    Elements are converted to int64 or float64, whose bits are read as uint64, the dtype of the result. `mode` must be 0.
    RuntimeError or IndexError if there are no elements.

    >>> import autograd_cy as ag
    >>> ag.hash_tensor(ag.tensor([[1, 2], [7, 7]]), dim=1)
    tensor([3, 0], dtype=torch.uint64)
    """
    cdef Tensor x = as_tensor(input, "hash_tensor")
    cdef Dims dims = dims_of(dim, cnp.PyArray_NDIM(x.array), "hash_tensor")
    if mode != 0:
        raise RuntimeError(f"Unknown hash_tensor mode: {mode}")
    if type(dim) is tuple and not dim:
        check_some(x.array, "hash_tensor")
    check_not_empty(x.array, dims, "hash_tensor")
    return shown("hash_tensor", new_tensor(joined(x.array, dims, keepdim)), (x,))


cdef object joined(cnp.ndarray array, Dims dims, bint keepdim):
    cdef int dtype_code = code_of(array)
    if dtype_code >= COMPLEX64 or dtype_code == LONGDOUBLE or UINT16 <= dtype_code <= UINT64:
        raise NotImplementedError(f"\"xor_sum_cpu\" not implemented for '{type_word(dtype_code)}'")
    bits = cast(array, FLOAT64 if dtype_code >= FLOAT16 else INT64).view(np.uint64)
    return np.asarray(np.bitwise_xor.reduce(bits, dim_tuple(dims), keepdims=keepdim)) if bits.ndim else bits
