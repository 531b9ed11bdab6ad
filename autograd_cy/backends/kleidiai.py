"""``torch.backends.kleidiai`` (facade)."""

from .._compat import answers as _answers
from ._absent import is_available

__all__ = ["is_available", "version"]

version = _answers.answers(None)

_answers.named(globals(), "this package does not compute with this library")
