"""Gradients of recorded operations, under the names of torch.autograd (facade)."""

from .._compat import names_later as _names_later
from .._compat.missing import getattr_of as _getattr_of
from .._core.graph.node import SavedTensor
from . import grad_mode
from .grad_mode import (
    _force_original_view_tracking,
    _unsafe_preserve_version_counter,
    enable_grad,
    enforce_grad_layout_policy,
    inference_mode,
    is_grad_enabled,
    is_inference_mode_enabled,
    is_multithreading_enabled,
    is_view_replay_enabled,
    no_grad,
    set_grad_enabled,
    set_multithreading_enabled,
)  # fmt: skip
from .gradcheck import gradcheck, gradgradcheck
from .gradients import backward, grad

__all__ = [
    "Function", "GradcheckError", "SavedTensor", "Variable", "_force_original_view_tracking",
    "_unsafe_preserve_version_counter", "anomaly_mode", "backward",
    "detect_anomaly", "detect_nan", "enable_grad", "enforce_grad_layout_policy", "forward_ad", "function", "functional",
    "grad", "grad_mode", "gradcheck", "gradgradcheck", "graph",
    "inference_mode", "is_grad_enabled", "is_inference_mode_enabled", "is_multithreading_enabled",
    "is_view_replay_enabled", "no_grad", "profiler", "profiler_util", "safe_where",
    "set_detect_anomaly", "set_grad_enabled", "set_multithreading_enabled", "variable",
]  # fmt: skip

__getattr__, __dir__ = _names_later(
    __name__,
    {
        "_gradcheck_report": ["GradcheckError"],
        "_safe_where": ["safe_where"],
        "anomaly_mode": ["anomaly_mode", "detect_anomaly", "detect_nan", "set_detect_anomaly"],
        "forward_ad": [],
        "function": ["Function", "function"],
        "functional": [],
        "graph": [],
        "profiler": ["_profiler_enabled", "profiler"],
        "profiler_util": [],
        "variable": ["Variable", "variable"],
    },
    _getattr_of(__name__, "torch.autograd"),
)
