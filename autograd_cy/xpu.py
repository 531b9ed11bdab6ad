"""``torch.xpu`` for a package that is CPU only: PyTorch's answers where there is no GPU of Intel's (facade)."""

from collections import OrderedDict
from typing import Any

from ._compat import absent_device as _absent_device
from ._compat import answers as _answers

_NOT_THERE = "Torch not compiled with XPU enabled"

default_generators: tuple[Any, ...] = ()

is_available = is_initialized = is_bf16_supported = is_tf32_supported = can_device_access_peer = _answers.answers(False)
is_current_stream_capturing = is_available
device_count = max_memory_allocated = max_memory_reserved = memory_allocated = memory_reserved = _answers.answers(0)
empty_cache = manual_seed = manual_seed_all = seed = seed_all = set_rng_state = set_rng_state_all = _answers.answers(None)
reset_accumulated_memory_stats = reset_peak_memory_stats = set_stream = empty_cache
get_arch_list = get_rng_state_all = memory_snapshot = _answers.answers(list[Any]())
get_gencode_flags = _answers.answers("")
memory_stats = _answers.answers(OrderedDict[str, Any]())
memory_stats_as_nested_dict = _answers.answers(dict[str, Any]())
change_current_allocator = clock_rate = current_device = current_stream = _answers.refuses(AssertionError, _NOT_THERE)
device_memory_used = get_device_capability = get_device_name = get_device_properties = current_device
get_per_process_memory_fraction = get_rng_state = get_stream_from_external = graph_pool_handle = init = current_device
initial_seed = make_graphed_callables = mem_get_info = memory_usage = power_draw = set_device = current_device
set_per_process_memory_fraction = synchronize = temperature = use_mem_pool = utilization = current_device

device, device_of, StreamContext, stream = _absent_device.contexts(__name__)
Stream, Event, MemPool, XPUGraph, XPUPluggableAllocator, graph = (
    _absent_device.absent_class(__name__, name, RuntimeError, f"Tried to instantiate dummy base class {name}")
    for name in ("Stream", "Event", "MemPool", "XPUGraph", "XPUPluggableAllocator", "graph")
)

_answers.named(globals(), "there is no such device")

__all__ = [
    "Event", "MemPool", "Stream", "StreamContext", "XPUGraph", "XPUPluggableAllocator", "can_device_access_peer",
    "change_current_allocator", "clock_rate", "current_device", "current_stream", "default_generators", "device",
    "device_count", "device_memory_used", "device_of", "empty_cache", "get_arch_list", "get_device_capability",
    "get_device_name", "get_device_properties", "get_gencode_flags", "get_per_process_memory_fraction", "get_rng_state",
    "get_rng_state_all", "get_stream_from_external", "graph", "graph_pool_handle", "init", "initial_seed",
    "is_available", "is_bf16_supported", "is_current_stream_capturing", "is_initialized", "is_tf32_supported",
    "make_graphed_callables", "manual_seed", "manual_seed_all", "max_memory_allocated", "max_memory_reserved",
    "mem_get_info", "memory_allocated", "memory_reserved", "memory_snapshot", "memory_stats",
    "memory_stats_as_nested_dict", "memory_usage", "power_draw", "reset_accumulated_memory_stats",
    "reset_peak_memory_stats", "seed", "seed_all", "set_device", "set_per_process_memory_fraction", "set_rng_state",
    "set_rng_state_all", "set_stream", "stream", "synchronize", "temperature", "use_mem_pool", "utilization",
]  # fmt: skip
