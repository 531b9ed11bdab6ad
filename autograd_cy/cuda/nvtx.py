"""``torch.cuda.nvtx``: marks for NVIDIA's profilers, which need their device (facade)."""

from .._compat import answers as _answers

__all__ = ["mark", "range", "range_end", "range_pop", "range_push", "range_start"]

mark = range = range_end = range_pop = range_push = range_start = _answers.refuses(
    RuntimeError, "NVTX functions not installed. Are you sure you have a CUDA build?"
)

_answers.named(globals(), "there is no such device")
