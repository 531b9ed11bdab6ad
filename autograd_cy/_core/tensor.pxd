"""Tensor: an array and its place in the graph."""

from cpython.object cimport PyObject
cimport numpy as cnp

from autograd_cy._core.dtypes cimport dtype
from autograd_cy._core.lifetime cimport Link
from autograd_cy._core.node cimport Node


cdef class VersionCounter:
    """How often the memory of a tensor was written; shared by a tensor, its views and its detached aliases."""
    cdef long version


cdef class Tensor:
    cdef Link link
    cdef object __weakref__
    cdef cnp.ndarray array
    cdef readonly Node grad_fn
    cdef Tensor gradient            # .grad
    cdef VersionCounter counter     # None as long as the version is 0 and nobody shares it
    cdef TensorExtras extras        # what few tensors have, or None
    cdef object attributes          # __dict__, or NULL
    # plain data from here on, all zero in a new tensor
    cdef PyObject *accumulator      # a leaf's AccumulateGrad: borrowed, the node clears it when it dies
    cdef int output_number          # which output of grad_fn this is
    cdef char needs_grad            # a leaf that asks for a gradient, or a recorded result
    cdef char keeps_grad            # retain_grad() was called
    cdef char is_number             # stands for a Python number (rank 0 in promotion)
    cdef char inference             # made in inference mode: see NOTE [Inference tensors] in inference.pyx

    cdef VersionCounter version_counter(self)


cdef class TensorExtras:
    cdef object hooks               # of a leaf: NodeHooks, or None
    cdef Tensor tangent             # forward mode
    cdef long long tangent_level    # the dual level (a running number) that the tangent belongs to
    cdef Node leaf_node             # of an alias that stands for a leaf: the leaf's AccumulateGrad


ctypedef object (*UnaryFunction)(object)
ctypedef object (*BinaryFunction)(object, object)

cdef enum:
    ADD
    SUB
    MUL
    DIV
    RSUB
    RDIV
    POW
    MATMUL
    EQ
    NE
    LT
    LE
    GT
    GE
    AND
    OR
    XOR
    ITEM
    OPERATORS

cdef BinaryFunction[OPERATORS] operators
cdef UnaryFunction negative
cdef UnaryFunction invert

cdef Tensor new_tensor(cnp.ndarray array)
cdef TensorExtras extras_of_tensor(Tensor tensor)
cpdef Tensor from_array(cnp.ndarray array)
cpdef cnp.ndarray array_of(Tensor tensor)
cdef void share_version(Tensor source, Tensor alias)
cdef long version_of(Tensor tensor) noexcept
cdef void bump_version(Tensor tensor)
cdef str type_name(Tensor tensor)
cdef str long_name(Tensor tensor)
cpdef extend(str name, value)
