"""Functions for sparse tensors outside of `torch.sparse`, and the methods of Tensor for them (facade)."""

import functools
from typing import Any

from .._core.graph.tensor import extend
from .._core.runtime.entry import public
from .._types.layout import sparse_csr
from . import _attributes, _construction, _elementwise, _products, _reductions, _shapes, _text  # noqa: F401
from ._construction import sparse_coo_tensor, sparse_csr_tensor
from ._tensor import TABLE, SparseTensor, refused

__all__ = [
    "dsmm", "hsmm", "hspmm", "resize_as_sparse_", "smm", "sparse_compressed_tensor", "sparse_coo_tensor", "sparse_csr_tensor",
    "spmm",
]  # fmt: skip


@public
def sparse_compressed_tensor(
    compressed_indices: Any, plain_indices: Any, values: Any, size: Any = None, *, layout: Any = None, **options: Any
) -> Any:
    """``sparse_compressed_tensor(crow, col, values, size, layout=sparse_csr)`` is sparse_csr_tensor() for that layout.

    >>> import autograd_cy as ag
    >>> ag.sparse_compressed_tensor([0, 1], [0], [2.0], (1, 2), layout=ag.sparse_csr).to_dense()
    tensor([[2., 0.]])
    """
    if layout is not sparse_csr:
        raise NotImplementedError(
            f"sparse_compressed_tensor(): there are tensors of the layout torch.sparse_csr, not of {layout}"
        )
    return sparse_csr_tensor(compressed_indices, plain_indices, values, size, **options)


def _mm(input: Any, mat2: Any, name: str) -> Any:
    if type(input) is not SparseTensor and type(mat2) is not SparseTensor:
        return input.mm(mat2)
    return _products.product(input, mat2, name)


@public
def spmm(input: Any, mat2: Any) -> Any:
    """``spmm(input, mat2)`` is the product of two matrices, as mm(): the older name for a sparse and a dense one.

    >>> import autograd_cy as ag
    >>> ag.spmm(ag.eye(2).to_sparse(), ag.tensor([[1.0], [2.0]]))
    tensor([[1.],
            [2.]])
    """
    return _mm(input, mat2, "spmm")


@public
def dsmm(input: Any, mat2: Any) -> Any:
    """``dsmm(input, mat2)`` is mm(input, mat2).

    >>> import autograd_cy as ag
    >>> ag.dsmm(ag.ones(1, 2), ag.eye(2).to_sparse())
    tensor([[1., 1.]])
    """
    return _mm(input, mat2, "dsmm")


@public
def smm(input: Any, mat: Any) -> Any:
    """``smm(input, mat)`` is mm(input, mat) for a sparse `input`.

    >>> import autograd_cy as ag
    >>> ag.smm(ag.eye(2).to_sparse(), ag.ones(2, 1).to_sparse()).to_dense()
    tensor([[1.],
            [1.]])
    """
    if type(input) is not SparseTensor:
        raise refused("smm", [input])
    return _products.product(input, mat, "smm")


@public
def hspmm(mat1: Any, mat2: Any) -> Any:
    """``hspmm(mat1, mat2)`` is the product of a sparse and a dense matrix, as a sparse tensor of the rows that have values.

    >>> import autograd_cy as ag
    >>> ag.hspmm(ag.tensor([[0.0, 0.0], [1.0, 0.0]]).to_sparse(), ag.ones(2, 2)).indices()
    tensor([[1]])
    """
    if type(mat1) is not SparseTensor or type(mat2) is SparseTensor:
        raise refused("hspmm", [mat1, mat2])
    return _products.hspmm(mat1, mat2)


hsmm = hspmm


def resize_as_sparse_(input: Any, the_template: Any) -> Any:
    """``resize_as_sparse_(input, template)`` is ``input.resize_as_sparse_(template)``.

    >>> import autograd_cy as ag
    >>> empty = ag.zeros(1, 1).to_sparse()
    >>> ag.resize_as_sparse_(empty, ag.ones(2, 3).to_sparse()).shape
    torch.Size([2, 3])
    """
    return input.resize_as_sparse_(the_template)


_METHODS = {
    "_coalesced_": "_coalesced_(flag) -> Tensor: itself, which is taken for coalesced or not from now on.",
    "_indices": "_indices() -> Tensor: indices(), also of a tensor that is not coalesced.",
    "_nnz": "_nnz() -> int: how many values a sparse tensor holds.",
    "_values": "_values() -> Tensor: the values without history, also of a tensor that is not coalesced.",
    "coalesce": "coalesce() -> Tensor: the sparse tensor with its places in order, each there once.",
    "col_indices": "col_indices() -> Tensor: the columns of the values of a CSR tensor.",
    "crow_indices": "crow_indices() -> Tensor: where each row of a CSR tensor begins, and where the last one ends.",
    "dense_dim": "dense_dim() -> int: how many dimensions each value has.",
    "indices": "indices() -> Tensor: the places of the values of a coalesced COO tensor, one in each column.",
    "is_coalesced": "is_coalesced() -> bool: whether the places of a COO tensor are in order, each there once.",
    "resize_as_sparse_": "resize_as_sparse_(other) -> Tensor: sparse_resize_() to the sizes of another tensor.",
    "smm": "smm(mat) -> Tensor: the product of a sparse matrix with another matrix.",
    "sparse_dim": "sparse_dim() -> int: how many dimensions the indices name; 0 for a dense tensor.",
    "sparse_mask": "sparse_mask(mask) -> Tensor: a sparse tensor with the elements at the places of a sparse one.",
    "sparse_resize_": "sparse_resize_(size, sparse_dim, dense_dim) -> Tensor: other sizes for one without values.",
    "sparse_resize_and_clear_": "sparse_resize_and_clear_(size, sparse_dim, dense_dim) -> Tensor: sparse_resize_().",
    "sspaddmm": "sspaddmm(mat1, mat2, *, beta=1, alpha=1) -> Tensor: beta * self + alpha * (mat1 @ mat2) of sparse matrices.",
    "to_sparse": "to_sparse(sparse_dim=None, *, layout=None) -> Tensor: the elements that are not 0, as a sparse tensor.",
    "to_sparse_coo": "to_sparse_coo() -> Tensor: to_sparse() in the layout sparse_coo.",
    "to_sparse_csr": "to_sparse_csr(dense_dim=None) -> Tensor: a matrix in the layout sparse_csr.",
    "values": "values() -> Tensor: the values of a coalesced COO tensor or a CSR tensor.",
}


def _method(name: str, function: Any, doc: str, of_sparse: bool) -> None:
    """Attach a function of the table to Tensor; `of_sparse`: a dense tensor is refused here."""

    @public
    @functools.wraps(function)
    def method(self: Any, *args: Any, **kwargs: Any) -> Any:
        if of_sparse and type(self) is not SparseTensor:
            raise NotImplementedError(
                f"Could not run 'aten::{name}' with arguments from the 'CPU' backend: {name}() is for sparse tensors"
            )
        return function(self, *args, **kwargs)

    method.__name__ = method.__qualname__ = name
    method.__doc__ = doc
    extend(name, method)


for _name, _doc in _METHODS.items():
    _method(
        _name,
        TABLE[_name],
        _doc,
        _name in ("resize_as_sparse_", "smm", "sparse_resize_", "sparse_resize_and_clear_", "sspaddmm"),
    )
