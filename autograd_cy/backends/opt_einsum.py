"""``torch.backends.opt_einsum``: switches that nothing depends on (facade)."""

from .._compat import answers as _answers
from ._absent import is_available
from ._absent import switches as _switches

__all__ = ["enabled", "flags", "get_opt_einsum", "is_available", "set_flags", "strategy"]

enabled, strategy = False, None
flags, set_flags = _switches(__name__)
get_opt_einsum = _answers.answers(None)

_answers.named(globals(), "einsum chooses the order of its products by itself")
