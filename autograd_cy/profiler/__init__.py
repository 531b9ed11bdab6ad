"""The profiler, under the names of torch.profiler (facade).

>>> import autograd_cy as ag
>>> x = ag.ones(3, requires_grad=True)
>>> with ag.profiler.profile() as prof:
...     with ag.profiler.record_function("forward"):
...         loss = (x * x).sum()
...     loss.backward()
>>> prof.key_averages().table(sort_by="self_cpu_time_total", row_limit=10).splitlines()[1].split()[:3]
['Name', 'Self', 'CPU']
"""

from .._compat.missing import getattr_of as _getattr_of
from ._profile import profile
from ._record_function import record_function
from ._schedule import ProfilerAction, ProfilerActivity, kineto_available, schedule, supported_activities
from ._steps import tensorboard_trace_handler

__all__ = [
    "ProfilerAction", "ProfilerActivity", "kineto_available", "profile", "record_function", "schedule",
    "supported_activities", "tensorboard_trace_handler",
]  # fmt: skip

__getattr__ = _getattr_of(__name__, "torch.profiler")
