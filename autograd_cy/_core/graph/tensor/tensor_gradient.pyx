"""`requires_grad`, `.grad` and its dtype: what may be set, and what is refused."""

from cpython.object cimport PyObject

from autograd_cy._core.arrays.buffers cimport forget_rows
from autograd_cy._core.arrays.dtypes cimport as_dtype, code_of, dtype, dtype_of, is_differentiable, long_word, type_word
from autograd_cy._core.runtime cimport numpy_api as cnp
from autograd_cy._core.runtime.free_threading cimport Hold, hold, let_go
from autograd_cy._core.runtime.state cimport flag_error, in_inference_mode


def gradient_of(Tensor self):
    """`.grad` without the warning for non-leaf tensors."""
    return shown_gradient(self)


cdef Tensor shown_gradient(Tensor self):
    """`.grad` for a caller that may write to it: case 2 of NOTE [Rows]."""
    cdef Tensor gradient
    cdef Hold section
    hold(&section, <PyObject *> self)
    gradient = self.gradient
    if gradient is not None:
        forget_rows(gradient.array)
    let_go(&section)
    return gradient


cdef void set_gradient(Tensor tensor, Tensor gradient) noexcept:
    cdef Hold section
    cdef Tensor _before                     # released after the lock
    hold(&section, <PyObject *> tensor)
    _before, tensor.gradient = tensor.gradient, gradient
    let_go(&section)


cdef int check_gradient(Tensor tensor, object value) except -1:
    """Refuse a value that can't be the `.grad` of `tensor`."""
    if not isinstance(value, Tensor):
        raise TypeError(f"assigned grad expected to be a Tensor or None but got grad of type {type(value).__name__}")
    if value is tensor:
        raise RuntimeError("can't assign Variable as its own grad")
    cdef Tensor g = <Tensor> value
    cdef int own = code_of(g.array), dtype_code = code_of(tensor.array)
    if has_extras(tensor) and tensor.extras.grad_code:
        dtype_code = own if tensor.extras.grad_code == ANY_TYPE else tensor.extras.grad_code - 1
    if own != dtype_code:
        raise RuntimeError(f"attempting to assign a gradient with dtype '{long_word(own)}' to a tensor with grad_dtype "
                           f"'{long_word(dtype_code)}'. The gradient must match the tensor's dtype")
    if not cnp.PyArray_SAMESHAPE(g.array, tensor.array):
        raise RuntimeError(f"attempting to assign a gradient of size '{list(g.shape)}' to a tensor of size "
                           f"'{list(tensor.shape)}'. Please ensure that the gradient and the tensor are the same size")
    return 0


cdef int set_grad_type(Tensor tensor, object value) except -1:
    """Let the `.grad` of a leaf have another dtype, or any dtype (None)."""
    cdef int dtype_code
    if value is not None and not isinstance(value, dtype):
        raise RuntimeError(f"grad_dtype must be a torch.dtype or None, but got {type(value).__name__}")
    if not tensor.is_leaf:
        raise RuntimeError("grad_dtype can only be set on leaf tensors.")
    dtype_code = ANY_TYPE if value is None else as_dtype(value).dtype_code + 1
    if value is not None and tensor.gradient is not None and tensor.gradient.dtype is not value:
        raise RuntimeError(f"Cannot set grad_dtype to '{value}' because there is already a gradient with dtype "
                           f"'{tensor.gradient.dtype}'. Please clear the gradient (.grad = None) before changing grad_dtype, "
                           "or ensure the new grad_dtype matches the existing gradient's dtype.")
    extras_of_tensor(tensor).grad_code = 0 if dtype_code == code_of(tensor.array) + 1 else dtype_code
    return 0


cdef int assign_requires_grad(Tensor tensor, object value) except -1:
    """`tensor.requires_grad = value`."""
    make_current(tensor)
    if not isinstance(value, bool):
        raise RuntimeError(f"requires_grad must be a bool, not {type(value).__name__}")
    if tensor.grad_fn is not None and value:
        raise RuntimeError("you can only change requires_grad flags of leaf variables. This one was computed by "
                           f"{tensor.grad_fn.name()} and requires grad already.")
    return set_requires_grad(tensor, value, "only Tensors of floating point and complex dtype can require gradients")


cdef int set_requires_grad(Tensor tensor, bint value, str message) except -1:
    make_current(tensor)
    if tensor.batched:
        raise RuntimeError("You are attempting to call Tensor.requires_grad_() inside of a function being transformed by "
                           "vmap. This is unsupported, please attempt to use the transforms of func (e.g. grad, vjp, jacrev, "
                           "jacfwd, hessian) or call requires_grad_() outside of a function being transformed instead.")
    if tensor.grad_fn is not None:
        if value:
            return 0
        raise RuntimeError("you can only change requires_grad flags of leaf variables. If you want to use a computed "
                           "variable in a subgraph that doesn't require differentiation use "
                           "var_no_grad = var.detach().")
    if value and not is_differentiable(code_of(tensor.array)):
        raise RuntimeError(f"{message}, not {dtype_of(code_of(tensor.array))}")
    if value and tensor.inference and not in_inference_mode():
        raise flag_error()
    tensor.needs_grad = value
    return 0


cdef str type_name(Tensor tensor):
    """PyTorch's name of a tensor type for messages: `torch.FloatTensor`."""
    return f"torch.{type_word(code_of(tensor.array))}Tensor"
