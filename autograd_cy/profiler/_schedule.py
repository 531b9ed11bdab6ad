"""When the profiler waits, gets ready and records, and what it can record (facade)."""

import enum
import warnings
from collections.abc import Callable, Iterable
from typing import Any

from .._core.runtime.entry import public
from .._core.runtime.once import warn_user


class ProfilerAction(enum.Enum):
    """What the profiler does in a step; a schedule returns one. RECORD_AND_SAVE ends a cycle.

    >>> from autograd_cy.profiler import ProfilerAction, schedule
    >>> schedule(wait=1, warmup=1, active=1)(0) is ProfilerAction.NONE
    True
    """

    NONE = 0
    WARMUP = 1
    RECORD = 2
    RECORD_AND_SAVE = 3
    DEVICE_STOPPED = 4


class ProfilerActivity(enum.Enum):
    """What can be recorded. This package runs on the CPU; the others are known by name.

    >>> from autograd_cy.profiler import ProfilerActivity, profile
    >>> with profile(activities=[ProfilerActivity.CPU]):
    ...     pass
    """

    CPU = 0
    XPU = 1
    CUDA = 2
    HPU = 3
    MTIA = 4
    PrivateUse1 = 5


def supported_activities() -> set[ProfilerActivity]:
    """``supported_activities()`` is the set of what this package can record: the CPU.

    >>> from autograd_cy.profiler import supported_activities
    >>> supported_activities()
    {<ProfilerActivity.CPU: 0>}
    """
    return {ProfilerActivity.CPU}


def kineto_available() -> bool:
    """``kineto_available()`` is False: PyTorch's library for traces isn't used. All its functions work without it.

    >>> from autograd_cy.profiler import kineto_available
    >>> kineto_available()
    False
    """
    return False


@public
def schedule(
    *, wait: int, warmup: int, active: int, repeat: int = 0, skip_first: int = 0, skip_first_wait: int = 0
) -> Callable[[int], ProfilerAction]:
    """``schedule(wait=, warmup=, active=)`` tells the profiler what to do in each step: wait, then get ready, then record.

    After `active` steps a cycle ends and the next begins; `repeat` cycles, or any number if that is 0. The first
    `skip_first` steps count for nothing; if `skip_first_wait` is not 0, the first cycle doesn't wait. The result is called
    with the number of a step. AssertionError for negative numbers, and unless active > 0. A warning if warmup is 0.

    >>> from autograd_cy.profiler import schedule
    >>> plan = schedule(wait=1, warmup=1, active=2, repeat=1)
    >>> [plan(step).name for step in range(5)]
    ['NONE', 'WARMUP', 'RECORD', 'RECORD_AND_SAVE', 'NONE']
    """
    if wait < 0 or warmup < 0 or active <= 0 or repeat < 0 or skip_first < 0:
        raise AssertionError(
            f"Invalid profiler schedule arguments. Got wait={wait} (need >= 0), warmup={warmup} (need >= 0), "
            f"active={active} (need > 0), repeat={repeat} (need >= 0), skip_first={skip_first} (need >= 0)."
        )
    if warmup == 0:
        warnings.warn("Profiler won't be using warmup, this can skew profiler results", stacklevel=2)
    length = wait + warmup + active

    def action(step: int) -> ProfilerAction:
        if step < 0:
            raise AssertionError(f"Step must be non-negative. Got {step}.")
        since = step - skip_first
        if since < 0:
            return ProfilerAction.NONE
        since += wait if skip_first_wait else 0
        cycle, place = divmod(since, length)
        if place < wait or (repeat > 0 and cycle >= repeat):
            return ProfilerAction.NONE
        if place < wait + warmup:
            return ProfilerAction.WARMUP
        return ProfilerAction.RECORD_AND_SAVE if place == length - 1 else ProfilerAction.RECORD

    return action


def checked_activities(activities: Iterable[Any]) -> set[ProfilerActivity]:
    """The supported ones of the requested activities (bare, or keys of dicts with filters); warns of the others."""
    found: set[ProfilerActivity] = set()
    for item in activities:
        if not isinstance(item, (ProfilerActivity, dict)):
            raise TypeError(f"Expected ProfilerActivity or dict, got {type(item)}")
        for activity in item if isinstance(item, dict) else [item]:
            if activity in found:
                raise ValueError(f"Activity {activity} specified more than once")
            found.add(activity)
    if not found:
        raise AssertionError("No valid profiler activities found")
    for activity in sorted(found - supported_activities(), key=lambda a: a.value):
        warn_user(f"{activity.name} is not available, disabling {activity.name} profiling")
    if not found & supported_activities():
        raise AssertionError("No activities specified for the profiler: this package records ProfilerActivity.CPU")
    return found & supported_activities()
