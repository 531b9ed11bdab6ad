"""``torch.cuda.profiler``: NVIDIA's profiler, which needs its device (facade)."""

from .._compat import answers as _answers

__all__ = ["profile", "start", "stop"]

profile = start = stop = _answers.refuses(AssertionError, "Torch not compiled with CUDA enabled")

_answers.named(globals(), "there is no such device")
