"""An exception in the closure of a step leaves the optimizer as if the step had not been begun."""

import copy
import itertools

import pytest

import autograd_cy as ag

MADE = {
    name: lambda params, cls=cls: cls(params)
    for name, cls in vars(ag.optim).items()
    if isinstance(cls, type) and issubclass(cls, ag.optim.Optimizer) and name not in ("Optimizer", "SparseAdam", "LBFGS")
}
MADE["LBFGS"] = lambda params: ag.optim.LBFGS(params, max_iter=6)
MADE["LBFGS, short history"] = lambda params: ag.optim.LBFGS(params, max_iter=6, history_size=2)
MADE["LBFGS, line search"] = lambda params: ag.optim.LBFGS(params, max_iter=6, line_search_fn="strong_wolfe")
CALLS = range(1, 7)  # those of a step in which the closure raises, one after the other


def problem(name):
    w = ag.tensor([[1.0, -2.0], [0.5, 3.0]], dtype=ag.float64, requires_grad=True)
    optimizer = MADE[name]([w])

    def closure():
        optimizer.zero_grad()
        loss = ((w - 3) ** 4).sum() + (w[0] * w[1]).sum() ** 2
        loss.backward()
        return loss

    return w, optimizer, closure


def failing(closure, call):
    calls = itertools.count(1)

    def called():
        if next(calls) == call:
            raise KeyboardInterrupt
        return closure()

    return called


def numbers(value):
    if isinstance(value, dict):
        return {key: numbers(x) for key, x in value.items()}
    if isinstance(value, list):
        return [numbers(x) for x in value]
    return value.tolist() if isinstance(value, ag.Tensor) else value


@pytest.mark.parametrize("steps", [0, 1, 3])
@pytest.mark.parametrize("name", MADE)
def test_a_step_whose_closure_raises_is_undone(name, steps):
    """LBFGS went on from a point between two of a line search, with remembered differences of another one.

    A row of docs/differences.md: PyTorch does.
    """
    for fails_in in CALLS:
        w, optimizer, closure = problem(name)
        other, undisturbed, same = problem(name)
        for _ in range(steps):
            optimizer.step(closure)
            undisturbed.step(same)
        at, state = w.tolist(), copy.deepcopy(numbers(optimizer.state_dict()))
        try:
            optimizer.step(failing(closure, fails_in))
        except KeyboardInterrupt:
            assert w.tolist() == at and numbers(optimizer.state_dict()) == state
        else:
            break  # it was called less often
        for _ in range(3):
            assert optimizer.step(closure).item() == undisturbed.step(same).item()
        assert w.equal(other)
    assert fails_in > 1
