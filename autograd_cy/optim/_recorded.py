"""Steps made of operations, through which gradients flow: of optimizers with differentiable=True (facade).

A rule gets a parameter p, its gradient g, what is kept of it, how many steps that makes, and the options; it returns what the
parameter becomes, and replaces what is kept. No tensor is written but the parameter, at last, so that each operation finds
what it saved. The formulas are those of the loops in `_core/kernels`.
"""

from collections.abc import Callable
from typing import Any

from .._core.graph.tensor import Tensor
from .._functional import names as _ops
from ..autograd.forward_ad import unpack_dual
from ..autograd.grad_mode import enable_grad, no_grad

Kept = dict[str, Any]
Options = dict[str, Any]


def recorded_step(
    rule: str, operation: str, params: list[Any], states: Any, scalars: tuple[str, ...], kept: tuple[str | None, ...],
    new_state: Callable[[Any], Kept], options: Options,
) -> None:  # fmt: skip
    """The step of an optimizer for each parameter that has a gradient, recorded; see `update`, which has the same arguments.

    RuntimeError for a gradient that is not of the parameter's shape and type, before anything is written.
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
            value, after = _computed(rule, param, before, scalars, options | {"fresh": fresh})
            param.copy_(value)
        state.update(after)


def _computed(rule: str, param: Any, state: Kept, scalars: tuple[str, ...], options: Options) -> tuple[Tensor, Kept]:
    """What a parameter becomes, and what is kept of it then."""
    numbers = {name: _number_of(state[name]) for name in scalars}
    numbers["step"] = numbers.get("step", 0) + 1
    view, back = (_ops.view_as_real, _ops.view_as_complex) if param.is_complex() else (_same, _same)
    kept = {name: x if name in scalars else view(x) for name, x in state.items()}
    grad = -param.grad if options["maximize"] else param.grad
    # A copy: what is saved of it must not change when the parameter does.
    value, kept = RULES[rule](view(param.clone()), view(grad), kept, numbers, options)
    after = {name: back(x) for name, x in kept.items()}
    with no_grad():
        return back(value), after | {name: _scalar_like(state[name], numbers[name]) for name in scalars}


def _number_of(x: Tensor) -> Any:
    """The number that a tensor holds; a tensor with a derivative stays one: the step is differentiable by it."""
    return x if x.requires_grad or unpack_dual(x).tangent is not None else x.item()


def _scalar_like(before: Tensor, number: Any) -> Tensor:
    """A number as a tensor like the one before; a tensor, through which gradients flow, as it is."""
    return number if isinstance(number, Tensor) else before.detach().clone().fill_(number)


def _same(x: Tensor) -> Tensor:
    return x


def _decayed(p: Tensor, g: Tensor, options: Options) -> Tensor:
    """The gradient with that of the weight decay."""
    decay = options["weight_decay"]
    return g if isinstance(decay, (int, float)) and decay == 0 else g + decay * p


def _sgd(p: Tensor, g: Tensor, kept: Kept, numbers: Kept, options: Options) -> tuple[Tensor, Kept]:
    g, mu = _decayed(p, g, options), options["momentum"]
    if mu == 0:
        return p - options["lr"] * g, {}
    average = g if options["fresh"] else mu * kept["momentum_buffer"] + (1 - options["dampening"]) * g
    step = g + mu * average if options["nesterov"] else average
    return p - options["lr"] * step, {"momentum_buffer": average}


def _asgd(p: Tensor, g: Tensor, kept: Kept, numbers: Kept, options: Options) -> tuple[Tensor, Kept]:
    g, lr, lambd = _decayed(p, g, options), float(options["lr"]), options["lambd"]
    eta, mu, t = numbers["eta"], numbers["mu"], numbers["step"]
    p = p * (1 - lambd * eta) - eta * g
    numbers["eta"] = lr / (1 + lambd * lr * t) ** options["alpha"]
    numbers["mu"] = 1 / max(1, t - options["t0"])
    return p, {"ax": p if mu == 1 else kept["ax"] + (p - kept["ax"]) * mu}


def _rprop(p: Tensor, g: Tensor, kept: Kept, numbers: Kept, options: Options) -> tuple[Tensor, Kept]:
    (less, more), (least, most) = options["etas"], options["step_sizes"]
    turn = (g * kept["prev"]).detach()
    factor = turn.sign().masked_fill(turn > 0, more).masked_fill(turn < 0, less).masked_fill(turn == 0, 1)
    size = (kept["step_size"] * factor).clamp(least, most)
    g = g.masked_fill(turn < 0, 0)
    return p - g.sign() * size, {"prev": g, "step_size": size}


def _moments(p: Tensor, g: Tensor, kept: Kept, options: Options) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    """The decayed parameter, the gradient, the averages of it and of its square."""
    first, second = options["betas"]
    if options.get("decoupled_weight_decay"):
        p = p * (1 - options["lr"] * options["weight_decay"])
    else:
        g = _decayed(p, g, options)
    mean = kept["exp_avg"] + (1 - first) * (g - kept["exp_avg"])
    square = second * kept["exp_avg_sq"] + (1 - second) * g * g
    return p, g, mean, square


def _adam(p: Tensor, g: Tensor, kept: Kept, numbers: Kept, options: Options) -> tuple[Tensor, Kept]:
    (first, second), t = options["betas"], numbers["step"]
    p, g, mean, square = _moments(p, g, kept, options)
    new, most = {"exp_avg": mean, "exp_avg_sq": square}, square
    if options["amsgrad"]:
        most = new["max_exp_avg_sq"] = _ops.maximum(kept["max_exp_avg_sq"], square)
    size = options["lr"] / (1 - first**t)
    return p - size * mean / (most.sqrt() / (1 - second**t) ** 0.5 + options["eps"]), new


def _nadam(p: Tensor, g: Tensor, kept: Kept, numbers: Kept, options: Options) -> tuple[Tensor, Kept]:
    (first, second), t, lr = options["betas"], numbers["step"], options["lr"]
    p, g, mean, square = _moments(p, g, kept, options)
    mu, ahead = (first * (1 - 0.5 * 0.96 ** (k * options["momentum_decay"])) for k in (t, t + 1))
    product = numbers["mu_product"] = numbers["mu_product"] * mu
    scale = (square / (1 - second**t)).sqrt() + options["eps"]
    p = p - lr * (1 - mu) / (1 - product) * g / scale - lr * ahead / (1 - product * ahead) * mean / scale
    return p, {"exp_avg": mean, "exp_avg_sq": square}


def _radam(p: Tensor, g: Tensor, kept: Kept, numbers: Kept, options: Options) -> tuple[Tensor, Kept]:
    (first, second), t = options["betas"], numbers["step"]
    p, g, mean, square = _moments(p, g, kept, options)
    longest, power = 2 / (1 - second) - 1, second**t
    length = longest - 2 * t * power / (1 - power)
    step = mean / (1 - first**t) * options["lr"]
    if length > 5:
        rectified = ((length - 4) * (length - 2) * longest / ((longest - 4) * (longest - 2) * length)) ** 0.5
        step = step * ((1 - power) ** 0.5 / (square.sqrt() + options["eps"])) * rectified
    return p - step, {"exp_avg": mean, "exp_avg_sq": square}


def _adamax(p: Tensor, g: Tensor, kept: Kept, numbers: Kept, options: Options) -> tuple[Tensor, Kept]:
    (first, second), g = options["betas"], _decayed(p, g, options)
    mean = kept["exp_avg"] + (1 - first) * (g - kept["exp_avg"])
    largest = _ops.maximum(kept["exp_inf"] * second, g.abs() + options["eps"])
    size = options["lr"] / (1 - first ** numbers["step"])
    return p - size * mean / largest, {"exp_avg": mean, "exp_inf": largest}


def _rmsprop(p: Tensor, g: Tensor, kept: Kept, numbers: Kept, options: Options) -> tuple[Tensor, Kept]:
    g, alpha = _decayed(p, g, options), options["alpha"]
    square = spread = alpha * kept["square_avg"] + (1 - alpha) * g * g
    new = {"square_avg": square}
    if options["centered"]:
        mean = new["grad_avg"] = kept["grad_avg"] + (1 - alpha) * (g - kept["grad_avg"])
        spread = square - mean * mean
    step = g / (spread.sqrt() + options["eps"])
    if options["momentum"] > 0:
        step = new["momentum_buffer"] = options["momentum"] * kept["momentum_buffer"] + step
    return p - options["lr"] * step, new


def _adagrad(p: Tensor, g: Tensor, kept: Kept, numbers: Kept, options: Options) -> tuple[Tensor, Kept]:
    g = _decayed(p, g, options)
    total = kept["sum"] + g * g
    size = options["lr"] / (1 + (numbers["step"] - 1) * options["lr_decay"])
    return p - size * g / (total.sqrt() + options["eps"]), {"sum": total}


def _adadelta(p: Tensor, g: Tensor, kept: Kept, numbers: Kept, options: Options) -> tuple[Tensor, Kept]:
    g, rho, eps = _decayed(p, g, options), options["rho"], options["eps"]
    square = rho * kept["square_avg"] + (1 - rho) * g * g
    step = (kept["acc_delta"] + eps).sqrt() / (square + eps).sqrt() * g
    return p - options["lr"] * step, {"square_avg": square, "acc_delta": rho * kept["acc_delta"] + (1 - rho) * step * step}


RULES: dict[str, Callable[[Tensor, Tensor, Kept, Kept, Options], tuple[Tensor, Kept]]] = {
    "sgd": _sgd, "asgd": _asgd, "rprop": _rprop, "adam": _adam, "nadam": _nadam, "radam": _radam, "adamax": _adamax,
    "rmsprop": _rmsprop, "adagrad": _adagrad, "adadelta": _adadelta,
}  # fmt: skip
