"""Functions with as many results as elements, to which those that are masked out contribute nothing (facade).

All take ``mask``, bools that are true for what counts, which is broadcast to the input, and ``dtype``, that of the result.
"""

from typing import Any

from .._core.graph.tensor import Tensor
from .._core.runtime.entry import public
from .._functional import names
from ..nn import functional as F
from ._masks import dimensions, filled
from ._reductions import norm


@public
def cumsum(input: Tensor, dim: int, *, dtype: Any = None, mask: Tensor | None = None) -> Tensor:
    """``masked.cumsum(t, 0, mask=m)`` is the sums of each element that m is true for and all such before it.

    >>> import autograd_cy as ag
    >>> ag.masked.cumsum(ag.tensor([1.0, 2.0, 3.0]), 0, mask=ag.tensor([True, False, True]))
    tensor([1., 1., 4.])
    """
    wanted = dtype or input.dtype
    return names.cumsum(filled("sum", input, mask), dimensions(dim, input.ndim)[0], dtype=wanted)


@public
def cumprod(input: Tensor, dim: int, *, dtype: Any = None, mask: Tensor | None = None) -> Tensor:
    """``masked.cumprod(t, 0, mask=m)`` is the products of each element that m is true for and all such before it.

    >>> import autograd_cy as ag
    >>> ag.masked.cumprod(ag.tensor([1.0, 2.0, 3.0]), 0, mask=ag.tensor([True, False, True]))
    tensor([1., 1., 3.])
    """
    wanted = dtype or input.dtype
    return names.cumprod(filled("prod", input, mask), dimensions(dim, input.ndim)[0], dtype=wanted)


@public
def softmax(input: Tensor, dim: int, *, dtype: Any = None, mask: Tensor | None = None) -> Tensor:
    """``masked.softmax(t, 0, mask=m)`` is softmax of the elements that m is true for; the others are 0.

    >>> import autograd_cy as ag
    >>> ag.masked.softmax(ag.tensor([1.0, 2.0, 1.0]), 0, mask=ag.tensor([True, False, True]))
    tensor([0.5000, 0.0000, 0.5000])
    """
    values = filled("amax", input, mask)
    return F.softmax(values, dimensions(dim, input.ndim)[0], dtype=dtype or input.dtype)


@public
def log_softmax(input: Tensor, dim: int, *, dtype: Any = None, mask: Tensor | None = None) -> Tensor:
    """``masked.log_softmax(t, 0, mask=m)`` is the logarithm of ``masked.softmax``; -inf for what is masked out.

    >>> import autograd_cy as ag
    >>> ag.masked.log_softmax(ag.tensor([1.0, 2.0, 1.0]), 0, mask=ag.tensor([True, False, True]))
    tensor([-0.6931,    -inf, -0.6931])
    """
    values = filled("amax", input, mask)
    return F.log_softmax(values, dimensions(dim, input.ndim)[0], dtype=dtype or input.dtype)


@public
def softmin(input: Tensor, dim: int, *, dtype: Any = None, mask: Tensor | None = None) -> Tensor:
    """``masked.softmin(t, 0, mask=m)`` is softmax of the negative elements that m is true for; the others are 0.

    >>> import autograd_cy as ag
    >>> ag.masked.softmin(ag.tensor([1.0, 2.0, 1.0]), 0, mask=ag.tensor([True, False, True]))
    tensor([0.5000, 0.0000, 0.5000])
    """
    values = filled("amin", input, mask)
    return F.softmax(-values, dimensions(dim, input.ndim)[0], dtype=dtype or input.dtype)


@public
def normalize(
    input: Tensor, ord: float, dim: int, *, eps: float = 1e-12, dtype: Any = None, mask: Tensor | None = None
) -> Tensor:
    """``masked.normalize(t, ord, dim, mask=m)`` is t over the norm of the elements that m is true for; the others are 0.

    A norm below ``eps`` counts as eps.

    >>> import autograd_cy as ag
    >>> ag.masked.normalize(ag.tensor([3.0, 2.0, 4.0]), 2, 0, mask=ag.tensor([True, False, True]))
    tensor([0.6000, 0.0000, 0.8000])
    """
    values = filled("sum", input, mask)
    size = norm(input, ord, dim, keepdim=True, dtype=dtype or input.dtype, mask=mask)
    return values / names.maximum(size, size.new_full([], eps))


@public
def logaddexp(
    input: Tensor,
    other: Tensor,
    *,
    dtype: Any = None,
    input_mask: Tensor | None = None,
    other_mask: Tensor | None = None,
) -> Tensor:
    """``masked.logaddexp(a, b, input_mask=m)`` is log(exp(a) + exp(b)), where exp of what is masked out is 0.

    >>> import autograd_cy as ag
    >>> ag.masked.logaddexp(ag.tensor([1.0, 2.0]), ag.tensor([1.0, 3.0]), input_mask=ag.tensor([True, False]))
    tensor([1.6931, 3.0000])
    """
    values = filled("logaddexp", input, input_mask), filled("logaddexp", other, other_mask)
    return names.logaddexp(*values).to(dtype or input.dtype)
