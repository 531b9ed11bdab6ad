"""``torch.cuda.nccl``: NVIDIA's library for several devices, which are not there (facade)."""

from .._compat import answers as _answers

__all__ = ["all_gather", "all_reduce", "broadcast", "init_rank", "is_available", "reduce", "reduce_scatter", "version"]

is_available = _answers.answers(False)
all_gather = all_reduce = broadcast = init_rank = reduce = reduce_scatter = version = _answers.refuses(
    AssertionError, "Torch not compiled with CUDA enabled"
)

_answers.named(globals(), "there is no such device")
