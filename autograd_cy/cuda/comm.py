"""``torch.cuda.comm``: copies between devices, which are not there (facade)."""

from .._compat import answers as _answers

__all__ = ["broadcast", "broadcast_coalesced", "gather", "reduce_add", "reduce_add_coalesced", "scatter"]

broadcast = broadcast_coalesced = gather = reduce_add = reduce_add_coalesced = scatter = _answers.refuses(
    AssertionError, "Torch not compiled with CUDA enabled"
)

_answers.named(globals(), "there is no such device")
