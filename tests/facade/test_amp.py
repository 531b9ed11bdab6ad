"""GradScaler, and what autocast refuses. What autocast casts: test_autocast.py."""

import math
import pickle
import warnings
from types import SimpleNamespace

import pytest

import autograd_cy as ag


class Descent:
    """The least that a scaler asks of an optimizer."""

    def __init__(self, *parameters):
        self.param_groups = [{"params": list(parameters)}]

    def step(self, closure=None):
        for p in self.param_groups[0]["params"]:
            p.data.sub_(p.grad)
        return "stepped"


@pytest.fixture
def weight():
    return ag.tensor([1.0, 2.0], requires_grad=True)


def test_cuda_is_warned_of():
    for make in (lambda: ag.autocast("cuda"), ag.amp.GradScaler):
        with pytest.warns(UserWarning, match="CUDA is not available"):
            make()
    for make in (ag.cuda.amp.autocast, ag.cuda.amp.GradScaler):
        with pytest.warns(UserWarning, match="CUDA is not available"), pytest.warns(FutureWarning):
            make()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        ag.autocast("cuda", enabled=False)
        ag.amp.GradScaler(enabled=False)


@pytest.mark.parametrize(("device", "name", "instead"), [
    ("cuda", "GradScaler", "torch.amp.GradScaler('cuda', args...)"),
    ("cpu", "GradScaler", "torch.amp.GradScaler('cpu', args...)"),
    ("cuda", "autocast", "torch.amp.autocast('cuda', args...)"), ("cpu", "autocast", "torch.amp.autocast('cpu', args...)"),
    ("cuda", "custom_fwd", "torch.amp.custom_fwd(args..., device_type='cuda')"),
    ("cuda", "custom_bwd", "torch.amp.custom_bwd(args..., device_type='cuda')"),
])  # fmt: skip
def test_older_names_warn(device, name, instead):
    """Without a word, they were like those of torch.amp."""
    text = f"`torch.{device}.amp.{name}(args...)` is deprecated. Please use `{instead}` instead."
    with pytest.warns(FutureWarning) as warned:
        call = getattr(getattr(ag, device).amp, name)
        call(abs) if name.startswith("custom") else call(enabled=False)
    assert [str(w.message) for w in warned] == [text] and warned[0].filename == __file__


@pytest.mark.parametrize(("error", "wrong"), [
    (ValueError, lambda: ag.autocast(3)), (RuntimeError, lambda: ag.autocast("xyz")),
    (TypeError, lambda: ag.autocast("cpu", dtype="half")), (RuntimeError, lambda: ag.amp.GradScaler("xyz")),
    (AssertionError, lambda: ag.amp.GradScaler("cpu", growth_factor=1.0)),
    (AssertionError, lambda: ag.amp.GradScaler("cpu", backoff_factor=1.0)),
    (ValueError, lambda: ag.amp.custom_fwd(abs, device_type=None)),
    (ValueError, lambda: ag.amp.GradScaler("cpu").scale(3)),
])  # fmt: skip
def test_wrong_arguments(error, wrong):
    with pytest.raises(error):
        wrong()


def test_a_disabled_scaler_only_steps(weight):
    scaler, optimizer = ag.amp.GradScaler("cuda", enabled=False), Descent(weight)
    loss = (weight * weight).sum()
    assert scaler.scale(loss) is loss
    loss.backward()
    scaler.unscale_(optimizer)
    assert scaler.step(optimizer) == "stepped" and weight.tolist() == [-1, -2]
    scaler.update()
    assert (scaler.get_scale(), scaler.state_dict(), scaler.is_enabled()) == (1.0, {}, False)


def test_a_scaler_unscales_and_grows(weight):
    scaler, optimizer = ag.amp.GradScaler("cpu", init_scale=4.0, growth_interval=2), Descent(weight)
    for scale in (4.0, 4.0, 8.0):
        assert scaler.get_scale() == scale
        weight.grad = None
        scaler.scale(weight.sum()).backward()
        assert weight.grad.tolist() == [scale, scale]
        assert scaler.step(optimizer) == "stepped"
        scaler.update()
    assert weight.tolist() == [-2, -1]


def test_a_scaler_leaves_out_infinite_steps(weight):
    scaler, optimizer = ag.amp.GradScaler("cpu", init_scale=4.0), Descent(weight)
    scaler.scale(weight.sum() * math.inf).backward()
    assert scaler.step(optimizer) is None and weight.tolist() == [1, 2]
    scaler.update()
    assert scaler.get_scale() == 2.0
    other = ag.amp.GradScaler("cpu")
    other.load_state_dict(scaler.state_dict())
    assert other.state_dict() == scaler.state_dict()
    with pytest.raises(RuntimeError, match="source state dict is empty"):
        other.load_state_dict({})


def messages(scaler, optimizer, loss):
    """The errors of a scaler that is used in the wrong order."""
    found = []

    def tried(call, *args, **kwargs):
        try:
            call(*args, **kwargs)
        except (AssertionError, RuntimeError) as error:
            found.append((type(error), str(error)))
        else:
            found.append(None)

    for name in ("step", "unscale_"):
        tried(getattr(scaler, name), optimizer)
    tried(scaler.update)
    scaler.scale(loss).backward()
    tried(scaler.update)
    for name in ("unscale_", "unscale_", "step", "step", "unscale_"):
        tried(getattr(scaler, name), optimizer)
    tried(scaler.step, optimizer, closure=len)
    tried(scaler.update)
    found.append(scaler.state_dict())
    return found


def test_the_order_of_calls_is_that_of_pytorch(weight):
    torch = pytest.importorskip("torch")
    other = torch.tensor([1.0, 2.0], requires_grad=True)
    theirs = messages(torch.amp.GradScaler("cpu"), Descent(other), other.sum())
    assert messages(ag.amp.GradScaler("cpu"), Descent(weight), weight.sum()) == theirs


def test_half_gradients_are_not_unscaled():
    scaler, half = ag.amp.GradScaler("cpu"), ag.ones(2, dtype=ag.float16)
    scaler.scale(ag.ones(1))
    optimizer = SimpleNamespace(param_groups=[{"params": [SimpleNamespace(grad=half)]}])
    with pytest.raises(ValueError, match="Attempting to unscale FP16 gradients"):
        scaler.unscale_(optimizer)


def test_scaler_has_tensors_from_its_first_use_on():
    scaler = ag.GradScaler("cpu", init_scale=4.0)
    assert scaler._scale is None and scaler._growth_tracker is None and scaler.get_scale() == 4
    scaler.scale(ag.ones(1))
    assert ag.equal(scaler._scale, ag.tensor(4.0)) and scaler._growth_tracker.dtype is ag.int32
    copied = pickle.loads(pickle.dumps(scaler))
    assert copied._scale is None and copied.get_scale() == 4 and copied._init_growth_tracker == 0
    assert copied._per_optimizer_states["any"] == ag.amp.grad_scaler._refresh_per_optimizer_state()
    with pytest.raises(AssertionError, match="may only be pickled at the beginning of an iteration"):
        pickle.dumps(copied)


def test_state_of_an_optimizer(weight):
    scaler, optimizer = ag.GradScaler("cpu", init_scale=4.0), Descent(weight)
    scaler.scale(weight.sum()).backward()
    states = scaler._per_optimizer_states
    scaler.unscale_(optimizer)
    assert states[id(optimizer)]["stage"] is ag.amp.grad_scaler.OptState.UNSCALED
    assert [found.item() for found in states[id(optimizer)]["found_inf_per_device"].values()] == [0]
    scaler.step(optimizer)
    assert states[id(optimizer)]["stage"] is ag.amp.grad_scaler.OptState.STEPPED
    scaler.update()
    assert not scaler._per_optimizer_states


def test_gradients_of_several_dtypes_and_sparse_ones_are_unscaled():
    scaler = ag.GradScaler("cpu")
    dense, half, sparse = ag.zeros(2), ag.zeros(2, dtype=ag.float16), ag.zeros(2)
    dense.grad, half.grad, sparse.grad = (
        ag.full((2,), 8.0),
        ag.full((2,), 8.0, dtype=ag.float16),
        ag.tensor([0, 8.0]).to_sparse(),
    )
    optimizer = Descent(dense, half, sparse)
    with pytest.raises(ValueError, match="Attempting to unscale FP16 gradients"):
        scaler._unscale_grads_(optimizer, ag.tensor(0.25), ag.zeros(1), False)
    (found,) = scaler._unscale_grads_(optimizer, ag.tensor(0.25), ag.zeros(1), True).values()
    assert found.item() == 0 and sparse.grad.to_dense().tolist() == [0, 2]
    assert dense.grad.tolist() == half.grad.tolist() == [2, 2]
    half.grad[1] = math.inf
    (found,) = scaler._unscale_grads_(optimizer, ag.tensor(0.25), ag.zeros(1), True).values()
    assert found.item() == 1


def test_scale_is_updated_in_place():
    scale, tracker, infinite = ag.tensor(4.0), ag.zeros((), dtype=ag.int32), ag.zeros(1)
    seen = []
    for found in (0, 0, 1):
        infinite.fill_(found)
        assert ag._amp_update_scale_(scale, tracker, infinite, 2.0, 0.25, 2) is scale
        seen.append((scale.item(), tracker.item()))
    assert seen == [(4, 1), (8, 0), (2, 0)]


def test_factors_can_be_changed():
    scaler = ag.GradScaler("cpu")
    scaler.set_growth_factor(3.0), scaler.set_backoff_factor(0.1), scaler.set_growth_interval(5)
    assert (scaler.get_growth_factor(), scaler.get_backoff_factor(), scaler.get_growth_interval()) == (3, 0.1, 5)
