"""Tensors from arrays, and the arrays of tensors."""

from cpython.buffer cimport PyBUF_WRITABLE, PyObject_GetBuffer

from autograd_cy._core.arrays.buffers cimport strided_view
from autograd_cy._core.arrays.dtypes cimport code_of
from autograd_cy._core.graph.memory cimport is_sparse, note_view, view_of
from autograd_cy._core.runtime cimport numpy_api as cnp
from autograd_cy._core.runtime.state cimport NO_GRAD, own_modes


cpdef Tensor from_array(cnp.ndarray array):
    """from_array(array) -> Tensor: a tensor on the memory of an ndarray; TypeError for an unsupported dtype."""
    check_elements(array)
    return new_tensor(array)


cpdef Tensor sharing(cnp.ndarray array):
    """sharing(array) -> Tensor: like `from_array`, but on a view of the user's array, whose shape may then change."""
    cdef cnp.ndarray view
    check_elements(array)
    view = strided_view(array, cnp.PyArray_BYTES(array), cnp.PyArray_NDIM(array), cnp.PyArray_DIMS(array),
                        cnp.PyArray_STRIDES(array))
    if cnp.get_array_base(array) is not None:       # the view's base is then the owner of the memory
        note_view(view, array)
    return new_tensor(view)


cdef int check_elements(cnp.ndarray array) except -1:
    if not cnp.PyArray_ISNOTSWAPPED(array):
        raise ValueError("given numpy array has byte order different from the native byte order. "
                         "Conversion between byte orders is currently not supported.")
    code_of(array)
    return 0


def numpy(Tensor self, *, force=False):
    """numpy(force=False) -> ndarray: an array on the tensor's memory.

    RuntimeError if the tensor requires grad, unless forced or in no_grad mode.
    """
    if wants_grad(self) and not force and not own_modes() & NO_GRAD:
        raise RuntimeError("Can't call numpy() on Tensor that requires grad. Use tensor.detach().numpy() instead.")
    return view_of(array_of(self))


cpdef cnp.ndarray array_of(Tensor tensor):
    """array_of(tensor) -> ndarray: the tensor's own array; RuntimeError for batched and sparse tensors."""
    if is_sparse(tensor):
        raise RuntimeError("Cannot access data pointer of Tensor that doesn't have storage: the elements of a sparse tensor "
                           "are those of its values(); call to_dense() first")
    if tensor.batched:
        raise RuntimeError("Cannot access data pointer of Tensor that doesn't have storage: within vmap a tensor stands for "
                           "all samples of a batch, whose elements can't be read")
    return tensor.array


def metadata_of(Tensor tensor):
    """metadata_of(tensor) -> ndarray: an array with the tensor's shape, dtype and strides; its elements must not be read."""
    return tensor.array


cpdef Tensor data_of(Tensor tensor):
    """data_of(tensor) -> Tensor: the same memory without history, with its own version."""
    if is_sparse(tensor):
        return <Tensor> (<object> tensor).detach()
    cdef Tensor alias = new_tensor(tensor.array)
    alias.inference = tensor.inference
    return alias


cdef int fill_buffer(Tensor self, Py_buffer *buffer, int flags) except -1:
    """Tensor's `__getbuffer__`."""
    try:
        if has_extras(self) and self.extras.tangents is not None:
            facade["check_without_tangent"](self)
        if type(self) is not Tensor and (<object> self).is_meta:
            raise BufferError("a tensor on the device 'meta' has no elements")
        array = numpy(self)
    except RuntimeError as error:
        raise BufferError(str(error)) from None
    PyObject_GetBuffer(array, buffer, flags)
    if flags & PyBUF_WRITABLE:
        bump_version(self)
    return 0
