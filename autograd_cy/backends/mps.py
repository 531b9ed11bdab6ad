"""``torch.backends.mps`` (facade)."""

from .._compat import answers as _answers
from ._absent import is_available, is_built

__all__ = ["get_core_count", "get_name", "is_available", "is_built", "is_macos13_or_newer", "is_macos_or_newer"]

get_core_count = get_name = _answers.refuses(RuntimeError, "Cannot execute {}() without MPS backend.")
is_macos13_or_newer = is_macos_or_newer = get_name

_answers.named(globals(), "there is no such device")
