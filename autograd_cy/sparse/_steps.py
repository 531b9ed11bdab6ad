"""Steps of optimizers along sparse gradients (facade). Rows without a gradient stay as they are."""

from collections.abc import Callable
from typing import Any

from ..autograd.grad_mode import no_grad
from ._tensor import SparseTensor, coalesced, from_values, values_at


def _parted(group: dict[str, Any], state: Any) -> tuple[list[Any], list[Any]]:
    """The parameters with sparse gradients or sparse state, and the others."""

    def is_sparse(param: Any) -> bool:
        return type(param.grad) is SparseTensor or type(state[param].get("momentum_buffer")) is SparseTensor

    params = [param for param in group["params"] if param.grad is not None]
    return [p for p in params if is_sparse(p)], [p for p in params if not is_sparse(p)]


def sgd(group: dict[str, Any], state: Any, update_dense: Callable[[list[Any]], None]) -> None:
    """SGD's step."""
    if group["weight_decay"] != 0:
        raise RuntimeError(
            "add(sparse, dense) is not supported. Use add(dense, sparse) instead. "
            "(SGD: weight_decay has to be 0 for sparse gradients)"
        )
    found, others = _parted(group, state)
    update_dense(others)
    with no_grad():
        for param in found:
            grad = -param.grad if group["maximize"] else param.grad
            if group["momentum"] != 0:
                kept = state[param].get("momentum_buffer")
                if kept is None:
                    kept = state[param]["momentum_buffer"] = grad.clone()
                else:
                    kept.mul_(group["momentum"]).add_(grad, alpha=1 - group["dampening"])
                grad = grad.add(kept, alpha=group["momentum"]) if group["nesterov"] else kept
            param.add_(grad, alpha=-float(group["lr"]))


def adagrad(group: dict[str, Any], state: Any, update_dense: Callable[[list[Any]], None]) -> None:
    """Adagrad's step."""
    if group["weight_decay"] != 0:
        raise RuntimeError("weight_decay option is not compatible with sparse gradients")
    found, others = _parted(group, state)
    if any(param.is_complex() for param in found):
        raise NotImplementedError("Adagrad: sparse gradients of complex parameters are not there")
    update_dense(others)
    with no_grad():
        for param in found:
            kept = state[param]
            kept["step"] += 1
            rate = float(group["lr"]) / (1 + (float(kept["step"]) - 1) * group["lr_decay"])
            grad = coalesced(-param.grad if group["maximize"] else param.grad)
            pattern, values = grad._pattern, grad._held
            kept["sum"].add_(from_values(values * values, pattern))
            scale = values_at(kept["sum"], pattern).sqrt() + group["eps"]
            param.add_(from_values(values / scale, pattern), alpha=-rate)


def sparse_adam(group: dict[str, Any], state: Any) -> None:
    """SparseAdam's step; all gradients are sparse."""
    beta1, beta2 = group["betas"]
    with no_grad():
        for param in group["params"]:
            if param.grad is None:
                continue
            kept = state[param]
            kept["step"] += 1
            grad = coalesced(-param.grad if group["maximize"] else param.grad)
            pattern, values = grad._pattern, grad._held
            if not values.numel():
                continue
            mean, square = values_at(kept["exp_avg"], pattern), values_at(kept["exp_avg_sq"], pattern)
            to_mean, to_square = (values - mean) * (1 - beta1), (values * values - square) * (1 - beta2)
            kept["exp_avg"].add_(from_values(to_mean, pattern))
            kept["exp_avg_sq"].add_(from_values(to_square, pattern))
            rate = float(group["lr"]) * (1 - beta2 ** kept["step"]) ** 0.5 / (1 - beta1 ** kept["step"])
            scale = (square + to_square).sqrt() + group["eps"]
            param.add_(from_values((mean + to_mean) / scale, pattern), alpha=-rate)
