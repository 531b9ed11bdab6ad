"""Differentiable steps made of operations, for optimizers with differentiable=True (facade).

A formula, the `_recorded_update` of an optimizer, takes a parameter p, its gradient g, its state, the numbers of its state
(the step among them) and the options; it returns the new parameter and the new state. The parameter is written last, so that
each operation's saved values stay valid. The loops in `_core/kernels/update_loops.pyx` compute the same formulas.
"""

from collections.abc import Callable
from typing import Any

from .._core.graph.tensor import Tensor
from .._functional import names as _ops
from ..autograd.forward_ad import unpack_dual
from ..autograd.grad_mode import enable_grad, no_grad

Kept = dict[str, Any]
Options = dict[str, Any]
Formula = Callable[[Tensor, Tensor, Kept, Kept, Options], tuple[Tensor, Kept]]


def recorded_step(
    formula: Formula, operation: str, params: list[Any], states: Any, scalars: tuple[str, ...], kept: tuple[str | None, ...],
    new_state: Callable[[Any], Kept], options: Options,
) -> None:  # fmt: skip
    """The recorded step of an optimizer for each parameter with a gradient; takes the arguments of `update`.

    RuntimeError for a gradient that differs from the parameter in shape or dtype, before anything is written.
    """
    stepped = [param for param in params if param.grad is not None]
    for param in stepped:
        if param.grad.shape != param.shape or param.grad.dtype != param.dtype:
            raise RuntimeError(
                f"{operation}(): expected a gradient of type {param.dtype} and shape {list(param.shape)}, as the parameter "
                f"has, got {param.grad.dtype}, {list(param.grad.shape)}"
            )
    names = [name for name in kept if name is not None]
    for param in stepped:
        state = states[param]
        fresh = any(state.get(name) is None for name in (*scalars, *names))
        before = (new_state(param) if fresh else {}) | {name: x for name, x in state.items() if x is not None}
        with enable_grad():
            value, after = _computed(formula, param, before, scalars, options | {"fresh": fresh})
            param.copy_(value)
        state.update(after)


def _computed(formula: Formula, param: Any, state: Kept, scalars: tuple[str, ...], options: Options) -> tuple[Tensor, Kept]:
    """The new value of a parameter, and its new state."""
    numbers = {name: _number_of(state[name]) for name in scalars}
    numbers["step"] = numbers.get("step", 0) + 1
    view, back = (_ops.view_as_real, _ops.view_as_complex) if param.is_complex() else (_same, _same)
    kept = {name: x if name in scalars else view(x) for name, x in state.items()}
    grad = -param.grad if options["maximize"] else param.grad
    # A copy, so that saved values don't change with the parameter.
    value, kept = formula(view(param.clone()), view(grad), kept, numbers, options)
    after = {name: back(x) for name, x in kept.items()}
    with no_grad():
        return back(value), after | {name: _scalar_like(state[name], numbers[name]) for name in scalars}


def _number_of(x: Tensor) -> Any:
    """The number in a tensor; a tensor with a derivative stays a tensor, as the step is differentiable by it."""
    return x if x.requires_grad or unpack_dual(x).tangent is not None else x.item()


def _scalar_like(before: Tensor, number: Any) -> Tensor:
    """A number as a tensor like `before`; a tensor, which may carry gradients, as it is."""
    return number if isinstance(number, Tensor) else before.detach().clone().fill_(number)


def _same(x: Tensor) -> Tensor:
    return x


def decayed(p: Tensor, g: Tensor, options: Options) -> Tensor:
    """The gradient including weight decay."""
    decay = options["weight_decay"]
    return g if isinstance(decay, (int, float)) and decay == 0 else g + decay * p


def moments(p: Tensor, g: Tensor, kept: Kept, options: Options) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    """The decayed parameter, the gradient, and the averages of the gradient and its square."""
    first, second = options["betas"]
    if options.get("decoupled_weight_decay"):
        p = p * (1 - options["lr"] * options["weight_decay"])
    else:
        g = decayed(p, g, options)
    mean = kept["exp_avg"] + (1 - first) * (g - kept["exp_avg"])
    square = second * kept["exp_avg_sq"] + (1 - second) * g * g
    return p, g, mean, square
