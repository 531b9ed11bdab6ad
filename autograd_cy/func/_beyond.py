"""What has no name in torch.func: Gauss-Newton products, transposes of linear functions, gradients of samples (facade)."""

from collections.abc import Callable
from typing import Any

import numpy as np

from .._core.batching.levels import open_levels
from .._core.graph.tensor import Tensor, from_array
from .._core.runtime.entry import public
from .._likes import zeros_like
from ..autograd.grad_mode import no_grad
from ..utils._pytree import tree_leaves, tree_map, tree_map_only
from ._gradients import grad, jvp, vjp
from ._vmap import vmap

__all__ = ["ggnvp", "linear_transpose", "per_sample_grads"]


@public
def ggnvp(func: Callable[..., Any], loss: Callable[..., Any], primal: Any, v: Any) -> Any:
    """``ggnvp(func, loss, primal, v)`` is the generalized Gauss-Newton matrix of loss(func(primal)) times v.

    With J the Jacobian of func and H the Hessian of loss at func(primal), it is J.T @ H @ J @ v, by one product with each: the
    part of the Hessian that is never negative where the loss is convex. primal, v: a tensor or nested containers of tensors;
    loss: a function of func's output to one element. Source: Schraudolph, "Fast curvature matrix-vector products for
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
    """``linear_transpose(func, *primals)`` is the function that multiplies with the transposed matrix of the linear func.

    It takes what has the structure and shapes of func's output, and returns a tuple of what has those of the primals, of which
    only these count; for complex numbers nothing is conjugated. func is called at zeros, and once more to see that it is
    linear: RuntimeError if it isn't, by the test <v, func(u)> = <transposed(v), u> of drawn u and v (not within vmap).

    >>> import autograd_cy as ag
    >>> differences = lambda x: x[1:] - x[:-1]
    >>> ag.func.linear_transpose(differences, ag.zeros(3))(ag.tensor([1.0, 10.0]))
    (tensor([-1., -9., 10.]),)
    """
    output, pull_back = vjp(func, *tree_map_only(Tensor, lambda x: zeros_like(x.detach()), primals))

    @public
    def transposed(cotangents: Any) -> Any:
        return tree_map(_conjugate, pull_back(tree_map(_conjugate, cotangents)))

    if not open_levels():
        _check_linear(func, transposed, primals, output)
    return transposed


def _conjugate(x: Any) -> Any:
    return x.conj().resolve_conj() if isinstance(x, Tensor) else x


def _check_linear(func: Callable[..., Any], transposed: Callable[[Any], Any], primals: Any, output: Any) -> None:
    """RuntimeError unless both give the same product of a drawn input and a drawn cotangent."""
    draws = np.random.default_rng(0)

    def drawn(x: Tensor) -> Tensor:
        return from_array(np.asarray(draws.standard_normal(x.shape)).astype(x.dtype.numpy_dtype))

    with no_grad():
        inputs, cotangents = tree_map_only(Tensor, drawn, primals), tree_map_only(Tensor, drawn, output)
        pairs = [(cotangents, func(*inputs)), (transposed(cotangents), inputs)]
    left, right = [_products(a, b) for a, b in pairs]
    accuracy = max(np.finfo(x.dtype.numpy_dtype).eps for x in tree_leaves(output)) ** 0.5
    if not abs(left.sum() - right.sum()) <= accuracy * (np.abs(left).sum() + np.abs(right).sum()):
        raise RuntimeError(
            "linear_transpose(): the function isn't linear: <v, func(u)> and <transposed(v), u> are "
            f"{left.sum():.6g} and {right.sum():.6g}"
        )


def _products(a: Any, b: Any) -> np.ndarray[Any, Any]:
    """The products of all elements of two structures of tensors, in double precision."""
    pairs = zip(tree_leaves(a), tree_leaves(b), strict=True)
    return np.concatenate([(_numbers(x) * _numbers(y)).ravel() for x, y in pairs])


def _numbers(x: Tensor) -> np.ndarray[Any, Any]:
    return np.asarray(x.detach().resolve_conj().numpy(), np.complex128)


@public
def per_sample_grads(loss: Callable[..., Any], params: Any, *batch: Any, chunk_size: int | None = None) -> Any:
    """``per_sample_grads(loss, params, *batch)`` is the gradient of loss(params, *sample) by params for each sample.

    params: a tensor or nested containers of tensors; the result has their structure, each with the samples first. batch: what
    loss takes besides, with the samples along the first dimension. chunk_size: as in vmap.

    >>> import autograd_cy as ag
    >>> x = ag.tensor([[1.0, 2.0], [3.0, 4.0]])
    >>> ag.func.per_sample_grads(lambda w, x: (w @ x) ** 2, ag.ones(2), x)
    tensor([[ 6., 12.],
            [42., 56.]])
    """
    return vmap(grad(loss), (None, *(0,) * len(batch)), chunk_size=chunk_size)(params, *batch)
