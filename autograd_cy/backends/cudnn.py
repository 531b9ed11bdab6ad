"""``torch.backends.cudnn``: switches that nothing depends on (facade)."""

from .._compat import answers as _answers
from ._absent import is_available
from ._absent import switches as _switches

__all__ = [
    "allow_tf32", "benchmark", "benchmark_limit", "deterministic", "enabled", "flags", "fp32_precision",
    "is_acceptable", "is_available", "set_flags", "version",
]  # fmt: skip

enabled = allow_tf32 = True
benchmark = deterministic = False
benchmark_limit = 10
fp32_precision = "none"
flags, set_flags = _switches(__name__)
is_acceptable = _answers.answers(False)
version = _answers.answers(None)

_answers.named(globals(), "there is no cuDNN")
