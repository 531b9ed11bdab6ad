"""Averages of a model's weights over training."""

import pytest

import autograd_cy as ag
from autograd_cy.optim import swa_utils


def linear(value):
    layer = ag.nn.Linear(2, 1)
    with ag.no_grad():
        for p in layer.parameters():
            p.fill_(value)
    return layer


def test_plain_averages():
    model = linear(1.0)
    averaged = swa_utils.AveragedModel(model)
    for value in (1.0, 2.0, 6.0):
        with ag.no_grad():
            model.weight.fill_(value)
        averaged.update_parameters(model)
    assert averaged.module.weight.tolist() == [[3.0, 3.0]] and averaged.n_averaged.item() == 3
    assert averaged(ag.ones(1, 2)).item() == 7.0
    assert set(averaged.state_dict()) == {"n_averaged", "module.weight", "module.bias"}


@pytest.mark.parametrize("kind", ["avg_fn", "multi_avg_fn"])
def test_exponential_averages(kind):
    options = {kind: getattr(swa_utils, f"get_ema_{kind}")(0.5)}
    model = linear(1.0)
    averaged = swa_utils.AveragedModel(model, **options)
    averaged.update_parameters(model)
    averaged.update_parameters(linear(3.0))
    assert averaged.module.weight.tolist() == [[2.0, 2.0]]


@pytest.mark.parametrize("use_buffers", [False, True])
def test_buffers_are_copied_or_averaged(use_buffers):
    model = linear(1.0)
    model.register_buffer("seen", ag.tensor(1.0))
    averaged = swa_utils.AveragedModel(model, use_buffers=use_buffers)
    averaged.update_parameters(model)
    model.seen.fill_(3.0)
    averaged.update_parameters(model)
    assert averaged.module.seen.item() == (2.0 if use_buffers else 3.0)


def test_refusals():
    with pytest.raises(ValueError, match="Invalid decay value 2 provided"):
        swa_utils.get_ema_avg_fn(2)
    with pytest.raises(AssertionError, match="Only one of avg_fn and multi_avg_fn"):
        swa_utils.AveragedModel(linear(1.0), avg_fn=min, multi_avg_fn=min)
    optimizer = ag.optim.SGD([ag.ones(1, requires_grad=True)])
    with pytest.raises(ValueError, match="anneal_strategy must be one of"):
        swa_utils.SWALR(optimizer, 0.1, anneal_strategy="x")
    with pytest.raises(ValueError, match="anneal_epochs must be equal or greater than 0"):
        swa_utils.SWALR(optimizer, 0.1, anneal_epochs=-1)


class Counting(ag.nn.Module):
    """Stands for a layer of batch norm: what update_bn asks of one."""

    def __init__(self):
        super().__init__()
        self.momentum, self.seen, self.resets = 0.1, [], 0

    def reset_running_stats(self):
        self.resets += 1

    def forward(self, x):
        self.seen.append((self.momentum, self.training, x.tolist()))
        return x


def test_statistics_are_found_anew():
    layer = Counting()
    layer.eval()
    swa_utils.update_bn([ag.ones(1), (ag.zeros(1), 7)], ag.nn.Sequential(layer))
    assert layer.seen == [(None, True, [1.0]), (None, True, [0.0])] and layer.resets == 1 and layer.momentum == 0.1
