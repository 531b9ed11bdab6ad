"""set_num_threads: kernels and BLAS together."""

import warnings

from .._core.parallel.threads import set_kernel_threads
from .._core.runtime.entry import public


@public
def set_num_threads(n: int) -> None:
    """set_num_threads(n): let kernels, and the BLAS that NumPy calls, use n threads. Kernels' results don't depend on it.

    Until this is called, kernels use as many as there are cores for the process, or as OMP_NUM_THREADS says.
    BLAS is told through threadpoolctl; without that package a UserWarning says that it keeps its number. TypeError unless
    n is an int, RuntimeError if it is not positive, or more than 1 where there are no POSIX threads.

    >>> import warnings
    >>> import autograd_cy as ag
    >>> with warnings.catch_warnings(action="ignore"):      # where threadpoolctl is not installed
    ...     ag.set_num_threads(1)
    >>> ag.get_num_threads()
    1
    """
    if type(n) is not int:
        raise TypeError(f"set_num_threads expects an int, but got {type(n).__name__}")
    if not limit_threads(n):
        warnings.warn(
            "set_num_threads() has set the threads of autograd_cy's kernels only: install threadpoolctl to set those of "
            "BLAS (matrix products), too.",
            UserWarning,
            stacklevel=2,
        )


def limit_threads(n: int) -> bool:
    """``limit_threads(n)`` is set_num_threads(n) without its warning: whether BLAS was told, too."""
    set_kernel_threads(n)
    try:
        import threadpoolctl
    except ImportError:
        return False
    threadpoolctl.ThreadpoolController().select(user_api="blas").limit(limits=n)
    return True
