"""A call of an operation with batched tensors, as batching rules see it."""

import numpy as np

cimport cython

from autograd_cy._core.graph.tensor cimport Tensor, new_tensor
from autograd_cy._core.runtime cimport numpy_api as cnp


@cython.final
cdef class BatchedCall:
    """A call of an operation with a BatchedTensor of `level`, which is the innermost one among its arguments."""

    def __call__(self, *args, **kwargs):
        """The operation on all samples."""
        return self.function(*args, **kwargs)

    cpdef bint is_batched(self, object x) except -1:
        """Whether `x` is a tensor that is batched at the call's level."""
        return isinstance(x, Tensor) and (<Tensor> x).batched and (<BatchedTensor> x).level is self.level

    cpdef object value(self, object x):
        """All samples of `x`; anything that is not batched is returned as is."""
        return (<BatchedTensor> x).value if self.is_batched(x) else x

    cpdef object front(self, object x):
        """All samples of a tensor, repeated if it is not batched; anything else is returned as is."""
        if self.is_batched(x):
            return (<BatchedTensor> x).value
        if not isinstance(x, Tensor):
            return x
        return x.unsqueeze(0).expand(self.level.size, *x.shape)

    def vectors(self, Tensor x):
        """All samples of a tensor, those without dimensions as vectors of one element."""
        cdef object samples = self.front(x)
        return samples if cnp.PyArray_NDIM(x.array) else samples.unsqueeze(1)

    cpdef object aligned(self, object x, int rank):
        """All samples of `x`, each padded in front to `rank` dimensions; anything that is not batched is returned as is."""
        cdef int missing
        cdef tuple sizes
        if not self.is_batched(x):
            return x
        missing = rank - cnp.PyArray_NDIM((<Tensor> x).array)
        x = (<BatchedTensor> x).value
        if missing <= 0:
            return x
        sizes = tuple(x.shape)
        return x.reshape(sizes[:1] + (1,) * missing + sizes[1:])

    def with_batch(self, Tensor x, sizes):
        """`sizes` of one sample with the batch size in front; a -1 in them is computed if the batch is empty."""
        cdef object wanted = tuple(sizes), known = 1
        if self.level.size == 0 and -1 in wanted:
            for n in wanted:
                known *= 1 if n == -1 else n
            wanted = tuple([cnp.PyArray_SIZE(x.array) // max(known, 1) if n == -1 else n for n in wanted])
        return (self.level.size, *wanted)

    def on_sample(self, *args, **kwargs):
        """Call the operation on the first samples, to raise its own error."""
        self.function(*[first_sample(x) for x in args], **{name: first_sample(x) for name, x in kwargs.items()})
        raise RuntimeError(f"vmap: {self.function.__name__}() takes no such arguments")

    def check_rank(self, Tensor x, int rank, *args, **kwargs):
        """Raise the operation's own error for these arguments if a sample of `x` has fewer than `rank` dimensions."""
        if cnp.PyArray_NDIM(x.array) < rank:
            self.on_sample(*args, **kwargs)

    def nothing(self, *args):
        """The result for an empty batch, with the shape of the first samples' result. Its gradients are 0."""
        shape = self.function(*[first_sample(x) for x in args]).shape
        tensors = [self.value(x).sum() for x in args if isinstance(x, Tensor)]
        return sum(tensors[1:], tensors[0]) * new_tensor(np.zeros((0, *shape), tensors[0].dtype.numpy_dtype))

    @property
    def size(self):
        """The number of samples."""
        return self.level.size


cdef object first_sample(object x):
    """The first sample of a batched tensor, without history; a list or tuple is converted item by item."""
    if type(x) is list or type(x) is tuple:
        return type(x)([first_sample(item) for item in x])
    return new_tensor((<Tensor> x).array) if isinstance(x, Tensor) else x


def rank_of(Tensor x):
    """rank_of(x) -> int: the number of dimensions of a sample."""
    return cnp.PyArray_NDIM(x.array)
