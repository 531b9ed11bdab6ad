"""A dense array of planes, each with a channel and with statistics."""

from autograd_cy._core.runtime.numpy_api cimport npy_intp

cdef struct Planes:
    npy_intp count, size            # of planes, and of elements in each
    npy_intp channels               # plane p uses the weight and bias of channel p % channels ...
    npy_intp per, groups            # ... and the statistics p // per % groups
