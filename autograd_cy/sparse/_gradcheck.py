"""gradcheck for functions of sparse tensors (facade)."""

from collections.abc import Callable
from typing import Any

from ._tensor import SparseTensor, from_values

__all__ = ["as_sparse_gradcheck"]


def as_sparse_gradcheck(gradcheck: Callable[..., Any]) -> Callable[..., Any]:
    """``as_sparse_gradcheck(gradcheck)(func, inputs)`` checks func with respect to the values of its sparse inputs.

    >>> import autograd_cy as ag
    >>> check = ag.sparse.as_sparse_gradcheck(ag.autograd.gradcheck)
    >>> x = ag.tensor([[0.0, 2.0]], dtype=ag.float64).to_sparse().requires_grad_()
    >>> check(lambda x: ag.sparse.sum(x), (x,))
    True
    """

    def check(func: Callable[..., Any], inputs: Any, **options: Any) -> Any:
        inputs = inputs if isinstance(inputs, (tuple, list)) else (inputs,)
        patterns = [x._pattern if type(x) is SparseTensor else None for x in inputs]
        given = [
            x if p is None else x._held.detach().clone().requires_grad_(x.requires_grad)
            for x, p in zip(inputs, patterns, strict=True)
        ]

        def of_values(*args: Any) -> Any:
            made = func(*[x if p is None else from_values(x, p) for x, p in zip(args, patterns, strict=True)])
            results = made if isinstance(made, tuple) else (made,)
            dense = tuple(y.to_dense() if type(y) is SparseTensor else y for y in results)
            return dense if isinstance(made, tuple) else dense[0]

        options.pop("masked", None)
        return gradcheck(of_values, tuple(given), **options)

    return check
