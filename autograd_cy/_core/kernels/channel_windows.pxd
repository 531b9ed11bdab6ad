"""The loops of window_loops, for arrays whose channels lie last in memory."""

from autograd_cy._core.kernels.window_loops cimport Arrival
from autograd_cy._core.runtime cimport numpy_api as cnp

cdef bint counts_places(cnp.ndarray x) noexcept
cdef tuple channel_maxima(cnp.ndarray x, tuple tables, tuple dilation)
cdef cnp.ndarray moved_by_channels(cnp.ndarray source, cnp.ndarray places, tuple sizes, Arrival arrival)
