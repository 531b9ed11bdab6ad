"""Schedules: the action of each step is PyTorch's, and so is what is done between two of them."""

import itertools
import warnings

import pytest
import recorded

from autograd_cy.profiler import ProfilerAction, profile, schedule

PLANS = [
    {"wait": wait, "warmup": warmup, "active": active, "repeat": repeat, "skip_first": skip, "skip_first_wait": skip_wait}
    for wait, warmup, active, repeat, skip, skip_wait in itertools.product(
        (0, 1, 3), (0, 1, 2), (1, 2), (0, 1, 2), (0, 2), (0, 1)
    )
]


@pytest.fixture
def theirs():
    """PyTorch's profiler."""
    pytest.importorskip("torch")
    import torch.profiler

    return torch.profiler


@pytest.mark.filterwarnings("ignore:Profiler won't be using warmup")
@pytest.mark.parametrize("plan", PLANS, ids=lambda plan: "-".join(map(str, plan.values())))
def test_actions_are_pytorchs(theirs, plan):
    a, b = schedule(**plan), theirs.schedule(**plan)
    assert [a(step).name for step in range(20)] == [b(step).name for step in range(20)]
    assert [a(step).value for step in range(20)] == [b(step).value for step in range(20)]


@pytest.mark.parametrize("wrong", [{"wait": -1}, {"warmup": -1}, {"active": 0}, {"repeat": -1}, {"skip_first": -1}])
def test_wrong_plans(theirs, wrong):
    messages = []
    for library in (schedule, theirs.schedule):
        with pytest.raises(AssertionError) as caught:
            library(**{"wait": 1, "warmup": 1, "active": 1, **wrong})
        messages.append(str(caught.value))
    assert messages[0] == messages[1]
    with pytest.raises(AssertionError, match=r"Step must be non-negative. Got -1."):
        schedule(wait=1, warmup=1, active=1)(-1)


def test_without_warmup_there_is_a_warning():
    with pytest.warns(UserWarning, match="Profiler won't be using warmup, this can skew profiler results") as caught:
        schedule(wait=0, warmup=0, active=1)
    assert caught[0].filename == __file__


def test_what_happens_in_a_cycle(monkeypatch):
    log = recorded.stand_in(monkeypatch)
    ready = lambda prof: log.append(("ready", prof.step_num))  # noqa: E731
    with profile(schedule=schedule(wait=1, warmup=1, active=2, repeat=1), on_trace_ready=ready) as prof:
        for _ in range(5):
            prof.step()
    step = [("begin", "ProfilerStep#2"), "end", ("begin", "ProfilerStep#3"), "end"]
    first = [("begin", "ProfilerStep#0"), "end", "prepare", ("begin", "ProfilerStep#1"), "end", "start"]
    last = ["stop", ("ready", 4), ("begin", "ProfilerStep#4"), "end", ("begin", "ProfilerStep#5"), "end"]
    assert log == [*first, *step, *last]


def actions_of(library, plan, monkeypatch=None):
    """What is called in each step, of a profiler with that plan."""
    prof = library.profile(schedule=lambda step: library.ProfilerAction[plan[min(step, len(plan) - 1)]])
    called = []
    names = {
        "prepare_trace": "prepare",
        "start_trace": "start",
        "stop_trace": "stop",
        "_trace_ready": "ready",
        "_abandon": "abandon",
    }
    for name, short in names.items():
        setattr(prof, name, lambda short=short: called.append(short))
    return prof, called


@pytest.mark.parametrize("plan", list(itertools.product(("NONE", "WARMUP", "RECORD", "RECORD_AND_SAVE"), repeat=2)))
def test_changes_are_pytorchs(theirs, plan):
    """Its profiler binds its methods when it is made: they are replaced in its table."""
    import autograd_cy.profiler as ours

    prof, called = actions_of(ours, plan)
    prof.record_steps = False
    with warnings.catch_warnings(record=True) as warned:
        warnings.simplefilter("always")
        prof.start()
        prof.step()
        prof.stop()
    other, _ = actions_of(theirs, plan)
    none = theirs.ProfilerAction.NONE
    first, second = (theirs.ProfilerAction[name] for name in plan)
    expected, wrong = [], 0
    for change in ((none, first), (first, second), (second, None)):
        for action in other.action_map.get(change, []):
            if getattr(action, "func", None) is warnings.warn:
                wrong += 1
            else:
                expected.append(action.__name__.removesuffix("_trace").removeprefix("_trace_"))
    if plan == ("RECORD", "WARMUP"):  # PyTorch's is not prepared then, and has an error in the next step
        expected.insert(expected.index("stop") + 1, "prepare")
    if plan[1] == "WARMUP":  # PyTorch's records nothing, in place of what the last cycle has recorded
        expected[-2:] = ["abandon"]
    assert called == expected
    assert len(warned) == wrong


@pytest.mark.filterwarnings("ignore:Warning. Profiler clears events")  # once in a process
@pytest.mark.parametrize("steps", [1, 3])
def test_warming_up_for_what_does_not_come_drops_nothing(monkeypatch, steps):
    recorded.stand_in(monkeypatch)
    with profile(schedule=schedule(wait=1, warmup=1, active=1)) as prof:
        for _ in range(steps + 1):
            prof.step()
    assert len(prof.events()) == len(recorded.STEP)


def test_a_schedule_of_the_user_must_not_stop_devices():
    with pytest.raises(ValueError, match="DEVICE_STOPPED is set internally by the profiler"):
        profile(schedule=lambda step: ProfilerAction.DEVICE_STOPPED)
