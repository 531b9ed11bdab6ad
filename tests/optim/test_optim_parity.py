"""Optimizers against PyTorch's, over its own database of them: parameters, state and messages."""

import copy
import inspect
import pickle

import numpy as np
import pytest

import autograd_cy as ag

torch = pytest.importorskip("torch")
op_db = pytest.importorskip("op_db")
op_db.load()
from torch.testing._internal.common_optimizers import optim_db  # noqa: E402

INFOS = {info.optim_cls.__name__: info for info in optim_db if info.optim_cls.__name__ != "SparseAdam"}
STEPS = {"float32": 100, "float64": 20, "complex64": 20}
SHAPES = {"Muon": [(5, 4), (3, 6)]}
# Muon rounds to bfloat16: a sum near the middle of two numbers goes either way, by the order of its terms, and then an update
# of 0.01 differs by a 256th, which further steps enlarge. NAdam keeps a product of numbers in float32, and PyTorch rounds it
# before it is used.
LIMITS = {("Muon", "float32"): 1e-4, ("Muon", "float64"): 1e-4, ("NAdam", "float64"): 1e-6}
# Those that take no roots, which PyTorch's kernels don't round correctly, have its bits where there are fused multiply-adds.
EXACT = ("SGD", "ASGD", "Rprop")


def converted(value, seen=None):
    """Options, or parameters, in this package's terms; what is one tensor there is one here."""
    seen = {} if seen is None else seen
    if isinstance(value, torch.Tensor):
        if id(value) not in seen:
            seen[id(value)] = ag.from_numpy(value.detach().numpy().copy()).requires_grad_(value.requires_grad)
        return seen[id(value)]
    if isinstance(value, dict):
        return {key: converted(item, seen) for key, item in value.items()}
    return type(value)(converted(item, seen) for item in value) if isinstance(value, (list, tuple)) else value


def inputs(name):
    """The options of the database that a CPU can do, each once."""
    seen = {}
    for row in INFOS[name].optim_inputs_func(device="cpu"):
        kwargs = {key: value for key, value in row.kwargs.items() if key not in ("foreach", "fused")}
        if not kwargs.get("capturable") and not kwargs.get("differentiable"):
            seen.setdefault(str(kwargs), kwargs)
    return list(seen.values())


def arrays(name, dtype, rng):
    drawn = []
    for shape in SHAPES.get(name, [(4, 3), (5,), ()]):
        value = rng.standard_normal(shape)
        drawn.append(np.asarray(value + 1j * rng.standard_normal(shape) if "complex" in dtype else value, dtype))
    return drawn


def close(ours, theirs, limit):
    ours, theirs = np.asarray(ours), np.asarray(theirs)
    np.testing.assert_allclose(ours, theirs, rtol=limit, atol=limit * max(np.abs(theirs).max(initial=0), 1e-3))


def both(name, kwargs, dtype, rng):
    start = arrays(name, dtype, rng)
    ours = [ag.from_numpy(x.copy()).requires_grad_() for x in start]
    theirs = [torch.from_numpy(x.copy()).requires_grad_() for x in start]
    first = getattr(ag.optim, name)(ours, **converted(kwargs))
    return ours, theirs, first, getattr(torch.optim, name)(theirs, **copy.deepcopy(kwargs))


def step_both(name, dtype, rng, ours, theirs, first, second):
    for x, y, g in zip(ours, theirs, arrays(name, dtype, rng), strict=True):
        x.grad, y.grad = ag.from_numpy(g.copy()), torch.from_numpy(g.copy())
    first.step()
    second.step()


def check_state(ours, theirs, limit):
    """The state dicts have the same keys and numbers."""
    a, b = ours.state_dict(), theirs.state_dict()
    assert set(a["state"]) == set(b["state"])
    for key, state in b["state"].items():
        assert set(a["state"][key]) == set(state)
        for name, value in state.items():
            assert a["state"][key][name].numpy().dtype == value.numpy().dtype
            close(a["state"][key][name].numpy(), value.numpy(), limit)
    assert [set(group) for group in a["param_groups"]] == [set(group) for group in b["param_groups"]]
    assert [group["params"] for group in a["param_groups"]] == [group["params"] for group in b["param_groups"]]


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("dtype", ["float32", "float64", "complex64"])
@pytest.mark.parametrize("name", [name for name in INFOS if name != "LBFGS"])
def test_a_hundred_steps(name, dtype):
    if "complex" in dtype and not INFOS[name].supports_complex:
        pytest.skip("PyTorch's takes no complex parameters either")
    limit = LIMITS.get((name, dtype), 1e-12 if dtype == "float64" else 1e-6)
    for kwargs in inputs(name):
        rng = np.random.default_rng(0)
        ours, theirs, first, second = both(name, kwargs, dtype, rng)
        for _ in range(STEPS[dtype]):
            step_both(name, dtype, rng, ours, theirs, first, second)
        for x, y in zip(ours, theirs, strict=True):
            close(x.detach().numpy(), y.detach().numpy(), limit)
        check_state(first, second, limit)


@pytest.mark.skipif(torch.backends.cpu.get_cpu_capability() == "DEFAULT", reason="PyTorch fuses nothing here")
@pytest.mark.parametrize("name", EXACT)
def test_steps_without_roots_are_those_of_pytorch_to_the_bit(name):
    for kwargs in inputs(name):
        rng = np.random.default_rng(2)
        ours, theirs, first, second = both(name, kwargs, "float32", rng)
        for _ in range(20):
            step_both(name, "float32", rng, ours, theirs, first, second)
        for x, y in zip(ours, theirs, strict=True):
            assert x.tolist() == y.tolist()


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("search", [None, "strong_wolfe"])
@pytest.mark.parametrize("lr", [1, 0.2])
def test_lbfgs(search, lr):
    """The same losses at each call of the closure, and so the same number of them."""
    losses = {}
    for library in (ag, torch):
        x = library.tensor([-1.5, 2.0, 0.5], dtype=library.float64, requires_grad=True)
        optimizer, seen = library.optim.LBFGS([x], lr=lr / (1 if search else 100), line_search_fn=search, max_iter=8), []

        def closure(x=x, optimizer=optimizer, seen=seen):
            optimizer.zero_grad()
            loss = (100 * (x[1:] - x[:-1] ** 2) ** 2 + (1 - x[:-1]) ** 2).sum()
            loss.backward()
            seen.append(loss.item())
            return loss

        for _ in range(5):
            optimizer.step(closure)
        losses[library] = seen
        state = optimizer.state_dict()["state"][0]
        assert state["func_evals"] == len(seen)
    np.testing.assert_allclose(losses[ag], losses[torch], rtol=1e-6)
    assert losses[ag][-1] < losses[ag][0]


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", [name for name in INFOS if name != "LBFGS"])
def test_state_dicts_go_both_ways(name):
    """A state dict of each library continues in the other: by way of arrays in one direction, as it is in the other."""
    rng = np.random.default_rng(1)
    ours, theirs, first, second = both(name, {}, "float32", rng)
    step_both(name, "float32", rng, ours, theirs, first, second)
    fresh_ours, fresh_theirs, new_first, new_second = both(name, {}, "float32", np.random.default_rng(1))
    new_first.load_state_dict(second.state_dict())
    state = first.state_dict()
    state["state"] = {
        key: {name: torch.from_numpy(value.numpy().copy()) for name, value in values.items()}
        for key, values in state["state"].items()
    }
    new_second.load_state_dict(pickle.loads(pickle.dumps(state)))
    for pairs in ((ours, fresh_ours), (theirs, fresh_theirs)):
        for x, y in zip(*pairs, strict=True):
            y.data.copy_(x.data)
    for _ in range(3):
        step_both(name, "float32", rng, fresh_ours, fresh_theirs, new_first, new_second)
    for x, y in zip(fresh_ours, fresh_theirs, strict=True):
        close(x.detach().numpy(), y.detach().numpy(), LIMITS.get((name, "float32"), 1e-6))


def errors_of(name):
    return INFOS[name].optim_error_inputs_func("cpu", torch.float32)


@pytest.mark.parametrize("name", INFOS)
def test_errors_are_those_of_the_database(name):
    """Options that PyTorch refuses are refused with its message."""
    checked = 0
    for row in errors_of(name):
        error = row.optimizer_error_input
        if "STEP" in str(row.error_on):
            continue  # sparse gradients, which there are none of
        seen = pytest.warns if issubclass(row.error_type, Warning) else pytest.raises
        with seen(row.error_type, match=row.error_regex):
            getattr(ag.optim, name)(converted(error.params), **converted(error.kwargs))
        checked += 1
    assert checked


@pytest.mark.parametrize("name", INFOS)
def test_signatures(name):
    """The options have PyTorch's names, order and defaults."""
    ours, theirs = (inspect.signature(getattr(library.optim, name)).parameters for library in (ag, torch))
    assert [(p.name, p.kind, p.default) for p in ours.values()] == [(p.name, p.kind, p.default) for p in theirs.values()]
