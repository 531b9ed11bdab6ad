"""Views as numbers of another type: of a complex tensor as a real one and back, of any tensor as a dtype by view(dtype)."""

import numpy as np

cimport cython

from autograd_cy._core.arrays.dtypes cimport COMPLEX64, FLOAT32, FLOAT64, code_of, dtype, dtype_of, type_word
from autograd_cy._core.graph.node cimport Node
from autograd_cy._core.graph.record cimport as_tensor, record_view, shape_of
from autograd_cy._core.graph.tensor cimport Tensor, extend, new_tensor, share_version
from autograd_cy._core.runtime cimport numpy_api as cnp

from autograd_cy._core.batching.rules import on_values
from autograd_cy._core.ops.registry import op


# complex numbers

@cython.final
cdef class ViewAsRealBackward0(Node):
    cdef object vjp(self, object g, int i):
        return view_as_complex(g.contiguous())


@cython.final
cdef class ViewAsComplexBackward0(Node):
    cdef object vjp(self, object g, int i):
        return view_as_real(g)

    cdef object jvp(self, tuple tangents):
        return view_as_complex(tangents[0].contiguous())


@op(methods=(), linear=ViewAsRealBackward0, batch=on_values)
def view_as_real(input):
    """view_as_real(input) -> Tensor: a complex tensor viewed as a real one, with (real, imaginary) as the last dimension.

    >>> import autograd_cy as ag
    >>> ag.view_as_real(ag.tensor([1 + 2j]))
    tensor([[1., 2.]])
    """
    cdef Tensor x = as_tensor(input, "view_as_real")
    if code_of(x.array) < COMPLEX64:
        raise RuntimeError("view_as_real is only supported for complex tensors")
    parts = (<dtype> dtype_of(code_of(x.array))).to_real().numpy_dtype
    return record_view(ViewAsRealBackward0, (), x, np.expand_dims(x.array, -1).view(parts))


def batched_complex(call, input):
    call.check_rank(input, 1, input)
    return call(call.value(input))


@op(methods=(), batch=batched_complex)
def view_as_complex(input):
    """view_as_complex(input) -> Tensor: a real tensor with last dimension (real, imaginary) viewed as a complex one.

    >>> import autograd_cy as ag
    >>> ag.view_as_complex(ag.tensor([[1.0, 2.0]]))
    tensor([1.+2.j])
    """
    cdef Tensor x = as_tensor(input, "view_as_complex")
    cdef dtype d = dtype_of(code_of(x.array))
    if code_of(x.array) not in (FLOAT32, FLOAT64):
        raise RuntimeError("view_as_complex is only supported for half, float and double tensors, but got a tensor of scalar "
                           f"type: {type_word(code_of(x.array))} (float16 has no complex type here)")
    if cnp.PyArray_NDIM(x.array) == 0:
        raise RuntimeError("Input tensor must have one or more dimensions")
    if shape_of(x)[-1] != 2:
        raise RuntimeError(f"Tensor must have a last dimension of size 2 (view_as_complex(): it is of shape {shape_of(x)})")
    whole = d.to_complex().numpy_dtype
    if cnp.PyArray_SIZE(x.array) == 0:                  # NumPy gives empty arrays any strides
        return record_view(ViewAsComplexBackward0, (), x, np.empty(shape_of(x)[:-1], whole))
    if cnp.PyArray_STRIDE(x.array, cnp.PyArray_NDIM(x.array) - 1) != d.itemsize:
        raise RuntimeError("Tensor must have a last dimension with stride 1")
    check_even_strides(x, d.itemsize)
    return record_view(ViewAsComplexBackward0, (), x, x.array.view(whole)[..., 0])


cdef int check_even_strides(Tensor x, int itemsize) except -1:
    """Refuse a view of which a complex number would begin at an odd element of the memory."""
    cdef int axis
    for axis in range(cnp.PyArray_NDIM(x.array) - 1):
        if cnp.PyArray_DIM(x.array, axis) != 1 and cnp.PyArray_STRIDE(x.array, axis) // itemsize % 2:
            raise RuntimeError("Tensor must have a stride divisible by 2 for all but last dimension")
    if (<object> x).storage_offset() % 2:
        raise RuntimeError("Tensor must have a storage_offset divisible by 2")
    return 0


@op(methods=(), batch=on_values)
def real(input):
    """real(input) -> Tensor: the real part, a view; a real tensor itself. As a property: x.real.

    >>> import autograd_cy as ag
    >>> ag.real(ag.tensor([1 + 2j]))
    tensor([1.])
    """
    return view_as_real(input)[..., 0] if code_of(as_tensor(input, "real").array) >= COMPLEX64 else input


@op(methods=(), batch=on_values)
def imag(input):
    """imag(input) -> Tensor: the imaginary part of a complex tensor, a view. As a property: x.imag.

    >>> import autograd_cy as ag
    >>> ag.imag(ag.tensor([1 + 2j]))
    tensor([2.])
    """
    if code_of(as_tensor(input, "imag").array) < COMPLEX64:
        raise RuntimeError("imag is not implemented for tensors with non-complex dtypes.")
    return view_as_real(input)[..., 1]


def set_real(self, value):
    real(self)[...] = value


def set_imag(self, value):
    imag(self)[...] = value


extend("real", property(real, set_real))
extend("imag", property(imag, set_imag))


# any dtype

cdef cnp.ndarray memory_as(Tensor x, dtype target):
    """A tensor's memory as elements of another dtype; the last dimension changes if their sizes differ."""
    cdef int old = cnp.PyArray_ITEMSIZE(x.array), new = target.itemsize, ratio, d
    cdef str names = f"to view {type_word(code_of(x.array))} as {type_word(target.dtype_code)} (different element sizes)"
    if old == new:
        return (<object> x.array).view(target.numpy_dtype)
    if cnp.PyArray_NDIM(x.array) == 0:
        raise RuntimeError(f"self.dim() cannot be 0 {names}")
    sizes, steps = list(shape_of(x)), list((<object> x.array).strides)
    if sizes[-1] == 1:                  # NumPy gives such a dimension any stride
        steps[-1] = old
    if steps[-1] != old and cnp.PyArray_SIZE(x.array):
        raise RuntimeError(f"self.stride(-1) must be 1 {names}, but got {steps[-1] // old}")
    ratio = new // old
    if ratio and sizes[-1] % ratio:
        raise RuntimeError(f"self.size(-1) must be divisible by {ratio} {names}, but got {sizes[-1]}")
    if cnp.PyArray_SIZE(x.array) == 0:
        return np.empty(sizes[:-1] + [sizes[-1] * old // new], target.numpy_dtype)
    if ratio and (<object> x).storage_offset() % ratio:
        raise RuntimeError(f"self.storage_offset() must be divisible by {ratio} {names}, but got "
                           f"{(<object> x).storage_offset()}")
    for d in range(len(sizes) - 1 if ratio else 0):
        if sizes[d] > 1 and steps[d] % new:
            raise RuntimeError(f"self.stride({d}) must be divisible by {ratio} {names}, but got {steps[d] // old}")
    return np.lib.stride_tricks.as_strided(x.array, sizes, steps).view(target.numpy_dtype)


cdef Tensor in_other_type(Tensor x, dtype target):
    """An alias without history, as from detach(): reinterpreted bits have no derivative."""
    cdef Tensor y = new_tensor(memory_as(x, target))
    share_version(x, y)
    return y
