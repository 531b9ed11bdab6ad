"""``torch.sparse`` (facade): functions on sparse tensors. Imported when asked for.

A sparse tensor has `indices` and `values`; all other elements are 0. There are the layouts COO (any number of sparse
dimensions, and dense ones behind them) and CSR (matrices). What has no implementation for sparse tensors raises
NotImplementedError.
"""

from typing import Any

from .._compat import names_later as _names_later
from .._compat.missing import getattr_of as _getattr_of
from .._core.runtime.entry import public as _public
from .._functional import names as _operations
from . import _names  # noqa: F401  it attaches the methods
from ._invariants import check_sparse_tensor_invariants
from ._products import addmm as _addmm
from ._products import cast_as_mm as _cast_as_mm
from ._products import product as _product
from ._products import sampled_addmm
from ._reductions import log_softmax, softmax, sum
from ._tensor import SparseTensor as _SparseTensor

__all__ = [
    "addmm", "as_sparse_gradcheck", "check_sparse_tensor_invariants", "from_scipy", "log_softmax", "mm", "sampled_addmm",
    "softmax", "spdiags", "spsolve", "sum", "to_scipy",
]  # fmt: skip


@_public
def mm(mat1: Any, mat2: Any, reduce: str | None = None) -> Any:
    """``mm(mat1, mat2)`` is the product of a sparse matrix and a dense one, or another sparse one, which makes a sparse one.

    >>> import autograd_cy as ag
    >>> ag.sparse.mm(ag.tensor([[0.0, 2.0]]).to_sparse(), ag.tensor([[1.0], [3.0]]))
    tensor([[6.]])
    """
    if reduce not in (None, "sum"):
        raise NotImplementedError(f"sparse.mm(): there is no reduce={reduce!r}: sums alone")
    if type(mat1) is not _SparseTensor and type(mat2) is not _SparseTensor:
        return _operations.mm(mat1, mat2)
    if type(mat1) is not _SparseTensor or type(mat2) is not _SparseTensor:
        mat1, mat2 = _cast_as_mm(mat1, mat2)
    return _product(mat1, mat2)


@_public
def addmm(mat: Any, mat1: Any, mat2: Any, *, beta: Any = 1, alpha: Any = 1) -> Any:
    """``addmm(mat, mat1, mat2, beta=1, alpha=1)`` is beta * mat + alpha * (mat1 @ mat2), for a sparse `mat1`.

    >>> import autograd_cy as ag
    >>> ag.sparse.addmm(ag.ones(1, 1), ag.tensor([[0.0, 2.0]]).to_sparse(), ag.tensor([[1.0], [3.0]]))
    tensor([[7.]])
    """
    if not any(type(x) is _SparseTensor for x in (mat, mat1, mat2)):
        return _operations.addmm(mat, mat1, mat2, beta=beta, alpha=alpha)
    mat, mat1, mat2 = _cast_as_mm(mat, mat1, mat2)
    return _addmm(mat, mat1, mat2, beta=beta, alpha=alpha)


_TYPED = ["ByteTensor", "CharTensor", "DoubleTensor", "FloatTensor", "HalfTensor", "IntTensor", "LongTensor", "ShortTensor"]

__getattr__, __dir__ = _names_later(
    __name__,
    {
        "_typed": _TYPED, "_scipy": ["from_scipy", "to_scipy", "spsolve"], "_diagonals": ["spdiags"],
        "_gradcheck": ["as_sparse_gradcheck"],
    },
    _getattr_of(__name__, "torch.sparse"),
)  # fmt: skip
