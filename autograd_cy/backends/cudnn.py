"""``torch.backends.cudnn``: switches that nothing depends on (facade)."""

from ._absent import is_available

__all__ = ["allow_tf32", "benchmark", "benchmark_limit", "deterministic", "enabled", "is_available", "version"]

enabled = True
benchmark = False
benchmark_limit = 10
deterministic = False
allow_tf32 = True


def version() -> None:
    """``version()`` is None: there is no cuDNN.

    >>> import autograd_cy as ag
    >>> ag.backends.cudnn.version()
    """
