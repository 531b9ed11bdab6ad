"""The functions on tensors under the name by which PyTorch's own modules call them: torch._VF.lstm (facade)."""

import sys
from typing import Any

from ._functional.different_elements import unique_dim

__all__ = ["unique_dim"]

_package = sys.modules[__package__]


def __getattr__(name: str) -> Any:
    if name.startswith("__"):
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(_package, name)
