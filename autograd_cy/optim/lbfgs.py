"""LBFGS (facade)."""

from collections.abc import Callable, Iterable
from typing import Any

from .._core.graph.tensor import Tensor
from .._functional.names import cat, view_as_real
from ..autograd.grad_mode import enable_grad, no_grad
from ._fused import check_lr as _check_lr
from ._line_search import Point as _Point
from ._line_search import cubic_of_torch as _cubic_interpolate  # noqa: F401
from ._line_search import strong_wolfe as _found_by_search
from ._line_search import strong_wolfe_of_torch as _strong_wolfe  # noqa: F401
from .optimizer import Optimizer

__all__ = ["LBFGS"]

_REMEMBERED = ("d", "t", "old_dirs", "old_stps", "ro", "H_diag", "prev_flat_grad", "prev_loss")


class LBFGS(Optimizer):
    """``LBFGS(params, lr=1, max_iter=20, max_eval=None, tolerance_grad=1e-7, tolerance_change=1e-9, history_size=100)``.

    A step is up to `max_iter` quasi-Newton steps with a memory of `history_size` gradient differences (Liu and Nocedal,
    1989), of length `lr`, or, with ``line_search_fn="strong_wolfe"``, chosen by a line search. It calls its closure at most
    `max_eval` times (by default `max_iter * 5 / 4`). One group of parameters; ValueError for more.

    >>> import autograd_cy as ag
    >>> w = ag.tensor([1.0, -2.0], requires_grad=True)
    >>> optimizer = ag.optim.LBFGS([w], line_search_fn="strong_wolfe")
    >>> def closure():
    ...     optimizer.zero_grad()
    ...     loss = ((w - 3) ** 4).sum()
    ...     loss.backward()
    ...     return loss
    >>> optimizer.step(closure)
    tensor(641., grad_fn=<SumBackward0>)
    >>> bool((w - 3).abs().max() < 0.05)
    True
    """

    def __init__(
        self, params: Iterable[Any], lr: float | Tensor = 1, max_iter: int = 20, max_eval: int | None = None,
        tolerance_grad: float = 1e-7, tolerance_change: float = 1e-9, history_size: int = 100,
        line_search_fn: str | None = None,
    ) -> None:  # fmt: skip
        _check_lr(lr)
        defaults = {
            "lr": lr, "max_iter": max_iter, "max_eval": max_iter * 5 // 4 if max_eval is None else max_eval,
            "tolerance_grad": tolerance_grad, "tolerance_change": tolerance_change, "history_size": history_size,
            "line_search_fn": line_search_fn,
        }  # fmt: skip
        super().__init__(params, defaults)
        if len(self.param_groups) != 1:
            raise ValueError("LBFGS doesn't support per-parameter options (parameter groups)")

    @no_grad()
    def step(self, closure: Callable[[], Any]) -> Any:  # type: ignore[override]
        """``step(closure)`` takes up to `max_iter` steps; returns the closure's result before them.

        If the closure raises, parameters and state keep, or get back, their values.
        """
        if len(self.param_groups) != 1:
            raise AssertionError(f"Expected exactly one param_group, but got {len(self.param_groups)}")
        group = self.param_groups[0]
        if group["line_search_fn"] not in (None, "strong_wolfe"):
            raise RuntimeError("only 'strong_wolfe' is supported")
        closure = enable_grad()(closure)
        first = closure()
        owner = group["params"][0]
        state: dict[str, Any] = {
            name: list(value) if isinstance(value, list) else value for name, value in self.state.get(owner, {}).items()
        }
        state["func_evals"] = state.get("func_evals", 0) + 1
        state.setdefault("n_iter", 0)
        flat = self._flat_grad()
        if not flat.abs().max() <= group["tolerance_grad"]:
            before = [param.clone() for param in group["params"]]
            try:
                self._descend(closure, group, state, _number(first), flat)
            except BaseException:
                _put_back(group["params"], before)
                raise
        self.state[owner].update(state)
        return first

    def _descend(
        self, closure: Callable[[], Any], group: dict[str, Any], state: dict[str, Any], loss: float, flat: Tensor
    ) -> None:
        """The steps, and updates of the memory; `flat` is the gradient at the start."""
        memory = {name: state.get(name) for name in _REMEMBERED}
        evaluations, tolerance = 1, group["tolerance_change"]
        for n in range(1, group["max_iter"] + 1):
            state["n_iter"] += 1
            is_first = state["n_iter"] == 1
            direction = self._direction(state, memory, flat, group["history_size"], is_first)
            before, lr = loss, float(group["lr"])
            length = flat.abs().sum().item()
            t = min(1.0, 1.0 / length) * lr if is_first and length else lr
            slope = flat.dot(direction).item()
            memory.update(d=direction, t=t, prev_flat_grad=flat.clone(), prev_loss=loss)
            if slope > -tolerance:
                break
            is_last = n == group["max_iter"]
            start = _Point(0.0, loss, flat, slope)
            loss, flat, t, tried = self._move(closure, group, start, direction, t, evaluations, is_last)
            memory["t"] = t
            evaluations += tried
            state["func_evals"] += tried
            if is_last or evaluations >= group["max_eval"] or flat.abs().max() <= group["tolerance_grad"]:
                break
            if direction.mul(t).abs().max() <= tolerance or abs(loss - before) < tolerance:
                break
        state.update(memory)

    def _direction(self, state: dict[str, Any], memory: dict[str, Any], flat: Tensor, most: int, is_first: bool) -> Tensor:
        """Minus the gradient, times the estimate of the inverse Hessian from the memory."""
        if is_first:
            memory.update(old_dirs=[], old_stps=[], ro=[], H_diag=1)
            return flat.neg()
        _remember(memory, flat, most)
        differences, steps, ro = memory["old_dirs"], memory["old_stps"], [float(value) for value in memory["ro"]]
        factors = state.setdefault("al", [None] * most)
        direction = flat.neg()
        for i in reversed(range(len(differences))):
            factors[i] = steps[i].dot(direction).item() * ro[i]
            direction.add_(differences[i], alpha=-factors[i])
        direction = direction.mul(float(memory["H_diag"]))
        for i in range(len(differences)):
            direction.add_(steps[i], alpha=factors[i] - differences[i].dot(direction).item() * ro[i])
        return direction

    def _move(
        self, closure: Callable[[], Any], group: dict[str, Any], start: _Point, direction: Tensor, t: float, evaluations: int,
        is_last: bool,
    ) -> tuple[float, Tensor, float, int]:  # fmt: skip
        """Step along the direction; returns the new loss and gradient, the step length, and the number of closure calls."""
        if group["line_search_fn"] is None:
            self._add(direction, t)
            if is_last:
                return start.loss, start.grad, t, 0
            return _number(closure()), self._flat_grad(), t, 1
        params = group["params"]
        saved = [param.clone() for param in params]

        def evaluate(t: float) -> _Point:
            self._add(direction, t)
            loss, flat = _number(closure()), self._flat_grad()
            _put_back(params, saved)
            return _Point(t, loss, flat, flat.dot(direction).item())

        span = direction.abs().max().item()
        most = group["max_eval"] - evaluations
        point, tried = _found_by_search(evaluate, start, t, span, group["tolerance_change"], most)
        self._add(direction, point.t)
        return point.loss, point.grad, point.t, tried

    def _flat_grad(self) -> Tensor:
        """All gradients in one vector, complex ones as pairs of real numbers; zeros for missing ones."""
        params = self.param_groups[0]["params"]
        grads = [param.detach().new_zeros(param.shape) if param.grad is None else param.grad for param in params]
        return cat([(view_as_real(grad) if grad.is_complex() else grad.to_dense()).reshape(-1) for grad in grads])

    def _add(self, direction: Tensor, t: float) -> None:
        """Add t times the direction, a vector of all parameters."""
        offset = 0
        for param in self.param_groups[0]["params"]:
            numbers = view_as_real(param) if param.is_complex() else param
            n = numbers.numel()
            numbers.add_(direction[offset : offset + n].view(numbers.shape), alpha=t)
            offset += n


def _put_back(params: list[Tensor], values: list[Tensor]) -> None:
    for param, value in zip(params, values, strict=True):
        param.copy_(value)


def _number(loss: Any) -> float:
    return loss.item() if isinstance(loss, Tensor) else float(loss)


def _remember(memory: dict[str, Any], flat: Tensor, most: int) -> None:
    """Add the latest step and its gradient difference to the memory."""
    difference, step = flat.sub(memory["prev_flat_grad"]), memory["d"].mul(memory["t"])
    product = difference.dot(step).item()
    if not product > 1e-10:
        return
    if len(memory["old_dirs"]) == most:
        for name in ("old_dirs", "old_stps", "ro"):
            memory[name].pop(0)
    memory["old_dirs"].append(difference)
    memory["old_stps"].append(step)
    memory["ro"].append(1.0 / product)
    memory["H_diag"] = product / difference.dot(difference).item()
