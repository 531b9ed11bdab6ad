"""``torch.mtia`` for a package that is CPU only: PyTorch's answers where there is no accelerator of Meta's (facade)."""

from typing import Any

from ._compat import absent_device as _absent_device
from ._compat import answers as _answers

_NOT_THERE = "Cannot execute {}() without MTIA backend."

is_available = is_initialized = _answers.answers(False)
is_bf16_supported = _answers.answers(True)
device_count = max_memory_allocated = memory_allocated = _answers.answers(0)
manual_seed = manual_seed_all = record_memory_history = reset_peak_memory_stats = seed = seed_all = _answers.answers(None)
get_rng_state_all = _answers.answers(list[Any]())
memory_stats = _answers.answers(dict[str, Any]())
get_rng_state = init = initial_seed = set_rng_state_all = set_rng_state = _answers.refuses(
    AssertionError, "Torch not compiled with MTIA enabled"
)
attach_out_of_memory_observer = current_device = current_stream = default_stream = _answers.refuses(RuntimeError, _NOT_THERE)
empty_cache = get_device_capability = get_device_properties = graph_pool_handle = set_device = current_device
set_stream = snapshot = synchronize = current_device

device, StreamContext, stream = _absent_device.contexts(__name__, "device", "StreamContext", "stream")
MTIAGraph, graph, Event, Stream = (
    _absent_device.absent_class(__name__, name, RuntimeError, f"Tried to instantiate dummy base class {name}")
    for name in ("MTIAGraph", "graph", "Event", "Stream")
)

_answers.named(globals(), "there is no such device")

__all__ = [
    "Event", "MTIAGraph", "Stream", "StreamContext", "attach_out_of_memory_observer", "current_device",
    "current_stream", "default_stream", "device", "device_count", "empty_cache", "get_device_capability",
    "get_device_properties", "get_rng_state", "get_rng_state_all", "graph", "graph_pool_handle", "init", "initial_seed",
    "is_available", "is_bf16_supported", "is_initialized", "manual_seed", "manual_seed_all", "max_memory_allocated",
    "memory_allocated", "memory_stats", "record_memory_history", "reset_peak_memory_stats", "seed", "seed_all",
    "set_device", "set_rng_state", "set_rng_state_all", "set_stream", "snapshot", "stream", "synchronize",
]  # fmt: skip
