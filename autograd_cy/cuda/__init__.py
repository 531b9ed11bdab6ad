# ruff: noqa: F405
"""``torch.cuda`` for a package that is CPU only: what scripts ask before they choose a device (facade).

What PyTorch answers without a device is answered, the rest is its AssertionError. Modules that come later: amp, comm, graphs,
memory, nccl, nvtx, profiler, random, streams.
"""

from typing import TYPE_CHECKING, Any

from .._compat import absent_device as _absent_device
from .._compat import answers as _answers
from .._compat import names_later as _names_later
from .._compat.errors import AcceleratorError, OutOfMemoryError
from .graphs import *  # noqa: F403
from .memory import *  # noqa: F403
from .random import *  # noqa: F403
from .streams import *  # noqa: F403

_NOT_THERE = "Torch not compiled with CUDA enabled"

has_half, has_magma = True, False
default_generators: tuple[Any, ...] = ()

is_available = is_initialized = is_bf16_supported = is_tf32_supported = can_device_access_peer = _answers.answers(False)
device_count = _answers.answers(0)
get_arch_list = _answers.answers(list[str]())
get_gencode_flags = _answers.answers("")
set_stream = _answers.answers(None)
check_error = clock_rate = cudart = current_blas_handle = current_device = _answers.refuses(AssertionError, _NOT_THERE)
current_solver_handle = current_stream = default_stream = device_memory_used = get_device_capability = check_error
get_device_name = get_device_properties = get_stream_from_external = get_sync_debug_mode = init = check_error
ipc_collect = memory_usage = power_draw = set_device = set_sync_debug_mode = synchronize = check_error
temperature = utilization = check_error

device, device_of, StreamContext, stream = _absent_device.contexts(__name__)
cudaStatus = _absent_device.absent_class(__name__, "cudaStatus", AssertionError, _NOT_THERE)
GreenContext = _absent_device.absent_class(__name__, "GreenContext", AssertionError, _NOT_THERE)


class CudaError(RuntimeError):
    """What calls of CUDA raise; nothing raises it here.

    >>> import autograd_cy as ag
    >>> issubclass(ag.cuda.CudaError, RuntimeError)
    True
    """


class DeferredCudaCallError(Exception):
    """What calls raise that waited for CUDA; nothing raises it here.

    >>> import autograd_cy as ag
    >>> issubclass(ag.cuda.DeferredCudaCallError, Exception)
    True
    """


globals().update(_absent_device.tensor_types(__name__), **_absent_device.storage_types(__name__))
_answers.named(globals(), "there is no such device")

__all__ = [
    "AcceleratorError", "BFloat16Storage", "BFloat16Tensor", "BoolStorage", "BoolTensor", "ByteStorage", "ByteTensor",
    "CUDAGraph", "CUDAPluggableAllocator", "CharStorage", "CharTensor", "ComplexDoubleStorage", "ComplexFloatStorage",
    "CudaError", "DeferredCudaCallError", "DoubleStorage", "DoubleTensor", "Event", "ExternalStream", "FloatStorage",
    "FloatTensor", "GreenContext", "HalfStorage", "HalfTensor", "IntStorage", "IntTensor", "LongStorage", "LongTensor",
    "MemPool", "OutOfMemoryError", "ShortStorage", "ShortTensor", "Stream", "StreamContext", "amp",
    "caching_allocator_alloc", "caching_allocator_delete", "caching_allocator_enable", "can_device_access_peer",
    "change_current_allocator", "check_error", "clock_rate", "comm", "cudaStatus", "cudart", "current_blas_handle",
    "current_device", "current_solver_handle", "current_stream", "default_generators", "default_stream", "device",
    "device_count", "device_memory_used", "device_of", "empty_cache", "get_allocator_backend", "get_arch_list",
    "get_device_capability", "get_device_name", "get_device_properties", "get_gencode_flags",
    "get_per_process_memory_fraction", "get_rng_state", "get_rng_state_all", "get_stream_from_external",
    "get_sync_debug_mode", "graph", "graph_pool_handle", "graphs", "has_half", "has_magma", "host_memory_stats",
    "host_memory_stats_as_nested_dict", "init", "initial_seed", "ipc_collect", "is_available", "is_bf16_supported",
    "is_current_stream_capturing", "is_initialized", "is_tf32_supported", "list_gpu_processes",
    "make_graphed_callables", "manual_seed", "manual_seed_all", "max_memory_allocated", "max_memory_cached",
    "max_memory_reserved", "mem_get_info", "memory", "memory_allocated", "memory_cached", "memory_reserved",
    "memory_snapshot", "memory_stats", "memory_stats_as_nested_dict", "memory_summary", "memory_usage", "nccl", "nvtx",
    "power_draw", "profiler", "random", "reset_accumulated_host_memory_stats", "reset_accumulated_memory_stats",
    "reset_max_memory_allocated", "reset_max_memory_cached", "reset_peak_host_memory_stats", "reset_peak_memory_stats",
    "seed", "seed_all", "set_device", "set_per_process_memory_fraction", "set_rng_state", "set_rng_state_all",
    "set_stream", "set_sync_debug_mode", "stream", "streams", "synchronize", "temperature", "use_mem_pool",
    "utilization",
]  # fmt: skip

if TYPE_CHECKING:
    from . import amp, comm, graphs, memory, nccl, nvtx, profiler, random, streams

    def __getattr__(name: str) -> Any: ...
else:  # where any name would be right

    def _nothing(name: str) -> Any:
        raise AttributeError(f"module 'autograd_cy.cuda' has no attribute {name!r}: this package is CPU only")

    _LATER = dict.fromkeys(("amp", "comm", "graphs", "memory", "nccl", "nvtx", "profiler", "random", "streams"), ())
    __getattr__, __dir__ = _names_later(__name__, _LATER, _nothing)
