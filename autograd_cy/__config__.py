"""``torch.__config__``: what this package is built with and how many threads it uses, as text (facade)."""

import sys

import numpy as np

__all__ = ["parallel_info", "show"]


def show() -> str:
    """``show()`` -> str: a list of what computes: this package, Python, NumPy and its BLAS.

    >>> import autograd_cy as ag
    >>> ag.__config__.show().splitlines()[0]
    'PyTorch built with:'
    """
    from . import version

    blas = np.show_config(mode="dicts")["Build Dependencies"]["blas"]
    lines = [
        f"autograd_cy {version.__version__}, which stands in for PyTorch",
        f"CPython {sys.version.split()[0]}",
        f"NumPy {np.__version__}",
        f"BLAS: {blas.get('name', 'unknown')} {blas.get('version', '')}".rstrip(),
    ]
    return "PyTorch built with:\n" + "".join(f"  - {line}\n" for line in lines)


def parallel_info() -> str:
    """``parallel_info()`` -> str: the numbers of threads.

    >>> import autograd_cy as ag
    >>> ag.__config__.parallel_info().splitlines()[0]
    'ATen/Parallel:'
    """
    from . import get_num_interop_threads, get_num_threads

    return (
        f"ATen/Parallel:\n\tat::get_num_threads() : {get_num_threads()}\n"
        f"\tat::get_num_interop_threads() : {get_num_interop_threads()}\nATen parallel backend: native thread pool\n"
    )
