"""Timing of statements, under the names of torch.utils.benchmark (facade)."""

from ..._compat.missing import getattr_of as _getattr_of
from ._compare import Colorize, Compare
from ._measurement import Measurement, TaskSpec, ordered_unique, select_unit, trim_sigfig, unit_to_english
from ._timer import Language, Timer, set_torch_threads, timer

__all__ = [
    "Colorize", "Compare", "Language", "Measurement", "TaskSpec", "Timer", "ordered_unique", "select_unit",
    "set_torch_threads", "timer", "trim_sigfig", "unit_to_english",
]  # fmt: skip

__getattr__ = _getattr_of(__name__, "torch.utils.benchmark")
