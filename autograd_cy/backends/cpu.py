"""``torch.backends.cpu``: what the processor can do (facade)."""

__all__ = ["get_cpu_capability"]


def get_cpu_capability() -> str:
    """``get_cpu_capability()`` is ``AVX512``, ``AVX2`` or ``DEFAULT``: the widest vectors that NumPy finds.

    >>> import autograd_cy as ag
    >>> ag.backends.cpu.get_cpu_capability() in ("AVX512", "AVX2", "DEFAULT")
    True
    """
    from numpy._core import _multiarray_umath as numpy_core  # type: ignore[attr-defined]

    features = numpy_core.__cpu_features__
    return "AVX512" if features.get("AVX512F") else "AVX2" if features.get("AVX2") else "DEFAULT"
