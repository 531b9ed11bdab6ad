"""Extensions of torch.func: Gauss-Newton products, transposes of linear functions, per-sample gradients (facade)."""

from collections.abc import Callable
from typing import Any

import numpy as np

from .._core.arrays.dtypes import finfo_of
from .._core.batching.batched import open_levels
from .._core.graph.tensor import Tensor, from_array
from .._core.runtime.entry import public
from .._creation.filled import zeros_like
from ..autograd.grad_mode import no_grad
from ..utils._pytree import tree_leaves, tree_map, tree_map_only
from ._forward import jvp
from ._reverse import grad, vjp
from ._vmap import vmap

__all__ = ["ggnvp", "linear_transpose", "per_sample_grads"]


@public
def ggnvp(func: Callable[..., Any], loss: Callable[..., Any], primal: Any, v: Any) -> Any:
    """``ggnvp(func, loss, primal, v)`` is the generalized Gauss-Newton matrix of loss(func(primal)) times v.

    With J the Jacobian of func and H the Hessian of loss at func(primal), it is J.T @ H @ J @ v, by one product with each.
    For a convex loss this part of the Hessian is positive semidefinite. primal, v: a tensor or nested containers of
    tensors; loss: a function of func's output to one element. Source: Schraudolph, "Fast curvature matrix-vector products for
    second-order gradient descent" (2002).

    >>> import autograd_cy as ag
    >>> x, v = ag.tensor([1.0, 2.0]), ag.tensor([1.0, 1.0])
    >>> ag.func.ggnvp(lambda x: x**2, lambda y: (y * y).sum() / 2, x, v)
    tensor([ 4., 16.])
    """
    output, pull_back = vjp(func, primal)
    _, moved = jvp(func, (primal,), (v,))
    _, curved = jvp(grad(loss), (output,), (moved,))
    return pull_back(curved)[0]


@public
def linear_transpose(func: Callable[..., Any], *primals: Any) -> Callable[[Any], Any]:
    """``linear_transpose(func, *primals)`` is the function that multiplies by the transposed matrix of the linear func.

    Its argument is like func's output, its result a tuple like the primals: the same structure and shapes. The values of the
    primals don't matter; complex numbers are not conjugated. func is called at zeros, and, outside of vmap, at three random
    inputs: RuntimeError unless func(2 u - 3 w) is 2 func(u) - 3 func(w) in each element (complex primals: complex factors).

    >>> import autograd_cy as ag
    >>> differences = lambda x: x[1:] - x[:-1]
    >>> ag.func.linear_transpose(differences, ag.zeros(3))(ag.tensor([1.0, 10.0]))
    (tensor([-1., -9., 10.]),)
    """
    if not tree_leaves(primals):
        raise RuntimeError("linear_transpose(): expected at least one primal")
    if not open_levels():
        _check_linear(func, primals)
    _, pull_back = vjp(func, *tree_map_only(Tensor, lambda x: zeros_like(x.detach()), primals))

    @public
    def transposed(cotangents: Any) -> Any:
        return tree_map(_conjugate, pull_back(tree_map(_conjugate, cotangents)))

    return transposed


def _conjugate(x: Any) -> Any:
    return x.conj().resolve_conj() if isinstance(x, Tensor) else x


def _check_linear(func: Callable[..., Any], primals: Any) -> None:
    """RuntimeError unless func is linear at random inputs, to half of the digits."""
    draws = np.random.default_rng(0)
    complex_ones = all(x.is_complex() for x in tree_leaves(primals))
    a, b = (2 + 1j, 1j - 3) if complex_ones else (2, -3)

    def drawn(x: Tensor) -> Tensor:
        parts = draws.standard_normal((2, *x.shape))
        numbers = parts[0] + 1j * parts[1] if x.is_complex() else parts[0]
        return from_array(np.asarray(numbers).astype(x.dtype.numpy_dtype))

    with no_grad():
        u, w = [tree_map_only(Tensor, drawn, primals) for _ in range(2)]
        both = tree_map(lambda x, y: a * x + b * y, u, w)
        values = [[_numbers(y) for y in tree_leaves(func(*x))] for x in (both, u, w)]
    for y, of_u, of_w in zip(*values, strict=True):
        sizes = np.abs([y, a * of_u, b * of_w])
        accuracy = finfo_of(tree_leaves(primals)[0].dtype.numpy_dtype).eps ** 0.5
        wrong = ~(np.abs(y - (a * of_u + b * of_w)) <= accuracy * sizes.max(initial=0))
        if wrong.any():
            raise RuntimeError(
                f"linear_transpose(): the function isn't linear: func({a} u + {b} w) is {y[wrong][0]:.6g} where {a} func(u) + "
                f"{b} func(w) is {(a * of_u + b * of_w)[wrong][0]:.6g}"
            )


def _numbers(x: Tensor) -> np.ndarray[Any, Any]:
    return np.asarray(x.detach().resolve_conj().numpy(), np.complex128).ravel()


@public
def per_sample_grads(loss: Callable[..., Any], params: Any, *batch: Any, chunk_size: int | None = None) -> Any:
    """``per_sample_grads(loss, params, *batch)`` is the gradient of loss(params, *sample) by params for each sample.

    params: a tensor or nested containers of tensors; the result has their structure, each with the samples first. batch: the
    other arguments of loss, with the samples along the first dimension. chunk_size: as in vmap.

    >>> import autograd_cy as ag
    >>> x = ag.tensor([[1.0, 2.0], [3.0, 4.0]])
    >>> ag.func.per_sample_grads(lambda w, x: (w @ x) ** 2, ag.ones(2), x)
    tensor([[ 6., 12.],
            [42., 56.]])
    """
    return vmap(grad(loss), (None, *(0,) * len(batch)), chunk_size=chunk_size)(params, *batch)
