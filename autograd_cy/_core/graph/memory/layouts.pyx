"""Which tensors are sparse.

NOTE [Sparse tensors]
  1. A sparse tensor is an instance of one Python subclass of Tensor (autograd_cy/sparse). It holds indices and values. Its own
     array has its shape and dtype, but only one element in memory, a NaN if the dtype has one, with all strides 0. Nothing may
     read that element as the tensor's.
  2. The class handles all operations in `__torch_function__`: by its table, or it refuses. `array_of` refuses a sparse tensor,
     so that Python functions which take the array don't see the NaN.
  3. The core's operations know no sparse tensors. A gradient may be sparse: it then travels through the engine as a Tensor, as
     a BatchedTensor does. A user's Function, a hook and a leaf receive it as is; for any other node it is made dense
     (`vjp_of_tensors` in propagation.pyx), because the node's rule would read the array.
  4. A leaf's `.grad` is sparse if all gradients added to it are: case 10 of NOTE [Gradient ownership].
"""

sparse_type = NULL
cdef object made_gradient = None


def declare_sparse(cls):
    """declare_sparse(cls): register the class of sparse tensors, see NOTE [Sparse tensors]."""
    global sparse_type
    sparse_type = <PyObject *> cls      # a module keeps the class alive


def declare_gradient(function):
    """declare_gradient(function): register function(indices, values, sizes), which makes a sparse gradient."""
    global made_gradient
    made_gradient = function


cdef object sparse_gradient(object indices, object values, tuple sizes):
    """A sparse tensor with `values` (m, ...) added up at `indices` (dimensions, m), recorded."""
    return made_gradient(indices, values, sizes)


cdef object sparse_rows(object numbers, object rows, Py_ssize_t n):
    """A sparse tensor of n rows with `rows` (m, width) added up at row `numbers` (m), recorded."""
    return made_gradient(numbers.reshape(1, -1), rows, (n, *rows.shape[1:]))


def is_sparse_tensor(x):
    """is_sparse_tensor(x) -> bool: whether `x` is a sparse tensor, of any layout."""
    return is_sparse(x)
