"""The events of the profiler and their list, under the names of torch.autograd.profiler_util (facade)."""

from .._compat.missing import getattr_of as _getattr_of
from ..profiler._event_list import EventList
from ..profiler._events import FormattedTimesMixin, FunctionEvent, FunctionEventAvg, Interval, Kernel
from ..profiler._format import format_time as _format_time

__all__ = ["EventList", "FormattedTimesMixin", "FunctionEvent", "FunctionEventAvg", "Interval", "Kernel"]

__all__ += ["_format_time"]

__getattr__ = _getattr_of(__name__, "torch.autograd.profiler_util")
