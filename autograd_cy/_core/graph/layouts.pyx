"""Which tensors are sparse.

NOTE [Sparse tensors]
  1. A sparse tensor is an instance of one subclass of Tensor in Python (autograd_cy/sparse). It holds indices and values. Its
     own array has its shape and type, but no memory: one element, a NaN where the type has one, that stands everywhere.
     Nothing may read that element as the tensor's.
  2. The class answers for all calls of operations by `__torch_function__`: by its table, else it refuses. `array_of` refuses a
     sparse tensor, so that functions in Python which take the array don't see the NaN.
  3. The core's operations know no sparse tensors. A gradient may be sparse: then it travels through the engine as a Tensor, as
     a BatchedTensor does. A user's Function, a hook and a leaf see it as it is; for any other node it is made dense
     (`vjp_of_tensors` in engine.pyx), for a node's rule would read the array.
  4. A leaf's `.grad` is sparse if all gradients that came to it are: case 10 of NOTE [Gradient ownership].
"""

sparse_type = NULL
cdef object made_gradient = None


def declare_sparse(cls):
    """declare_sparse(cls): let instances of that one class be what NOTE [Sparse tensors] says."""
    global sparse_type
    sparse_type = <PyObject *> cls      # a module holds the class for ever


def declare_gradient(function):
    """declare_gradient(function): function(indices, values, sizes) makes a sparse gradient."""
    global made_gradient
    made_gradient = function


cdef object sparse_gradient(object indices, object values, tuple sizes):
    """A sparse tensor of these sizes: the sum of `values` (m, ...) at the places `indices` (dimensions, m), recorded."""
    return made_gradient(indices, values, sizes)


cdef object sparse_rows(object numbers, object rows, Py_ssize_t n):
    """A sparse tensor of n rows: the sum of those in `rows` (m, width) at their numbers (m), recorded."""
    return made_gradient(numbers.reshape(1, -1), rows, (n, *rows.shape[1:]))


def is_sparse_tensor(x):
    """is_sparse_tensor(x) -> bool: whether `x` is a sparse tensor, of any layout."""
    return is_sparse(x)
