"""``torch.cuda.memory``: the memory of a device that is not there (facade)."""

from collections import OrderedDict
from typing import Any

from .._compat import absent_device as _absent_device
from .._compat import answers as _answers

__all__ = [
    "CUDAPluggableAllocator", "MemPool", "caching_allocator_alloc", "caching_allocator_delete",
    "caching_allocator_enable", "change_current_allocator", "empty_cache", "get_allocator_backend",
    "get_per_process_memory_fraction", "host_memory_stats", "host_memory_stats_as_nested_dict", "list_gpu_processes",
    "max_memory_allocated", "max_memory_cached", "max_memory_reserved", "mem_get_info", "memory_allocated",
    "memory_cached", "memory_reserved", "memory_snapshot", "memory_stats", "memory_stats_as_nested_dict",
    "memory_summary", "reset_accumulated_host_memory_stats", "reset_accumulated_memory_stats",
    "reset_max_memory_allocated", "reset_max_memory_cached", "reset_peak_host_memory_stats", "reset_peak_memory_stats",
    "set_per_process_memory_fraction", "use_mem_pool",
]  # fmt: skip

_NOT_THERE = "Torch not compiled with CUDA enabled"

max_memory_allocated = max_memory_cached = max_memory_reserved = _answers.answers(0)
memory_allocated = memory_cached = memory_reserved = max_memory_allocated
empty_cache = caching_allocator_enable = _answers.answers(None)
reset_accumulated_memory_stats = reset_max_memory_allocated = reset_max_memory_cached = empty_cache
reset_peak_memory_stats = reset_peak_host_memory_stats = reset_accumulated_host_memory_stats = empty_cache
host_memory_stats = memory_stats = _answers.answers(OrderedDict[str, Any]())
host_memory_stats_as_nested_dict = memory_stats_as_nested_dict = _answers.answers(dict[str, Any]())
memory_snapshot = _answers.answers(list[Any]())
memory_summary = list_gpu_processes = _answers.answers("")
caching_allocator_alloc = caching_allocator_delete = change_current_allocator = _answers.refuses(AssertionError, _NOT_THERE)
get_allocator_backend = get_per_process_memory_fraction = set_per_process_memory_fraction = caching_allocator_alloc
mem_get_info = use_mem_pool = caching_allocator_alloc

CUDAPluggableAllocator = _absent_device.absent_class(__name__, "CUDAPluggableAllocator", AssertionError, _NOT_THERE)
MemPool = _absent_device.absent_class(__name__, "MemPool", RuntimeError, "Tried to instantiate dummy base class MemPool")

_answers.named(globals(), "there is no such device")
