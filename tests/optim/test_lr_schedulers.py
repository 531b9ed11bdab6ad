"""Schedules of the learning rate: against closed formulas, and against PyTorch's where it is installed."""

import math
import pickle
import warnings

import pytest

import autograd_cy as ag

try:
    import torch
except ImportError:
    torch = None
needs_torch = pytest.mark.skipif(torch is None, reason="PyTorch is not installed")

EPOCHS = 14
# name, options, the rate at an epoch for a first one of 1 (or None)
SCHEDULES = [
    ("LambdaLR", {"lr_lambda": lambda epoch: 0.9**epoch}, lambda n: 0.9**n),
    ("MultiplicativeLR", {"lr_lambda": lambda epoch: 0.9}, lambda n: 0.9**n),
    ("StepLR", {"step_size": 3, "gamma": 0.5}, lambda n: 0.5 ** (n // 3)),
    ("MultiStepLR", {"milestones": [2, 5, 5, 9], "gamma": 0.5}, lambda n: 0.5 ** sum(n >= m for m in (2, 5, 5, 9))),
    ("ConstantLR", {"factor": 0.25, "total_iters": 4}, lambda n: 0.25 if n < 4 else 1),
    ("LinearLR", {"start_factor": 0.25, "end_factor": 0.75, "total_iters": 4}, lambda n: 0.25 + 0.5 * min(n, 4) / 4),
    ("ExponentialLR", {"gamma": 0.8}, lambda n: 0.8**n),
    ("PolynomialLR", {"total_iters": 6, "power": 2}, lambda n: (1 - min(n, 6) / 6) ** 2),
    ("CosineAnnealingLR", {"T_max": 5, "eta_min": 0.1}, lambda n: 0.1 + 0.45 * (1 + math.cos(math.pi * n / 5))),
    ("CosineAnnealingWarmRestarts", {"T_0": 4}, lambda n: 0.5 * (1 + math.cos(math.pi * (n % 4) / 4))),
    ("CosineAnnealingWarmRestarts", {"T_0": 2, "T_mult": 2, "eta_min": 0.1}, None),
    ("CyclicLR", {"base_lr": 0.1, "max_lr": 1.1, "step_size_up": 2}, lambda n: 0.1 + abs((n + 2) % 4 - 2) / 2),
    ("CyclicLR", {"base_lr": 0.1, "max_lr": 1.1, "step_size_up": 2, "step_size_down": 3, "mode": "triangular2"}, None),
    ("CyclicLR", {"base_lr": 0.1, "max_lr": 1.1, "step_size_up": 2, "mode": "exp_range", "gamma": 0.9}, None),
    ("CyclicLR", {"base_lr": [0.1], "max_lr": 1.1, "step_size_up": 2, "scale_fn": lambda x: 1 / x, "cycle_momentum": False},
     None),
    ("OneCycleLR", {"max_lr": 1.0, "total_steps": EPOCHS + 1}, None),
    ("OneCycleLR", {"max_lr": 1.0, "epochs": 5, "steps_per_epoch": 3, "anneal_strategy": "linear"}, None),
    ("OneCycleLR", {"max_lr": 1.0, "total_steps": 16, "three_phase": True, "pct_start": 0.25}, None),
    ("SWALR", {"swa_lr": 0.1, "anneal_epochs": 5}, None),
    ("SWALR", {"swa_lr": 0.1, "anneal_epochs": 0, "anneal_strategy": "linear"}, None),
]  # fmt: skip
IDS = [f"{name}-{i}" for i, (name, *_) in enumerate(SCHEDULES)]


def module_of(library, name):
    return library.optim.swa_utils if name == "SWALR" else library.optim.lr_scheduler


def optimizer_of(library, cls="SGD", lr=1.0):
    options = {"momentum": 0.9} if cls == "SGD" else {}
    return getattr(library.optim, cls)([library.ones(1, requires_grad=True)], lr=lr, **options)


def rates(scheduler, epochs=EPOCHS):
    """The rate and the momentum of each epoch, in turn."""
    seen, group = [], scheduler.optimizer.param_groups[0]
    for _ in range(epochs):
        assert float(scheduler.get_last_lr()[0]) == float(group["lr"])
        seen += [float(group["lr"]), group["betas"][0] if "betas" in group else group["momentum"]]
        scheduler.optimizer.step()
        scheduler.step()
    return seen


def made(library, name, options, **more):
    return getattr(module_of(library, name), name)(optimizer_of(library, **more), **options)


@pytest.mark.parametrize(("name", "options", "formula"), SCHEDULES, ids=IDS)
def test_formulas(name, options, formula):
    if formula is not None:
        seen = rates(made(ag, name, options))[::2]
        assert seen == pytest.approx([formula(n) for n in range(EPOCHS)], rel=1e-12, abs=1e-15)


@needs_torch
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("cls", ["SGD", "Adam"])
@pytest.mark.parametrize(("name", "options", "formula"), SCHEDULES, ids=IDS)
def test_rates_are_pytorchs(name, options, formula, cls):
    ours, theirs = (rates(made(library, name, options, cls=cls)) for library in (ag, torch))
    assert ours == pytest.approx(theirs, rel=1e-12, abs=1e-15)


@needs_torch
@pytest.mark.parametrize(("name", "options", "formula"), SCHEDULES, ids=IDS)
def test_state_dicts_have_the_same_keys(name, options, formula):
    ours, theirs = made(ag, name, options), made(torch, name, options)
    ignored = {"verbose", "base_momentums", "max_momentums"}
    assert set(ours.state_dict()) - ignored == set(theirs.state_dict()) - ignored


@pytest.mark.parametrize(("name", "options", "formula"), SCHEDULES, ids=IDS)
def test_state_dicts_continue(name, options, formula):
    whole = rates(made(ag, name, options))
    first = made(ag, name, options)
    rates(first, 5)
    second = made(ag, name, options)
    second.load_state_dict(pickle.loads(pickle.dumps(first.state_dict())) if "scale_fn" not in options else first.state_dict())
    second.optimizer.load_state_dict(first.optimizer.state_dict())
    assert rates(second, EPOCHS - 5) == pytest.approx(whole[10:], rel=1e-12, abs=1e-15)


def test_rates_that_are_tensors_are_written():
    lr = ag.tensor(1.0)
    optimizer = optimizer_of(ag, lr=lr)
    scheduler = ag.optim.lr_scheduler.ExponentialLR(optimizer, 0.5)
    optimizer.step()
    scheduler.step()
    assert optimizer.param_groups[0]["lr"] is lr and lr.item() == 0.5 and optimizer.param_groups[0]["initial_lr"].item() == 1.0


def plateau(library, **options):
    scheduler = library.optim.lr_scheduler.ReduceLROnPlateau(optimizer_of(library), **options)
    seen = []
    for n in range(30):
        scheduler.step(math.cos(n / 3) / (1 + n / 10) + 1)
        seen.append((scheduler.get_last_lr(), scheduler.num_bad_epochs, scheduler.in_cooldown))
    return seen


@needs_torch
@pytest.mark.parametrize("mode", ["min", "max"])
@pytest.mark.parametrize("threshold_mode", ["rel", "abs"])
def test_plateau(mode, threshold_mode):
    options = {"patience": 1, "factor": 0.5, "cooldown": 2, "min_lr": 0.05, "threshold": 0.01}
    options |= {"mode": mode, "threshold_mode": threshold_mode}
    assert plateau(ag, **options) == plateau(torch, **options)


def combined(library):
    scheduler, optimizer = library.optim.lr_scheduler, optimizer_of(library)
    first, last = scheduler.LinearLR(optimizer, 0.1, total_iters=3), scheduler.CosineAnnealingLR(optimizer, 4)
    middle = scheduler.ChainedScheduler([scheduler.ExponentialLR(optimizer, 0.9), scheduler.ConstantLR(optimizer, 0.5, 4)])
    chained = rates(middle)
    return chained, rates(scheduler.SequentialLR(optimizer, [first, last], [4]))


@needs_torch
@pytest.mark.filterwarnings("ignore")
def test_combinations_are_pytorchs():
    ours, theirs = combined(ag), combined(torch)
    for a, b in zip(ours, theirs, strict=True):
        assert a == pytest.approx(b, rel=1e-12)


def test_sequences_save_their_parts():
    def make():
        scheduler, optimizer = ag.optim.lr_scheduler, optimizer_of(ag)
        parts = [scheduler.ConstantLR(optimizer, 0.1, 9), scheduler.ExponentialLR(optimizer, 0.5)]
        return scheduler.SequentialLR(optimizer, parts, [3])

    whole, first, second = rates(make(), 8), make(), make()
    rates(first, 4)
    second.load_state_dict(pickle.loads(pickle.dumps(first.state_dict())))
    second.optimizer.load_state_dict(first.optimizer.state_dict())
    assert rates(second, 4) == pytest.approx(whole[8:])


def test_the_wrong_order_warns():
    scheduler = ag.optim.lr_scheduler.StepLR(optimizer_of(ag), 2)
    with pytest.warns(UserWarning, match=r"Detected call of `lr_scheduler.step\(\)` before") as caught:
        scheduler.step()
    assert caught[0].filename == __file__
    optimizer = optimizer_of(ag)
    scheduler = ag.optim.lr_scheduler.StepLR(optimizer, 2)
    optimizer.step = lambda: None
    with pytest.warns(UserWarning, match=r"`optimizer.step\(\)` has been overridden"):
        scheduler.step()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        scheduler.step()
    with pytest.warns(UserWarning, match=r"please use `get_last_lr\(\)`"):
        scheduler.get_lr()
    with pytest.warns(UserWarning, match="The epoch parameter"):
        scheduler.step(5)
    assert scheduler.get_last_lr() == pytest.approx([0.01])


def test_a_scheduler_does_not_keep_its_optimizer_alive_by_the_step():
    import gc
    import weakref

    optimizer = optimizer_of(ag)
    scheduler = ag.optim.lr_scheduler.StepLR(optimizer, 2)
    reference = weakref.ref(optimizer)
    del optimizer, scheduler
    gc.collect()
    assert reference() is None


def two_groups():
    return ag.optim.SGD([{"params": [ag.ones(1, requires_grad=True)]} for _ in range(2)], lr=1.0)


@pytest.mark.parametrize(
    ("make", "error", "match"),
    [
        (lambda s: s.StepLR(3, 2), TypeError, "int is not an Optimizer"),
        (lambda s: s.StepLR(optimizer_of(ag), 2, last_epoch=1), KeyError, "param 'initial_lr' is not specified"),
        (lambda s: s.LambdaLR(two_groups(), [abs]), ValueError, "Expected 2 lr_lambdas, but got 1"),
        (lambda s: s.MultiplicativeLR(optimizer_of(ag), 3), TypeError, "lr_lambda should be a function, but got int"),
        (lambda s: s.ConstantLR(optimizer_of(ag), 2.0), ValueError, "expected to be between 0 and 1"),
        (lambda s: s.LinearLR(optimizer_of(ag), 0.0), ValueError, "Starting multiplicative factor"),
        (lambda s: s.LinearLR(optimizer_of(ag), end_factor=2), ValueError, "Ending multiplicative factor"),
        (lambda s: s.CosineAnnealingWarmRestarts(optimizer_of(ag), 0), ValueError, "Expected positive integer T_0, but got 0"),
        (lambda s: s.ReduceLROnPlateau(optimizer_of(ag), factor=1), ValueError, "Factor should be < 1.0"),
        (lambda s: s.ReduceLROnPlateau(optimizer_of(ag), mode="x"), ValueError, "mode x is unknown!"),
        (lambda s: s.ReduceLROnPlateau(two_groups(), min_lr=[1]), ValueError, "expected 2 min_lrs, got 1"),
        (lambda s: s.CyclicLR(optimizer_of(ag), [1, 2], 3), ValueError, "base_lr must have the same length"),
        (lambda s: s.CyclicLR(optimizer_of(ag), 1, 3, mode="x"), ValueError, "mode is invalid and scale_fn is None"),
        (lambda s: s.CyclicLR(ag.optim.Rprop([ag.ones(1, requires_grad=True)]), 1, 3), ValueError, "must support momentum"),
        (lambda s: s.OneCycleLR(optimizer_of(ag), 1), ValueError, "You must define either total_steps OR"),
        (lambda s: s.OneCycleLR(optimizer_of(ag), 1, total_steps=0), ValueError, "Expected positive integer total_steps"),
        (lambda s: s.OneCycleLR(optimizer_of(ag), 1, 5, pct_start=2.0), ValueError, "Expected float between 0 and 1"),
        (lambda s: s.OneCycleLR(optimizer_of(ag), 1, 5, anneal_strategy="x"), ValueError, "must be one of 'cos' or 'linear'"),
        (lambda s: s.SequentialLR(optimizer_of(ag), [], []), ValueError, "expects at least one scheduler"),
        (lambda s: s.ChainedScheduler([]), ValueError, "expects at least one scheduler to be chained"),
        (lambda s: s.ChainedScheduler([s.StepLR(optimizer_of(ag), 1), s.StepLR(optimizer_of(ag), 1)]), ValueError,
         "all schedulers to belong to the same optimizer"),
    ],
)  # fmt: skip
def test_refusals(make, error, match):
    with pytest.raises(error, match=match):
        make(ag.optim.lr_scheduler)


def test_one_cycle_ends():
    scheduler = ag.optim.lr_scheduler.OneCycleLR(optimizer_of(ag), 1.0, total_steps=2)
    rates(scheduler, 2)
    with pytest.raises(ValueError, match=r"Tried to step 3 times\. The specified number of total steps is 2"):
        scheduler.step()


def test_the_warning_of_epochs_can_be_imported():
    scheduler = ag.optim.lr_scheduler.StepLR(ag.optim.SGD([ag.nn.Parameter(ag.ones(1))], 0.1), 2)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        scheduler.step(2)
    assert ag.optim.lr_scheduler.EPOCH_DEPRECATION_WARNING in [str(warning.message) for warning in caught]
