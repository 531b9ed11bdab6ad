"""Arguments of operations: tensors, dimensions, sizes and types, with the errors for what is none."""

from autograd_cy._core.arrays.buffers cimport sizes_of
from autograd_cy._core.arrays.dtypes cimport dtype
from autograd_cy._core.graph.tensor cimport Tensor, wants_grad

cdef extern from "Python.h":
    long long PyLong_AsLongLongAndOverflow(object, int *) except? -1


cdef Tensor as_tensor(object value, str operation):
    """The argument as a Tensor; otherwise a TypeError that names the operation."""
    if not isinstance(value, Tensor):
        raise TypeError(f"{operation}(): argument 'input' must be Tensor, not {type(value).__name__}")
    return <Tensor> value


cdef Tensor tensor_argument(object value, str operation, str name, int position):
    """The argument as a Tensor; otherwise a TypeError that names it."""
    if not isinstance(value, Tensor):
        raise TypeError(f"{operation}(): argument '{name}' (position {position}) must be Tensor, not "
                        f"{type(value).__name__}")
    return <Tensor> value


cdef object as_type(object g, dtype wanted):
    """A gradient or tangent in another dtype: the real part if that is real and `g` complex."""
    if (<Tensor> g).dtype is wanted:
        return g
    if (<Tensor> g).dtype.is_complex and not wanted.is_complex:
        g = g.real
    return g.to(wanted)


cdef long long int64_of(object number) except? -1:
    """An int, TypeError for a bool; ValueError if it has more than 64 bits."""
    cdef int overflow = 0
    if number is True or number is False:
        raise TypeError("the argument must be int, not bool")
    cdef long long value = PyLong_AsLongLongAndOverflow(number, &overflow)
    if overflow:
        raise ValueError(f"Overflow when unpacking long long: {number}")
    return value


cdef int wrap_dim(object dim, int ndim) except -1:
    """A dimension counted from the front; IndexError if it is out of range (a 0-d tensor accepts 0 and -1)."""
    cdef int n = max(ndim, 1)
    if dim is True or dim is False:
        raise TypeError("argument 'dim' must be int, not bool")
    cdef long long d = int64_of(dim)
    if not -n <= d < n:
        raise IndexError(f"Dimension out of range (expected to be in range of [{-n}, {n - 1}], but got {d})")
    return <int> (d + n if d < 0 else d)


cdef tuple shape_of(Tensor x):
    """The sizes as a plain tuple."""
    return sizes_of(x.array)


cdef tuple broadcast_sizes(tuple a, tuple b):
    """The common sizes of two broadcast tensors; RuntimeError if they don't fit."""
    cdef int ndim = max(len(a), len(b)), axis
    a = (1,) * (ndim - len(a)) + a
    b = (1,) * (ndim - len(b)) + b
    for axis in range(ndim):
        if a[axis] != b[axis] and a[axis] != 1 and b[axis] != 1:
            raise RuntimeError(f"The size of tensor a ({a[axis]}) must match the size of tensor b ({b[axis]}) at "
                               f"non-singleton dimension {axis}")
    return tuple([q if p == 1 else p for p, q in zip(a, b)])


cdef bint needs_grad(object inputs):
    for x in inputs:
        if x is not None and wants_grad(<Tensor> x):
            return True
    return False
