"""Results of operations in the memory format that an input suggests: NOTE [Channels last]."""

from autograd_cy._core.graph.record cimport shape_of
from autograd_cy._core.graph.tensor cimport Tensor

from autograd_cy._core.arrays import formats


cdef object in_format_of(object y, bint channels_last):
    """The tensor, or a copy with channels last. Formats are not kept within vmap."""
    if not channels_last or (<Tensor> y).batched:
        return y
    wanted = formats.channels_last if len(shape_of(<Tensor> y)) == 4 else formats.channels_last_3d
    return y.contiguous(memory_format=wanted)
