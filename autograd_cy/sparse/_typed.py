"""torch.sparse.FloatTensor and its kin, constructors of older programs (facade)."""

from typing import Any

from .._core.runtime.entry import public
from .._creation import typed as _dense
from ._construction import sparse_coo_tensor
from ._tensor import SparseTensor

__all__ = ["ByteTensor", "CharTensor", "DoubleTensor", "FloatTensor", "HalfTensor", "IntTensor", "LongTensor", "ShortTensor"]  # noqa: F822


class sparsetype(type):
    """The type of sparse.FloatTensor and the like: they make COO tensors of their dtype, which are their instances.

    >>> import autograd_cy as ag
    >>> ag.sparse.FloatTensor(ag.tensor([[0, 1]]), ag.tensor([3.0, 4.0]), ag.Size([3])).to_dense()
    tensor([3., 4., 0.])
    """

    dtype: Any

    @public
    def __call__(cls, *args: Any, **_: Any) -> Any:
        if len(args) >= 2 and not isinstance(args[0], int):
            return sparse_coo_tensor(*args[:3], dtype=cls.dtype)
        if len(args) == 1 and not isinstance(args[0], int):
            return sparse_coo_tensor(tuple(args[0]), dtype=cls.dtype)
        return sparse_coo_tensor(tuple(args) or (0,), dtype=cls.dtype)

    def __instancecheck__(cls, instance: Any) -> bool:
        return type(instance) is SparseTensor and instance.is_sparse and instance.dtype is cls.dtype


def __getattr__(name: str) -> Any:
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    made = sparsetype(name, (), {"dtype": getattr(_dense, name).dtype, "__module__": __package__})
    made.__doc__ = f"``{name}(indices, values, size)`` is sparse_coo_tensor() of {made.dtype}."
    globals()[name] = made
    return made
