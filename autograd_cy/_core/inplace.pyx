"""Writing into a tensor's memory.

NOTE [In place]
  1. What is written counts in the version of the tensor and of all that share its memory; a node that saved it finds
     out when it unpacks.
  2. A write that would have to be recorded (grad mode is on and the tensor or what is written requires grad) is refused
     before anything is changed.
  3. Types and shapes are checked first, too: a failed write leaves the tensor as it was.
"""

import numpy as np

cimport numpy as cnp

from autograd_cy._core.dtypes cimport BOOL, COMPLEX64, FLOAT16, code_of, dtype_of
from autograd_cy._core.guard cimport announce_write, watched
from autograd_cy._core.inference cimport check_write
from autograd_cy._core.loops cimport is_flat
from autograd_cy._core.modes cimport current_mode
from autograd_cy._core.state cimport NO_GRAD
from autograd_cy._core.tensor cimport Tensor, bump_version, extend, new_tensor, share_version

cnp.import_array()


cdef int check_unrecorded(Tensor target, object source, str operation) except -1:
    """Refuse a write that would have to be recorded."""
    check_write(target.inference, operation)
    if current_mode() & NO_GRAD:
        return 0
    if target.needs_grad and target.grad_fn is None:
        raise RuntimeError("a leaf Variable that requires grad is being used in an in-place operation. "
                           f"({operation}(): write under no_grad(), or to a clone() of it)")
    if target.needs_grad or (isinstance(source, Tensor) and (<Tensor> source).needs_grad):
        raise NotImplementedError(f"{operation}(): in-place operations are not recorded yet; the tensor is unchanged. "
                                  "Use the operation that returns a new tensor, or write under no_grad().")
    return 0


cdef int check_memory(cnp.ndarray target, cnp.ndarray source) except -1:
    """Refuse a target with elements in one place, and a source that overlaps the target in part."""
    cdef int axis
    if cnp.PyArray_SIZE(target) == 0:
        return 0
    for axis in range(cnp.PyArray_NDIM(target)):
        if cnp.PyArray_DIM(target, axis) > 1 and cnp.PyArray_STRIDE(target, axis) == 0:
            raise RuntimeError("unsupported operation: more than one element of the written-to tensor refers to a single "
                               "memory location. Please clone() the tensor before performing the operation.")
    if (source is not None and cnp.PyArray_BYTES(source) != cnp.PyArray_BYTES(target) and is_flat(source)
            and is_flat(target) and np.may_share_memory(target, source)):
        raise RuntimeError("unsupported operation: some elements of the input tensor and the written-to tensor refer to a "
                           "single memory location. Please clone() the tensor before performing the operation.")
    return 0


cdef int check_cast(int code, int target_code) except -1:
    """A result of a higher category doesn't fit into the target."""
    cdef int high = 3 if code >= COMPLEX64 else 2 if code >= FLOAT16 else 1 if code > BOOL else 0
    cdef int low = 3 if target_code >= COMPLEX64 else 2 if target_code >= FLOAT16 else 1 if target_code > BOOL else 0
    if high > low:
        raise RuntimeError(f"result type {legacy(code)} can't be cast to the desired output type {legacy(target_code)}")
    return 0


cdef str legacy(int code):
    from_name = {"float32": "Float", "float64": "Double", "float16": "Half", "int64": "Long", "int32": "Int",
                 "int16": "Short", "int8": "Char", "uint8": "Byte", "bool": "Bool", "complex64": "ComplexFloat",
                 "complex128": "ComplexDouble"}
    return from_name[dtype_of(code).name]


cdef int check_fits(cnp.ndarray target, cnp.ndarray source) except -1:
    """The source broadcasts to exactly the target's shape."""
    cdef tuple shape = np.shape(target), other = np.shape(source)
    if shape == other or other == ():
        return 0
    try:
        common = np.broadcast_shapes(shape, other)
    except ValueError:
        raise RuntimeError(f"The size of tensor a {shape} must match the size of tensor b {other}") from None
    if common != shape:
        raise RuntimeError(f"output with shape {list(shape)} doesn't match the broadcast shape {list(common)}")
    return 0


cdef bint may_overlap(cnp.ndarray target, cnp.ndarray source):
    """Whether writing the target could change what is yet to be read from the source."""
    return cnp.PyArray_NDIM(source) > 0 and np.may_share_memory(target, source)


cdef int write(Tensor target, object index, object value, str operation) except -1:
    """target[index] = value, with all checks and in this order."""
    check_unrecorded(target, value, operation)
    cdef cnp.ndarray source
    if isinstance(value, Tensor):
        source = (<Tensor> value).array
    else:
        source = np.asarray(value)
        if code_of(source) >= COMPLEX64 and code_of(target.array) < COMPLEX64:
            raise RuntimeError(f"value cannot be converted to type {dtype_of(code_of(target.array))} without overflow")
    if code_of(source) >= COMPLEX64 and code_of(target.array) < COMPLEX64:
        source = source.real
    if index is Ellipsis:
        check_memory(target.array, source)
    if may_overlap(target.array, source):
        source = source.copy()
    if watched:
        announce_write(target.array, operation)
    try:
        target.array[index] = source
    except ValueError as error:
        raise RuntimeError(f"{operation}(): {error}") from None
    bump_version(target)
    return 0


def copy_(Tensor self, src, non_blocking=False):
    """copy_(src) -> Tensor: write the elements of `src` (broadcast, converted) into this tensor. Not recorded."""
    if not isinstance(src, Tensor):
        raise TypeError(f"copy_(): argument 'src' must be Tensor, not {type(src).__name__}")
    check_unrecorded(self, src, "copy_")
    check_fits(self.array, (<Tensor> src).array)
    write(self, Ellipsis, src, "copy_")
    return self


def fill_(Tensor self, value):
    """fill_(value) -> Tensor: write one number (or 0-d tensor) into all elements. Not recorded."""
    if isinstance(value, Tensor) and (<Tensor> value).array.ndim:
        raise RuntimeError("fill_ only supports 0-dimension value tensor but got tensor with "
                           f"{(<Tensor> value).array.ndim} dimensions.")
    write(self, Ellipsis, value, "fill_")
    return self


def zero_(Tensor self):
    """zero_() -> Tensor: write 0 into all elements. Not recorded."""
    write(self, Ellipsis, 0, "zero_")
    return self


def set_item(Tensor self, index, value):
    """self[index] = value: indices as in __getitem__; the value is broadcast and converted. Not recorded."""
    cdef tuple taken, rest
    taken, rest = split_index(index_arrays(index))
    check_unrecorded(self, value, "__setitem__")
    if taken:
        part = new_tensor(self.array[taken if any([i is Ellipsis for i in taken]) else taken + (Ellipsis,)])
        share_version(self, part)
    else:
        part = self
    write(part, rest or Ellipsis, value, "__setitem__")


cdef tuple split_index(object index):
    """An index as two: first what is taken by numbers and slices, then the arrays on what is left.

    NumPy counts numbers among the arrays, and puts the arrays' dimensions first if a slice stands between; here, as in
    PyTorch, numbers select on their own.
    """
    cdef list taken = [], rest = []
    for item in index if isinstance(index, tuple) else (index,):
        if isinstance(item, list):
            item = np.asarray(item) if item else np.empty(0, np.int64)
        if isinstance(item, np.ndarray) and item.dtype == np.uint8:
            item = item.astype(bool)
        if isinstance(item, bool):
            item = np.asarray(item)
        if isinstance(item, np.ndarray) and item.ndim == 0 and item.dtype != bool:
            item = int(item)
        if isinstance(item, np.ndarray):
            taken += [slice(None)] * (item.ndim if item.dtype == bool else 1)
            rest.append(item)
            continue
        if isinstance(item, slice) and item.step is not None and int(item.step) < 1:
            raise ValueError("step must be greater than zero")
        taken.append(item)
        if item is Ellipsis:
            rest.append(Ellipsis)
        elif item is None or isinstance(item, slice):
            rest.append(slice(None))
    return tuple(taken), tuple(rest)


def index_arrays(index):
    """An index with its Tensors replaced by their arrays."""
    if isinstance(index, Tensor):
        return (<Tensor> index).array
    if isinstance(index, tuple):
        return tuple([index_arrays(i) for i in index])
    if isinstance(index, list):
        return [index_arrays(i) for i in index]
    return index


extend("copy_", copy_)
extend("fill_", fill_)
extend("zero_", zero_)
extend("__setitem__", set_item)
