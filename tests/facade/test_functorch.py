"""functorch's helpers: modules as functions of their tensors, and how transforms choose arguments."""

import pytest

import autograd_cy as torch
from autograd_cy._functorch.eager_transforms import _slice_argnums
from autograd_cy._functorch.make_functional import (
    combine_state_for_ensemble,
    functional_init,
    functional_init_with_buffers,
    make_functional,
    make_functional_with_buffers,
)
from autograd_cy.func import grad, replace_all_batch_norm_modules_, vmap

nn = torch.nn


def classifier():
    return nn.Sequential(nn.Linear(2, 3), nn.BatchNorm1d(3), nn.Linear(3, 2)).eval()


class Tied(nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = nn.Linear(3, 3)
        self.bias = self.linear.bias

    def forward(self, x):
        return self.linear(x) + self.bias


def test_a_module_as_a_function_of_its_parameters():
    for model in (nn.Linear(3, 2), Tied()):
        function, params = make_functional(model)
        x = torch.randn(4, 3)
        assert torch.equal(function(params, x), model(x)) and len(params) == 2
        expected = torch.autograd.grad(model(x).sum(), list(model.parameters()))
        found = grad(lambda p, f=function, x=x: f(p, x).sum())(params)
        assert [g.tolist() for g in found] == [g.tolist() for g in expected]
        assert params[0] is not next(model.parameters()) and params[0].requires_grad
        assert not make_functional(model, disable_autograd_tracking=True)[1][0].requires_grad
    with pytest.raises(RuntimeError, match="`model` has buffers"):
        make_functional(classifier())


def test_parameters_and_buffers():
    model, x = classifier(), torch.randn(4, 2)
    function, params, buffers = make_functional_with_buffers(model)
    assert torch.equal(function(params, buffers, x), model(x)) and (len(params), len(buffers)) == (6, 3)
    models = [classifier() for _ in range(3)]
    together, params, buffers = combine_state_for_ensemble(models)
    found = vmap(together, (0, 0, None))(params, buffers, x)
    torch.testing.assert_close(found, torch.stack([m(x) for m in models]))
    with pytest.raises(RuntimeError, match="Expected at least one model"):
        combine_state_for_ensemble([])


def test_new_models():
    weights, function, names = functional_init(nn.Linear, (5,))(2, 3)
    x = torch.randn(5, 4, 2)
    assert names == ("weight", "bias") and vmap(function)(weights, (x,)).shape == (5, 4, 3)
    torch.testing.assert_close(vmap(function)(weights, x)[1], x[1] @ weights[0][1].T + weights[1][1])
    weights, buffers, function, _, _ = functional_init_with_buffers(classifier, (5,))()
    assert vmap(function)(weights, buffers, (x,)).shape == (5, 4, 2) and len(buffers) == 3
    weights, function, _ = functional_init(nn.Linear)(2, 3)
    assert function(weights, x[0]).shape == (4, 3)
    with pytest.raises(RuntimeError, match="the model has buffers"):
        functional_init(classifier, (2,))()
    with pytest.raises(ValueError, match="ensemble_shape with more than 1 element"):
        functional_init(nn.Linear, (2, 2))


def test_chosen_arguments():
    args = ((1, 2), 3, [4])
    assert _slice_argnums(args, 0) == ((1, 2),) and _slice_argnums(args, -1) == ([4],)
    assert _slice_argnums(args, (1, 0)) == (3, (1, 2)) and _slice_argnums(args, 1, as_tuple=False) == 3
    for argnums, text in ((0.0, "int or Tuple"), ((0.0,), "must be int"), (3, "positional inputs"), ((), "non-empty"),
                          ((0, -3), "must be unique")):  # fmt: skip
        with pytest.raises(RuntimeError, match=text):
            _slice_argnums(args, argnums)


def test_batch_norms_without_statistics():
    net = nn.Sequential(nn.Linear(2, 3), nn.Sequential(nn.BatchNorm1d(3)))
    x = torch.randn(4, 6, 2)
    assert replace_all_batch_norm_modules_(net) is net and list(net.buffers()) == []
    torch.testing.assert_close(vmap(net)(x), torch.stack([net(sample) for sample in x]))
    single = replace_all_batch_norm_modules_(nn.BatchNorm2d(3))
    assert single.running_mean is single.running_var is None and not single.track_running_stats
