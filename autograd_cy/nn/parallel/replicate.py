"""``replicate`` (facade)."""

from typing import Any

from ..._types import on_cpu as _on_cpu

__all__ = ["replicate"]


def replicate(network: Any, devices: Any, detach: bool = False) -> list[Any]:
    """``replicate(module, devices)`` raises PyTorch's error for devices other than the CPU.

    >>> import autograd_cy as ag
    >>> ag.nn.parallel.replicate(ag.nn.ReLU(), [])
    []
    """
    return [network for _ in map(_on_cpu, devices)]
