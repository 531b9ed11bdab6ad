"""Results that are written into `out`."""

from autograd_cy._core.graph.tensor cimport Tensor

# in out_argument.pyx
cdef object call_into(object function, tuple args, dict kwargs)
