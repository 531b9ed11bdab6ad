"""``torch.cuda.graphs``: recordings of what a device does, which is not there (facade)."""

from .._compat import absent_device as _absent_device
from .._compat import answers as _answers

__all__ = ["CUDAGraph", "graph", "graph_pool_handle", "is_current_stream_capturing", "make_graphed_callables"]

_NOT_THERE = "Torch not compiled with CUDA enabled"

is_current_stream_capturing = _answers.answers(False)
graph_pool_handle = make_graphed_callables = _answers.refuses(AssertionError, _NOT_THERE)
CUDAGraph = _absent_device.absent_class(__name__, "CUDAGraph", RuntimeError, "Tried to instantiate dummy base class CUDAGraph")
graph = _absent_device.absent_class(__name__, "graph", RuntimeError, "torch.cuda.Stream requires CUDA support")

_answers.named(globals(), "there is no such device")
