"""The events of the profiler and their list, under the names of torch.autograd.profiler_util (facade)."""

from ..profiler._event_list import EventList
from ..profiler._events import FormattedTimesMixin, FunctionEvent, FunctionEventAvg, Interval, Kernel

__all__ = ["EventList", "FormattedTimesMixin", "FunctionEvent", "FunctionEventAvg", "Interval", "Kernel"]
