"""Optimizer: groups, hooks, state dicts, copies."""

import copy
import pickle
import warnings
from math import inf

import pytest

import autograd_cy as ag
from autograd_cy.optim.optimizer import register_optimizer_step_post_hook, register_optimizer_step_pre_hook


def leaf(*values):
    x = ag.tensor(list(values), requires_grad=True)
    x.grad = ag.ones(len(values))
    return x


def test_groups_have_options_of_their_own():
    a, b = leaf(1.0), leaf(1.0)
    optimizer = ag.optim.SGD([{"params": a}, {"params": [b], "lr": 0.25}], lr=0.5)
    optimizer.step()
    assert (a.item(), b.item()) == (0.5, 0.75)
    c = leaf(1.0)
    optimizer.add_param_group({"params": [c], "lr": 1.0})
    optimizer.step()
    assert c.item() == 0.0
    assert optimizer.param_groups[2]["momentum"] == 0


@pytest.mark.parametrize(
    ("params", "error", "match"),
    [
        (list, ValueError, "optimizer got an empty parameter list"),
        (lambda: leaf(1.0), TypeError, "params argument given to the optimizer should be an iterable of Tensors or dicts"),
        (lambda: [leaf(1.0) * 2], ValueError, "can't optimize a non-leaf Tensor"),
        (lambda: [3], TypeError, "optimizer can only optimize Tensors, but one of the params is int"),
        (lambda: [{"params": {leaf(1.0)}}], TypeError, "need to be organized in ordered collections"),
        (lambda: [("a", leaf(1.0)), leaf(1.0)], ValueError, "Some param names are missing"),
        (lambda: [{"params": [leaf(1.0)]}, 3], TypeError, "param_group must be a dict"),
        (lambda: [{"params": [("a", leaf(1.0))]}, {"params": [leaf(1.0)]}], ValueError, "param group without names"),
    ],
)
def test_parameters_that_are_refused(params, error, match):
    with pytest.raises(error, match=match):
        ag.optim.SGD(params())


def test_parameters_in_two_groups():
    a = leaf(1.0)
    with pytest.raises(ValueError, match="some parameters appear in more than one parameter group"):
        ag.optim.SGD([{"params": [a]}, {"params": [a]}])
    with pytest.warns(UserWarning, match="duplicate parameters"):
        optimizer = ag.optim.SGD([a, a], lr=0.25)
    optimizer.step()
    assert a.item() == 0.5


def test_names_go_into_the_state_dict():
    optimizer = ag.optim.SGD([("first", leaf(1.0)), ("second", leaf(2.0))])
    assert optimizer.state_dict()["param_groups"][0]["param_names"] == ["first", "second"]
    other = ag.optim.SGD([leaf(1.0), leaf(2.0)])
    other.load_state_dict(optimizer.state_dict())
    assert other.param_groups[0]["param_names"] == ["first", "second"]


def test_repr():
    text = repr(ag.optim.SGD([leaf(1.0)], lr=0.5))
    assert text.startswith("SGD (\nParameter Group 0\n    dampening: 0\n") and text.endswith("    weight_decay: 0\n)")


def test_zero_grad():
    a, b = leaf(1.0), leaf(2.0)
    optimizer = ag.optim.SGD([a, b])
    kept = a.grad
    optimizer.zero_grad(set_to_none=False)
    assert a.grad is kept and a.grad.item() == 0
    optimizer.zero_grad()
    assert a.grad is None and b.grad is None


def test_a_closure_runs_with_gradients_on():
    w = leaf(1.0)
    optimizer = ag.optim.Adam([w])

    def closure():
        optimizer.zero_grad()
        loss = (w * w).sum()
        loss.backward()
        return loss

    with ag.no_grad():
        assert optimizer.step(closure).item() == 1.0


def test_hooks_of_steps_run_in_order():
    calls = []
    optimizer = ag.optim.SGD([leaf(1.0)])
    with (
        register_optimizer_step_pre_hook(lambda *_: calls.append("all before")),
        register_optimizer_step_post_hook(lambda *_: calls.append("all after")),
    ):
        optimizer.register_step_post_hook(lambda *_: calls.append("after"))
        handle = optimizer.register_step_pre_hook(lambda *_: calls.append("before"))
        optimizer.step()
        handle.remove()
        optimizer.step()
    assert calls == ["all before", "before", "after", "all after", "all before", "after", "all after"]


def test_hooks_change_arguments():
    optimizer = ag.optim.SGD([leaf(1.0)])
    optimizer.register_step_pre_hook(lambda self, args, kwargs: ((self, lambda: 7), {}))
    assert optimizer.step() == 7
    optimizer.register_step_pre_hook(lambda *_: 3)
    with pytest.raises(RuntimeError, match=r"must return None or a tuple of \(new_args, new_kwargs\), but got 3"):
        optimizer.step()


def test_hooks_of_state_dicts():
    calls = []
    optimizer = ag.optim.SGD([leaf(1.0)], lr=0.5)
    optimizer.register_state_dict_pre_hook(lambda self: calls.append("save"))
    optimizer.register_state_dict_pre_hook(lambda self: calls.append("save first"), prepend=True)
    optimizer.register_state_dict_post_hook(lambda self, state: {**state, "more": 1})
    optimizer.register_load_state_dict_pre_hook(lambda self, state: calls.append(("load", state["more"])))
    optimizer.register_load_state_dict_post_hook(lambda self: calls.append("loaded"))
    state = optimizer.state_dict()
    optimizer.load_state_dict(state)
    assert calls == ["save first", "save", ("load", 1), "loaded"]


def test_a_subclass_that_overrides_the_step_has_hooks():
    class Still(ag.optim.Optimizer):
        def step(self, closure=None):
            return "still"

    optimizer, calls = Still([leaf(1.0)], {}), []
    optimizer.register_step_post_hook(lambda *_: calls.append(1))
    assert optimizer.step() == "still" and calls == [1]
    with pytest.raises(NotImplementedError):
        ag.optim.Optimizer([leaf(1.0)], {}).step()


def test_state_dicts_of_other_groups_are_refused():
    optimizer = ag.optim.SGD([leaf(1.0)])
    with pytest.raises(ValueError, match="different number of parameter groups"):
        optimizer.load_state_dict({"state": {}, "param_groups": []})
    with pytest.raises(ValueError, match="doesn't match the size of optimizer's group"):
        optimizer.load_state_dict({"state": {}, "param_groups": [{"params": [0, 1]}]})


def test_loaded_state_gets_the_type_of_its_parameter():
    first = ag.optim.Adam([leaf(1.0)])
    first.step()
    wide = ag.ones(1, dtype=ag.float64, requires_grad=True)
    second = ag.optim.Adam([wide])
    second.load_state_dict(first.state_dict())
    assert second.state[wide]["exp_avg"].dtype is ag.float64 and second.state[wide]["step"].dtype is ag.float32


def test_old_state_dicts_lack_options_and_have_plain_steps():
    w = leaf(1.0)
    optimizer = ag.optim.Adam([w])
    optimizer.step()
    state = optimizer.state_dict()
    state["state"][0]["step"] = 1
    for name in ("amsgrad", "maximize", "fused", "decoupled_weight_decay"):
        del state["param_groups"][0][name]
    optimizer.load_state_dict(state)
    optimizer.step()
    assert optimizer.state[w]["step"].item() == 2 and optimizer.param_groups[0]["amsgrad"] is False


@pytest.mark.parametrize("copied", [copy.deepcopy, lambda x: pickle.loads(pickle.dumps(x))])
@pytest.mark.parametrize("name", ["SGD", "Adam", "AdamW", "Adagrad", "Rprop"])
def test_copies_step_on_their_own(name, copied):
    w = leaf(1.0, -2.0)
    optimizer = getattr(ag.optim, name)([w])
    optimizer.step()
    twin = copied(optimizer)
    [v] = twin.param_groups[0]["params"]
    before = w.tolist()
    v.grad = ag.ones(2)
    twin.step()
    assert w.tolist() == before
    w.grad = ag.ones(2)
    optimizer.step()
    assert w.tolist() == v.tolist()


def test_steps_are_regions_of_profiles():
    optimizer = ag.optim.SGD([leaf(1.0)])
    with ag.profiler.profile() as prof:
        optimizer.step()
        optimizer.zero_grad()
    keys = {average.key for average in prof.key_averages()}
    assert {"Optimizer.step#SGD.step", "Optimizer.zero_grad#SGD.zero_grad"} <= keys


def test_steps_are_kept_in_float64_where_that_is_the_default():
    ag.set_default_dtype(ag.float64)
    try:
        w = ag.ones(1, requires_grad=True)
        w.grad = ag.ones(1)
        optimizer = ag.optim.Adam([w])
        optimizer.step()
    finally:
        ag.set_default_dtype(ag.float32)
    assert optimizer.state[w]["step"].dtype is ag.float64


def test_nothing_warns():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for name in ("SGD", "Adam", "Adafactor", "ASGD", "Rprop"):
            getattr(ag.optim, name)([leaf(1.0)]).step()


def test_lbfgs_takes_a_gradient_of_zeros():
    """Its first step is divided by the gradient's length; a negative tolerance lets it go on at 0: ZeroDivisionError."""
    w = ag.zeros((), requires_grad=True)
    optimizer = ag.optim.LBFGS([w], lr=0.5, tolerance_grad=-inf)
    assert optimizer.step(lambda: ag.tensor(10.0)).item() == 10 and w.item() == 0
