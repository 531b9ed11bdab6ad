"""``torch.mps`` for a package that is CPU only: PyTorch's answers where there is no GPU of Apple's (facade)."""

from ._compat import absent_device as _absent_device
from ._compat import answers as _answers

_NOT_THERE = "Cannot execute {}() without MPS backend."

is_available = _answers.answers(False)
device_count = _answers.answers(0)
manual_seed = _answers.answers(None)
compile_shader = current_allocated_memory = driver_allocated_memory = empty_cache = _answers.refuses(RuntimeError, _NOT_THERE)
get_rng_state = load_metallib = recommended_max_memory = seed = set_per_process_memory_fraction = set_rng_state = empty_cache
synchronize = empty_cache

Event = _absent_device.absent_class(__name__, "Event", RuntimeError, "Cannot execute acquireEvent() without MPS backend.")

_answers.named(globals(), "there is no such device")

__all__ = [
    "Event", "compile_shader", "current_allocated_memory", "device_count", "driver_allocated_memory", "empty_cache",
    "get_rng_state", "is_available", "load_metallib", "manual_seed", "recommended_max_memory", "seed",
    "set_per_process_memory_fraction", "set_rng_state", "synchronize",
]  # fmt: skip
