"""What is made of the transforms and has no name in torch.func: Gauss-Newton products, gradients of samples (facade)."""

from collections.abc import Callable
from typing import Any

from .._core.runtime.entry import public
from ._gradients import grad, jvp, vjp
from ._vmap import vmap

__all__ = ["ggnvp", "per_sample_grads"]


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
