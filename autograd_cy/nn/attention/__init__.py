"""``torch.nn.attention``: the choice of attention's kernel; this package has one (facade)."""

import contextlib
import enum
from collections.abc import Iterable, Iterator
from typing import Any

__all__ = ["WARN_FOR_UNFUSED_KERNELS", "SDPBackend", "sdpa_kernel"]

WARN_FOR_UNFUSED_KERNELS = False


class SDPBackend(enum.IntEnum):
    """``SDPBackend.MATH``: PyTorch's kernels for scaled_dot_product_attention.

    >>> import autograd_cy as ag
    >>> ag.nn.attention.SDPBackend.MATH
    <SDPBackend.MATH: 0>
    """

    ERROR = -1
    MATH = 0
    FLASH_ATTENTION = 1
    EFFICIENT_ATTENTION = 2
    CUDNN_ATTENTION = 3
    OVERRIDEABLE = 4


@contextlib.contextmanager
def sdpa_kernel(backends: Iterable[SDPBackend] | SDPBackend, set_priority: bool = False) -> Iterator[None]:
    """``with sdpa_kernel(SDPBackend.MATH):`` changes nothing: there is one kernel. AssertionError for other values.

    >>> import autograd_cy as ag
    >>> from autograd_cy.nn.attention import SDPBackend, sdpa_kernel
    >>> with sdpa_kernel([SDPBackend.FLASH_ATTENTION, SDPBackend.MATH]):
    ...     ag.nn.functional.scaled_dot_product_attention(*[ag.ones(1, 1, 1)] * 3)
    tensor([[[1.]]])
    """
    asked: Any = [backends] if isinstance(backends, SDPBackend) else backends
    if not isinstance(asked, Iterable) or not all(isinstance(backend, SDPBackend) for backend in asked):
        raise AssertionError("Backend must be an instance of SDPBackend or a list of SDPBackend instances")
    yield
