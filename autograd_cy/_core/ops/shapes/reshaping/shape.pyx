"""Joining, copying and converting tensors.

All operations are linear: the rule of a node is the transpose, its jvp is the operation itself, both with the node's
constants.
"""

import weakref
from math import prod

import numpy as np

cimport cython
from cpython.number cimport PyIndex_Check, PyNumber_Index
from cpython.object cimport PyObject

from autograd_cy._core.arrays.buffers cimport copy_in_order, has_channels_last, in_c_order, measure, strided_view
from autograd_cy._core.arrays.dtypes cimport BOOL, COMPLEX64, as_dtype, code_of, dtype, dtype_of
from autograd_cy._core.batching.batched cimport BatchedTensor, batched
from autograd_cy._core.graph.memory cimport owner_of
from autograd_cy._core.graph.node cimport Node, NodeHooks, existing_hooks
from autograd_cy._core.graph.record cimport as_tensor, as_type, needs_node, new_node, record, record_linear, shape_of, wrap_dim
from autograd_cy._core.graph.tensor cimport (
    Seldom, Tensor, count_write, extend, extras_of_tensor, new_tensor, seldom_of, share_version, wants_grad)
from autograd_cy._core.kernels.loops cimport copied, reversed_rows
from autograd_cy._core.runtime cimport numpy_api as cnp
from autograd_cy._core.runtime.state cimport INFERENCE, check_write, current_mode

from autograd_cy._core.arrays import formats, unset
from autograd_cy._core.batching.batched import rank_of
from autograd_cy._core.batching.rules import declare_rule, on_values
from autograd_cy._core.ops.registry import inplace_op, op
from autograd_cy._core.runtime.once import warn_of_lost_imaginary_part

cdef extern from "Python.h":
    Py_ssize_t Py_REFCNT(PyObject *)


def sizes_argument(arguments):
    """Sizes given as one sequence or one by one: reshape((2, 3)), reshape(2, 3). TypeError unless they are integers.

    A sequence must be a tuple or a list: others may be endless.
    """
    if len(arguments) == 1 and isinstance(arguments[0], (tuple, list)):
        arguments = arguments[0]
    sizes = tuple([whole_number(size) for size in arguments])
    for position, size in enumerate(sizes):
        if not -2**63 <= size < 2**63:
            raise TypeError(f"argument 'size' failed to unpack the object at pos {position + 1} with error \"Overflow when "
                            f"unpacking long long\": {size}")
    return sizes


cdef object whole_number(object size):
    if not PyIndex_Check(size):
        raise TypeError(f"sizes and dimensions must be tuple of ints, not {type(size).__name__}")
    return PyNumber_Index(size)


cdef object zeros_or(object g, object like):
    """The gradient of one output, or zeros if there is none. `like`: (sizes, dtype)"""
    return new_tensor(np.zeros(like[0], like[1])) if g is None else g


@cython.final
cdef class FlipBackward0(Node):
    cdef tuple constant_names(self):
        return ("dims",)

    cdef object vjp(self, object g, int i):
        return flip(g, self.constants[0])


def batched_flip(call, input, *dims):
    if rank_of(input) == 0:
        return call.value(input).clone()
    return call(call.value(input), [d + 1 for d in wrapped_dims(input, sizes_argument(dims))])


@op(methods=("flip",), linear=FlipBackward0, batch=batched_flip)
def flip(input, *dims):
    """flip(input, dims) -> Tensor: a copy with the order of the elements reversed along `dims`.

    >>> import autograd_cy as ag
    >>> ag.flip(ag.tensor([1.0, 2.0, 3.0]), [0])
    tensor([3., 2., 1.])
    """
    cdef Tensor x = as_tensor(input, "flip")
    if not dims:
        raise TypeError("flip() missing 1 required positional arguments: \"dims\"")
    cdef int ndim = cnp.PyArray_NDIM(x.array)
    cdef tuple axes = tuple([wrap_dim(d, ndim) for d in sizes_argument(dims)])
    if len(set(axes)) != len(axes):
        raise RuntimeError(f"dim {axes} appears multiple times in the list of dims")
    cdef cnp.ndarray copy = None
    if axes == (ndim - 1,) and ndim and cnp.PyArray_IS_C_CONTIGUOUS(x.array):
        copy = reversed_rows(x.array)
    if copy is None:
        copy = copy_in_order(np.flip(x.array, axes) if ndim else x.array, code_of(x.array))
    return record_linear(FlipBackward0, (axes,), x, copy)


@cython.final
cdef class RollBackward0(Node):
    cdef tuple constant_names(self):
        return ("shifts", "dims")

    cdef object vjp(self, object g, int i):
        shifts, dims = self.constants
        return roll(g, [-shift for shift in shifts], dims)


def batched_roll(call, input, shifts, dims=()):
    cdef object x = call.value(input), all_dims = dims if isinstance(dims, (tuple, list)) else (dims,)
    if rank_of(input) == 0:
        return x.clone()
    if all_dims:
        return call(x, shifts, [d + 1 for d in wrapped_dims(input, all_dims)])
    return call(x.reshape(call.size, (<Tensor> input).array.size), shifts, 1).reshape(x.shape)


@op(methods=("roll",), linear=RollBackward0, batch=batched_roll)
def roll(input, shifts: _Dims, dims: _Dims | None = ()):
    """roll(input, shifts, dims=()) -> Tensor: a copy with elements shifted by `shifts` along `dims`, the last ones go first.

    Without `dims` the flattened elements are shifted.

    >>> import autograd_cy as ag
    >>> ag.roll(ag.tensor([1.0, 2.0, 3.0]), 1)
    tensor([3., 1., 2.])
    """
    cdef Tensor x = as_tensor(input, "roll")
    cdef tuple moved = integers(shifts), axes = () if dims is None else integers(dims)
    if not moved:
        raise RuntimeError("`shifts` required")
    if not axes and len(moved) == 1:
        array = rolled(x.array.reshape(-1), moved[0], 0).reshape(shape_of(x))
    elif len(axes) != len(moved):
        raise RuntimeError(f"shifts and dimensions must align. shifts: {len(moved)}, dims:{len(axes)}")
    elif cnp.PyArray_NDIM(x.array) == 0:
        raise IndexError(f"Dimension specified as {axes[0]} but tensor has no dimensions")
    else:
        array = x.array
        for shift, d in zip(moved, [wrap_dim(d, cnp.PyArray_NDIM(x.array)) for d in axes]):
            array = rolled(array, shift, d)
    return record_linear(RollBackward0, (moved, axes), x, array)


cdef object rolled(object array, object shift, int dim):
    """The array with its elements shifted along one dimension. (np.roll crashes if memory runs out.)"""
    cdef object n = array.shape[dim]
    cdef tuple before = (slice(None),) * dim
    k = shift % n if n else 0
    return np.concatenate((array[(*before, slice(n - k, n))], array[(*before, slice(0, n - k))]), dim)


cdef tuple integers(object given):
    """One integer, or a list or tuple of them."""
    return sizes_argument(given if isinstance(given, (tuple, list)) else (given,))


# copies and conversions

@cython.final
cdef class CloneBackward0(Node):
    cdef object vjp(self, object g, int i):
        return g


@cython.final
cdef class ToCopyBackward0(Node):
    cdef object vjp(self, object g, int i):
        return as_type(g, self.constants[0])

    cdef object jvp(self, tuple tangents):
        return to_dtype(tangents[0], self.constants[1])


@op(methods=("clone",), linear=CloneBackward0, batch=on_values)
def clone(input, *, memory_format=None):
    """clone(input) -> Tensor: a dense copy that keeps the memory order of dimensions; gradients pass through.

    `memory_format` sets another order: `contiguous_format` is C order.

    >>> import autograd_cy as ag
    >>> ag.clone(ag.tensor([1.0, 2.0]))
    tensor([1., 2.])
    """
    cdef Tensor x = as_tensor(input, "clone")
    if memory_format is not None and formats.checked(memory_format, "clone") is not None:
        return record_linear(CloneBackward0, (), x, formats.copied_in(memory_format, x.array))
    if cnp.PyArray_IS_C_CONTIGUOUS(x.array) and cnp.PyArray_SIZE(x.array):
        return record_linear(CloneBackward0, (), x, copied(x.array))
    return record_linear(CloneBackward0, (), x, copy_in_order(x.array, code_of(x.array)))


cpdef Tensor to_dtype(Tensor x, dtype wanted):
    """The tensor in another type, or itself. From complex to real, it takes the real part."""
    cdef int own = code_of(x.array)
    if own == wanted.dtype_code:
        return x
    if x.batched:                       # this method was looked up before the first vmap: see `arm` in overrides.pyx
        return batched(to_dtype((<BatchedTensor> x).value, wanted), (<BatchedTensor> x).level)
    wanted = as_dtype(wanted)           # raises if tensors can't have it
    if own >= COMPLEX64 > wanted.dtype_code > BOOL and cnp.PyArray_SIZE(x.array):
        warn_of_lost_imaginary_part()
    cdef Tensor y = new_tensor(copy_in_order(x.array, wanted.dtype_code))
    # integers return no gradient
    if needs_node(x) and (wanted.is_floating_point or wanted.is_complex):
        record(new_node(ToCopyBackward0, (dtype_of(own), wanted)), y, x)
    return y


def contiguous(Tensor self, memory_format=None):
    """contiguous() -> Tensor: the tensor itself if it is contiguous, else a contiguous copy."""
    if memory_format is not None and memory_format is not formats.contiguous_format:
        if formats.checked(memory_format, "contiguous") is None:
            if cnp.PyArray_IS_C_CONTIGUOUS(self.array):
                return self
            raise RuntimeError("preserve memory format is unsupported by the contiguous operator")
        if formats.is_dense_in(memory_format, self.array):
            return self
        return record_linear(CloneBackward0, (), self, formats.copied_in(memory_format, self.array))
    if cnp.PyArray_IS_C_CONTIGUOUS(self.array):
        return self
    if has_channels_last(self.array):
        return record_linear(CloneBackward0, (), self, in_c_order(self.array, code_of(self.array)))
    return record_linear(CloneBackward0, (), self, copied(self.array))


def detach(Tensor self):
    """detach() -> Tensor: the same memory without the history; writes to either count for both."""
    cdef Tensor y = new_tensor(self.array)
    share_version(self, y)
    return y


def detach_(Tensor self):
    """detach_() -> Tensor: take the tensor out of the graph, in place: it becomes a leaf that requires no grad.

    Its hooks stay, in case it requires grad again. RuntimeError for a view.
    """
    if self.extras is not None and self.extras.base is not None:
        raise RuntimeError("Can't detach views in-place. Use detach() instead.")
    if self.grad_fn is not None:
        take_hooks(self)
        if not self.inference:
            note_former(self)
    self.grad_fn, self.output_number = None, 0
    self.needs_grad = self.keeps_grad = False
    if self.extras is not None:
        self.extras.tangents = None
    return self


cdef int take_hooks(Tensor tensor) except -1:
    """Move the hooks of a tensor that leaves its node to the leaf that it becomes."""
    cdef NodeHooks hooks = existing_hooks(tensor.grad_fn)
    functions = None if hooks is None or hooks.tensor_hooks is None else hooks.tensor_hooks.get(tensor.output_number)
    if functions is not None:
        hooks = NodeHooks.__new__(NodeHooks)
        hooks.tensor_hooks = {0: functions}
        extras_of_tensor(tensor).hooks = hooks
    return 0


cdef int note_former(Tensor tensor) except -1:
    """Let nodes that saved the tensor notice that it has left its place in the graph: `check_place` in saved.pyx."""
    cdef Seldom seldom = seldom_of(extras_of_tensor(tensor))
    tensor.extras.current = tensor.version_counter().version
    seldom.former, seldom.former_output = weakref.ref(tensor.grad_fn), tensor.output_number
    return 0


def refused_resize(call, self, *size, memory_format=None):
    raise RuntimeError("vmap: resize_() is not possible within vmap: the memory holds all samples of a batch")


cdef int check_sizes(tuple sizes, object numel, Py_ssize_t itemsize) except -1:
    """Refuse sizes that no memory can hold."""
    if min(sizes, default=0) < 0 or numel >= 2**63:
        raise RuntimeError(f"numel: integer multiplication overflow. (resize_(): there is no tensor of size {list(sizes)})")
    if numel * itemsize >= 2**63:
        raise RuntimeError(f"Storage size calculation overflowed with sizes={list(sizes)}")
    if prod([max(size, 1) for size in sizes]) * itemsize >= 2**63:
        raise RuntimeError(f"Stride calculation overflowed (resize_(): there is no tensor of size {list(sizes)})")
    return 0


def resize_(Tensor self, *size, memory_format=None):
    """resize_(size, *, memory_format=None) -> Tensor: give the tensor other sizes, in place; new elements are zeros.

    Its dimensions then lie in memory in C order, or as the memory format says. The memory is kept while it suffices, so the
    base of a view sees the change. RuntimeError for a tensor that requires grad, for negative sizes, and for an inference
    tensor outside of inference mode.
    """
    cdef tuple wanted = sizes_argument(size)
    cdef cnp.ndarray flat
    cdef cnp.npy_intp kept, step = cnp.PyArray_ITEMSIZE(self.array)
    if wants_grad(self) and not current_mode() & INFERENCE:
        raise RuntimeError("cannot resize variables that require grad. (resize_(): take a reshape(), or a detach() of it)")
    n = prod(wanted)
    check_sizes(wanted, n, step)
    if memory_format is not None and formats.checked(memory_format, "resize_") is None:
        raise RuntimeError("Unsupported memory format Preserve")
    order = (memory_format or formats.contiguous_format).order(len(wanted))
    if wanted == shape_of(self) and memory_format is None:
        return self
    check_write(self.inference, "resize_")
    kept = min(n, room_of(self.array) // step)
    flat = strided_view(self.array, cnp.PyArray_BYTES(self.array), 1, &kept, &step)
    if kept < n:
        flat = np.concatenate([flat, unset.empty(n - kept, flat.dtype, np.zeros)])
    flat = flat.reshape([wanted[axis] for axis in order]).transpose(np.argsort(order))
    count_write(self, "resize_")
    self.array = flat
    return self


cdef Py_ssize_t room_of(cnp.ndarray array) except -1:
    """The number of bytes from an array's first element to the end of its memory."""
    cdef cnp.ndarray owner = <cnp.ndarray> owner_of(array)
    cdef Py_ssize_t below, above
    measure(owner, &below, &above)
    return max(cnp.PyArray_BYTES(owner) + above - cnp.PyArray_BYTES(array), 0)      # below 0: of nothing, the imaginary part


def replace_array(Tensor self, Tensor other):
    """Make `self` hold the memory of `other`, as assigning to `.data` does."""
    self.array = other.array


def is_held_alone(Tensor self):
    """Whether nothing but this tensor refers to its memory: no view, no alias, no array of a user."""
    cdef PyObject *array = <PyObject *> self.array
    cdef PyObject *base = cnp.PyArray_BASE(self.array)
    if Py_REFCNT(array) > 1:
        return False
    return base == NULL or (Py_REFCNT(base) == 1 and isinstance(<object> base, np.ndarray))


for _function in (contiguous, detach):
    extend(_function.__name__, _function)
    declare_rule(_function, on_values)
inplace_op(detach_, batch=on_values)
inplace_op(resize_, batch=refused_resize)


cdef list wrapped_dims(object x, object dims):
    """The dimensions of a sample, counted from the front."""
    return [wrap_dim(d, rank_of(x)) for d in dims]
