"""Derivatives of a solver's result, by the equation that it solves (facade)."""

from collections.abc import Callable
from typing import Any

import numpy as np

from .._core.arrays.dtypes import finfo_of
from .._core.batching.batched import HiddenLevels, open_levels
from .._core.graph.tensor import Tensor, array_of, from_array
from .._core.runtime.entry import public
from .._creation.filled import zeros_like
from ..autograd.function import Function
from ..autograd.grad_mode import enable_grad, no_grad
from ..utils._pytree import tree_flatten, tree_unflatten
from ._forward import jacfwd, jvp
from ._reverse import vjp
from ._vmap import vmap, with_batch_first

__all__ = ["fixed_point"]

Step = Callable[[Tensor], Tensor]


@public
def fixed_point(
    func: Callable[..., Tensor],
    x0: Any,
    *args: Any,
    solver: str | Callable[[Step, Tensor], Tensor] = "iteration",
    tol: float | None = None,
    max_iter: int = 1000,
) -> Tensor:
    """``fixed_point(func, x0, *args)`` is the x with x = func(x, *args), found from x0, differentiable by args.

    The equation is differentiated, not the solver's steps: no step is recorded, and each derivative, of any order and in
    both modes, takes the solution of one more (linear) equation of this kind.
    args: tensors and nested containers of them. RuntimeError if func depends on another tensor that requires grad.
    solver: 'iteration' (x = func(x), which converges if func is a contraction), 'newton' (with the Jacobian matrix, for few
    elements), or solver(step, start), which returns an x with x = step(x); it solves the derivatives' equations, too.
    tol: the limit of the largest change in a step, relative to 1 + |x|; None is 100 times the dtype's precision.
    RuntimeError if it is not reached after max_iter steps.
    Source: the implicit function theorem; Blondel et al., "Efficient and modular implicit differentiation" (2022).

    >>> import autograd_cy as ag
    >>> a = ag.tensor(2.0, dtype=ag.float64, requires_grad=True)
    >>> root = ag.func.fixed_point(lambda x, a: (x + a / x) / 2, ag.ones((), dtype=ag.float64), a)
    >>> root.backward()
    >>> print(f"{root.item():.8f} {a.grad.item():.8f}")
    1.41421356 0.35355339
    """
    if not isinstance(x0, Tensor) or not (x0.dtype.is_floating_point or x0.dtype.is_complex):
        raise TypeError(f"fixed_point(): x0 must be a Tensor of floating point or complex dtype, got {x0!r}")
    solve = solver if callable(solver) else _SOLVERS.get(solver)
    if solve is None:
        raise ValueError(f"fixed_point(): solver must be 'iteration', 'newton' or a function, got {solver!r}")
    if tol is None:
        tol = 100 * float(finfo_of(array_of(x0.detach()).dtype).eps)
    if not isinstance(solver, str):
        settings = _Settings(func, solve, {})
    else:
        settings = _Settings(func, solve, {"tol": tol, "max_iter": max_iter})
    leaves, settings.spec = tree_flatten(args)
    return _FixedPoint.apply(settings, x0, *leaves)


class _Settings:
    """An equation x = func(x, *args) and its solver; `spec`: the structure of args."""

    def __init__(self, func: Callable[..., Tensor], solve: Callable[..., Tensor], options: dict[str, Any]):
        self.func, self.solve, self.options = func, solve, options
        self.spec: Any = None

    def step(self, x: Tensor, leaves: Any) -> Tensor:
        """func(x, *args)."""
        y: Any = self.func(x, *tree_unflatten(list(leaves), self.spec))
        if not isinstance(y, Tensor) or y.shape != x.shape or y.dtype != x.dtype:
            found = f"{list(y.shape)} of {y.dtype}" if isinstance(y, Tensor) else type(y).__name__
            raise RuntimeError(
                f"fixed_point(): func must return a tensor like x, of shape {list(x.shape)} and {x.dtype}, got {found}"
            )
        return y

    def solution(self, x0: Tensor, leaves: Any) -> Tensor:
        """The x with x = func(x, *args)."""
        return self.solve(lambda x: self.step(x, leaves), x0, **self.options)

    def derived(self, func: Callable[..., Tensor], start: Tensor, *args: Any) -> Tensor:
        """The solution of a derivative's equation."""
        settings = _Settings(func, self.solve, self.options)
        leaves, settings.spec = tree_flatten(args)
        return _FixedPoint.apply(settings, start, *leaves)


class _FixedPoint(Function):
    """The solution of an equation as a function of its arguments; each derivative is the solution of another equation."""

    @staticmethod
    def forward(settings: _Settings, x0: Tensor, *leaves: Any) -> Tensor:
        with no_grad(), HiddenLevels(open_levels()):  # the arguments have all samples
            x = settings.solution(x0.detach(), leaves).detach().clone()  # func may return its argument
        _check_arguments(settings, x, leaves)
        return x

    @staticmethod
    def setup_context(ctx: Any, inputs: tuple[Any, ...], output: Tensor) -> None:
        ctx.settings, _, *leaves = inputs
        ctx.template = [None if isinstance(x, Tensor) else x for x in leaves]
        tensors = [x for x in leaves if isinstance(x, Tensor)]
        ctx.save_for_backward(output, *tensors)
        ctx.save_for_forward(output, *tensors)

    @staticmethod
    def backward(ctx: Any, g: Tensor) -> tuple[Any, ...]:
        """With w = g + (d func/d x)^T w, the gradients are (d func/d args)^T w."""
        x, *tensors = ctx.saved_tensors
        step = _Split(ctx.settings, ctx.template)

        def adjoint(w: Tensor, g: Tensor, x: Tensor, *tensors: Tensor) -> Tensor:
            return g + vjp(lambda x: step(x, tensors), x)[1](w)[0]

        w = ctx.settings.derived(adjoint, zeros_like(g.detach()), g, x, *tensors)
        wanted = [t.dtype.is_floating_point or t.dtype.is_complex for t in tensors]
        chosen = [t for t, is_wanted in zip(tensors, wanted, strict=True) if is_wanted]

        def of_chosen(*values: Tensor) -> Tensor:
            given = iter(values)
            return step(x, [next(given) if is_wanted else t for t, is_wanted in zip(tensors, wanted, strict=True)])

        gradients = iter(vjp(of_chosen, *chosen)[1](w)) if chosen else iter(())
        each = iter([next(gradients) if is_wanted else None for is_wanted in wanted])
        return (None, None, *[next(each) if is_tensor else None for is_tensor in step.is_tensor()])

    @staticmethod
    def jvp(ctx: Any, *tangents: Any) -> Tensor:
        """The tangent t of x solves t = (d func/d args) tangents + (d func/d x) t."""
        x, *tensors = ctx.saved_tensors
        step = _Split(ctx.settings, ctx.template)
        given = [t for t, is_tensor in zip(tangents[2:], step.is_tensor(), strict=True) if is_tensor]
        moving = [i for i, t in enumerate(given) if t is not None and tensors[i].is_floating_point()]

        def of_moving(*values: Tensor) -> Tensor:
            merged = list(tensors)
            for i, value in zip(moving, values, strict=True):
                merged[i] = value
            return step(x, merged)

        start = zeros_like(x.detach())
        if not moving:
            return start
        pushed = jvp(of_moving, tuple(tensors[i] for i in moving), tuple(given[i] for i in moving))[1]

        def tangent(t: Tensor, pushed: Tensor, x: Tensor, *tensors: Tensor) -> Tensor:
            return pushed + jvp(lambda x: step(x, tensors), (x,), (t,))[1]

        return ctx.settings.derived(tangent, start, pushed, x, *tensors)

    @staticmethod
    def vmap(info: Any, in_dims: Any, settings: _Settings, x0: Tensor, *leaves: Any) -> tuple[Tensor, int]:
        """All samples at once are one equation."""
        start_dim, dims = in_dims[1], in_dims[2:]
        start = x0.unsqueeze(0).expand(info.batch_size, *x0.shape) if start_dim is None else with_batch_first(x0, start_dim)
        mapped = vmap(lambda x, *leaves: settings.step(x, leaves), (0, *dims))
        together = _Settings(mapped, settings.solve, settings.options)
        flat, together.spec = tree_flatten(leaves)
        return _FixedPoint.apply(together, start, *flat), 0


class _Split:
    """An equation's step as a function of its tensor arguments only."""

    def __init__(self, settings: _Settings, template: list[Any]):
        self._settings, self._template = settings, template

    def is_tensor(self) -> list[bool]:
        """For each argument whether it is a tensor."""
        return [x is None for x in self._template]

    def __call__(self, x: Tensor, tensors: Any) -> Tensor:
        given = iter(tensors)
        return self._settings.step(x, [next(given) if value is None else value for value in self._template])


def _check_arguments(settings: _Settings, x: Tensor, leaves: Any) -> None:
    """RuntimeError if func depends on a tensor that is not in args, which would be treated as constant."""
    with enable_grad():
        y = settings.step(x, [t.detach() if isinstance(t, Tensor) else t for t in leaves])
    if y.requires_grad:
        raise RuntimeError(
            "fixed_point(): func uses a tensor that requires grad and is not among its arguments: the derivative by it would "
            "be lost. Pass it to fixed_point(), which hands it to func."
        )


def _iterate(step: Step, x: Tensor, tol: float, max_iter: int) -> Tensor:
    """x = step(x) until x converges."""
    change = float("nan")
    for _ in range(max_iter):
        following = step(x)
        change = _change(x, following)
        x = following
        if change <= tol:
            return x
    raise _not_converged(change, tol, max_iter)


def _newton(step: Step, x: Tensor, tol: float, max_iter: int) -> Tensor:
    """Newton's method for x - step(x) = 0."""
    change = float("nan")
    for _ in range(max_iter):
        residual = array_of((step(x) - x).detach()).reshape(-1)
        matrix = np.eye(residual.size) - array_of(jacfwd(step)(x).detach()).reshape(residual.size, residual.size)
        move = np.linalg.solve(matrix, residual).astype(residual.dtype).reshape(tuple(x.shape))
        following = x + from_array(np.ascontiguousarray(move))
        change = _change(x, following)
        x = following
        if change <= tol:
            return x
    raise _not_converged(change, tol, max_iter)


_SOLVERS: dict[str, Callable[..., Tensor]] = {"iteration": _iterate, "newton": _newton}


def _change(x: Tensor, y: Tensor) -> float:
    """The largest change of an element, relative to 1 + |x|."""
    before, after = array_of(x.detach()), array_of(y.detach())
    return float(np.max(abs(after - before) / (1 + abs(before)), initial=0.0))


def _not_converged(change: float, tol: float, max_iter: int) -> RuntimeError:
    return RuntimeError(
        f"fixed_point(): not converged after {max_iter} steps: the last one changed x by {change:.1e}, and the tolerance is "
        f"{tol:.1e}. Where func doesn't bring points nearer to each other, solver='newton' may."
    )
