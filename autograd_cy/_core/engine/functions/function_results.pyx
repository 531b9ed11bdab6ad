"""What the backward and the jvp of a user's Function return, checked against the arguments and outputs of its forward."""

cimport cython

from autograd_cy._core.arrays.buffers cimport new_zeros
from autograd_cy._core.arrays.dtypes cimport code_of, dtype_of, is_differentiable
from autograd_cy._core.batching.batched cimport values_of
from autograd_cy._core.graph.node cimport Node
from autograd_cy._core.graph.tensor cimport Tensor, new_tensor, version_of
from autograd_cy._core.runtime cimport numpy_api as cnp
from autograd_cy._core.writes.inplace cimport tangent_base


@cython.final
cdef class Metadata:
    pass


@cython.final
cdef class Origin:
    pass


cdef Metadata metadata_of(Tensor tensor):
    cdef Metadata metadata = Metadata.__new__(Metadata)
    cdef int axis
    metadata.shape = tuple([cnp.PyArray_DIM(tensor.array, axis) for axis in range(cnp.PyArray_NDIM(tensor.array))])
    metadata.dtype_code = code_of(tensor.array)
    return metadata


cdef Tensor zeros(Metadata metadata):
    cdef cnp.npy_intp dims[64]
    cdef int axis
    for axis in range(len(metadata.shape)):
        dims[axis] = metadata.shape[axis]
    return new_tensor(new_zeros(metadata.dtype_code, len(metadata.shape), dims))


cdef bint is_constant(Metadata output, tuple marks, int i) except -1:
    """Whether a tensor output has no gradient. `marks`: for each output, whether it was marked; None: no output was."""
    return marks is not None and marks[i] or not is_differentiable(output.dtype_code)


# of backward

cdef tuple checked_gradients(Node node, tuple results, tuple arguments):
    """The results of backward, checked: one gradient for each tensor argument, of its shape and dtype."""
    cdef int i, expected = len(arguments)
    cdef list kept = []
    if len(results) > expected and results[expected:].count(None) == len(results) - expected:
        results = results[:expected]
    if len(results) != expected:
        raise RuntimeError(f"function {node.name()} returned an incorrect number of gradients (expected {expected}, "
                           f"got {len(results)})")
    for i in range(expected):
        if arguments[i] is not None:
            kept.append(None if results[i] is None else checked_gradient(node, results[i], i, <Metadata> arguments[i]))
        elif results[i] is not None:
            raise RuntimeError(f"function {node.name()} returned a gradient different than None at position {i + 1}, "
                               "but the corresponding forward input was not a Variable")
    return tuple(kept)


cdef object checked_gradient(Node node, object g, int i, Metadata expected):
    if not isinstance(g, Tensor):
        raise RuntimeError(f"function {node.name()} returned at index {i}: expected Variable or None "
                           f"(got {type(g).__name__})")
    cdef Metadata got = metadata_of(<Tensor> g)
    if got.shape != expected.shape:
        if not is_reducible(got.shape, expected.shape):
            raise RuntimeError(f"Function {node.name()} returned an invalid gradient at index {i} - got "
                               f"{list(got.shape)} but expected shape compatible with {list(expected.shape)}")
        g = g.sum_to_size(expected.shape)
    if got.dtype_code != expected.dtype_code:
        if dtype_of(got.dtype_code).is_complex and not dtype_of(expected.dtype_code).is_complex:
            raise RuntimeError(
                "Expected isFloatingType(grad.scalar_type()) || (input_is_complex == grad_is_complex) to be true, but "
                f"got false. Function {node.name()} returned a gradient of {dtype_of(got.dtype_code)} at index {i} for an "
                f"input of {dtype_of(expected.dtype_code)}: return its real part")
        g = g.to(dtype_of(expected.dtype_code))
    return g


cdef bint is_reducible(tuple shape, tuple target):
    """Whether `target` broadcasts to `shape`."""
    cdef int offset = len(shape) - len(target), axis
    if offset < 0:
        return False
    for axis in range(len(target)):
        if target[axis] != 1 and target[axis] != shape[axis + offset]:
            return False
    return True


# of jvp

cdef object checked_tangents(Node node, tuple results, tuple outputs, tuple marks):
    """The results of jvp, checked: a tangent or None for each output. Returns the tangents of tensor outputs."""
    cdef int i
    cdef list tangents = []
    if len(results) != len(outputs):
        raise RuntimeError(f"{node.name()}'s jvp returned an invalid number of forward gradients (expected "
                           f"{len(outputs)} but got {len(results)})")
    for i in range(len(results)):
        if outputs[i] is not None:
            if results[i] is not None:
                check_tangent(node, results[i], i, <Metadata> outputs[i], marks)
            tangents.append(results[i])
    return tuple(tangents) if len(tangents) != 1 else tangents[0]


cdef int check_tangent(Node node, object tangent, int i, Metadata output, tuple marks) except -1:
    if not isinstance(tangent, Tensor):
        raise RuntimeError(f"{node.name()}'s jvp: expected Variable or None (got {type(tangent).__name__}) for "
                           f"grad output {i}")
    if is_constant(output, marks, i):
        raise RuntimeError(f"{node.name()}'s jvp returned a gradient at position {i}, but the corresponding forward "
                           "output is not a differentiable Tensor. You should return None at that position instead.")
    if metadata_of(<Tensor> tangent).shape != output.shape:
        raise RuntimeError(f"{node.name()}'s jvp returned a forward gradient that has a different size than "
                           f"output {i}: {list(tangent.shape)}, {list(output.shape)}")
    return 0


cdef int check_origin(Node node, Origin origin, object tangent, Tensor given, long version) except -1:
    """If an output shares an input's memory, require that its tangent shares the memory of the input's tangent."""
    if origin.written:
        if version_of(values_of(given)) == version:
            raise RuntimeError(
                "An inplace custom Function is not modifying the forward mode gradients inplace. If the forward is "
                "modifying an input inplace, then the jvp function must modify the corresponding gradient inplace. "
                f"({node.name()})")
        if tangent is not given:
            raise RuntimeError(
                "An inplace custom Function is not returning the forward mode gradients as-is. If the forward is "
                "modifying an input inplace, then the jvp function must modify the gradient inplace and return it as-is. "
                f"({node.name()})")
    elif tangent is None or tangent_base(values_of(<Tensor> tangent)) is None:
        raise RuntimeError("A custom Function's forward is returning a view (or an input as-is) but the jvp is not "
                           f"returning a view. ({node.name()})")
    elif tangent_base(values_of(<Tensor> tangent)) is not tangent_owner(values_of(given)):
        what = "the given grad input"
        if tangent_owner(values_of(given)) is not values_of(given):
            what = "the same base as the given grad input"
        raise RuntimeError(f"A custom Function is returning a view but the jvp is not returning a view of {what}. "
                           f"({node.name()})")
    return 0


cdef Tensor tangent_owner(Tensor x):
    """The tensor that holds the tangent of `x`: `x` itself unless it is a view."""
    cdef Tensor base = tangent_base(x)
    return x if base is None else base
