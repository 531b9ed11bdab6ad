"""``torch.accelerator``: the device that is faster than the CPU, which is none here (facade)."""

from ._compat import absent_device as _absent_device
from ._compat import answers as _answers

_NOT_THERE = "Cannot access accelerator device when none is available."

current_accelerator = _answers.answers(None)
is_available = _answers.answers(False)
device_count = _answers.answers(0)
current_device_idx = current_device_index = current_stream = empty_cache = _answers.refuses(RuntimeError, _NOT_THERE)
empty_host_cache = get_device_capability = get_memory_info = max_memory_allocated = max_memory_reserved = empty_cache
memory_allocated = memory_reserved = memory_stats = reset_accumulated_memory_stats = reset_peak_memory_stats = empty_cache
set_device_idx = set_device_index = set_stream = synchronize = empty_cache

Graph = _absent_device.absent_class(__name__, "Graph", RuntimeError, _NOT_THERE)
(device_index,) = _absent_device.contexts(__name__, "device_index")

_answers.named(globals(), "there is no such device")

__all__ = [
    "Graph", "current_accelerator", "current_device_idx", "current_device_index", "current_stream", "device_count",
    "device_index", "empty_cache", "empty_host_cache", "get_device_capability", "get_memory_info", "is_available",
    "max_memory_allocated", "max_memory_reserved", "memory_allocated", "memory_reserved", "memory_stats",
    "reset_accumulated_memory_stats", "reset_peak_memory_stats", "set_device_idx", "set_device_index", "set_stream",
    "synchronize",
]  # fmt: skip
