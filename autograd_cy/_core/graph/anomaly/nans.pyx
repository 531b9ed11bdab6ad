"""Searching for NaN and reporting its origin: the operation that made it.

A search is one loop over the memory without NumPy calls, fast enough to run after each operation.
"""

from libc.stdint cimport uint16_t

import numpy as np

from autograd_cy._core.arrays.buffers cimport dense_copy
from autograd_cy._core.arrays.dtypes cimport COMPLEX64, FLOAT16, FLOAT32, FLOAT64, LONGDOUBLE, code_of, dtype_of, is_half
from autograd_cy._core.graph.memory cimport is_sparse
from autograd_cy._core.graph.node cimport Node, SavedTensor
from autograd_cy._core.graph.tensor cimport Tensor
from autograd_cy._core.runtime cimport numpy_api as cnp
from autograd_cy._core.runtime.state cimport described

cdef enum:
    BLOCK = 4096                    # elements between two checks for a NaN


cdef fused Float:
    float
    double


cdef Py_ssize_t search(const Float *x, Py_ssize_t n) noexcept nogil:
    """The position of the first NaN, or -1. The loop over a block has no branches, so the compiler vectorizes it."""
    cdef Py_ssize_t start = 0, end, k
    cdef int found
    while start < n:
        end = min(start + BLOCK, n)
        found = 0
        for k in range(start, end):
            found |= x[k] != x[k]
        if found:
            for k in range(start, end):
                if x[k] != x[k]:
                    return k
        start = end
    return -1


cdef Py_ssize_t search_half(const uint16_t *x, Py_ssize_t n, uint16_t infinity) noexcept nogil:
    cdef Py_ssize_t k
    for k in range(n):
        if (x[k] & 0x7fff) > infinity:
            return k
    return -1


cdef Py_ssize_t first_nan(cnp.ndarray array) except -2:
    """The position, in C order, of the first NaN; -1 if there is none."""
    cdef int dtype_code = code_of(array)
    cdef Py_ssize_t n = cnp.PyArray_SIZE(array), k
    if dtype_code < FLOAT16:
        return -1
    if not cnp.PyArray_CHKFLAGS(array, cnp.NPY_ARRAY_CARRAY_RO):
        array = dense_copy(array)
    if dtype_code == FLOAT32:
        return search[float](<float *> cnp.PyArray_DATA(array), n)
    if dtype_code == FLOAT64:
        return search[double](<double *> cnp.PyArray_DATA(array), n)
    if is_half(dtype_code):
        return search_half(<uint16_t *> cnp.PyArray_DATA(array), n, 0x7c00 if dtype_code == FLOAT16 else 0x7f80)
    if dtype_code == LONGDOUBLE:
        for k in range(n):
            if (<long double *> cnp.PyArray_DATA(array))[k] != (<long double *> cnp.PyArray_DATA(array))[k]:
                return k
        return -1
    if dtype_code == COMPLEX64:
        k = search[float](<float *> cnp.PyArray_DATA(array), 2 * n)
    else:
        k = search[double](<double *> cnp.PyArray_DATA(array), 2 * n)
    return k // 2 if k >= 0 else -1


# the checks


cdef int check_result(Node node, Tensor y, Tensor a, Tensor b, Tensor c) except -1:
    """Refuse a NaN in the result of an operation on `a`, `b` and `c` (None: missing, or not a tensor)."""
    if first_nan(y.array) >= 0:
        raise forward_error(node, y, 0, (a, b, c))
    return 0


cdef int check_results(Node node, object outputs, object inputs) except -1:
    """Refuse a NaN in one of several results, computed from any number of inputs."""
    cdef int i
    if type(outputs) is not tuple:
        outputs = (outputs,)
    for i in range(len(outputs)):
        if isinstance(outputs[i], Tensor) and not is_sparse(outputs[i]) and first_nan((<Tensor> outputs[i]).array) >= 0:
            raise forward_error(node, <Tensor> outputs[i], i, inputs)
    return 0


cdef int check_root(object root, object seed, int position) except -1:
    """Refuse a NaN in a root or its seed, before backward begins."""
    cdef Py_ssize_t found = -1          # stays -1 for an edge or a sparse root
    cdef str maker
    if isinstance(root, Tensor) and not is_sparse(root):
        found = first_nan((<Tensor> root).array)
    if found >= 0:
        maker = "it is a leaf" if root.grad_fn is None else f"the output of {root.grad_fn.name()}"
        raise RuntimeError(f"element {position} of tensors is NaN {place_of((<Tensor> root).array, found)} before backward "
                           f"has begun: {maker}. The forward pass made it, not the backward")
    found = -1 if is_sparse(seed) else first_nan((<Tensor> seed).array)
    if found >= 0:
        raise RuntimeError(f"element {position} of gradients tuple is NaN {place_of((<Tensor> seed).array, found)}: the "
                           "gradient that backward was given")
    return 0


# the messages


cdef str origin_of(Node node):
    """Where a node was recorded, and the tensors that it saved, as a sentence."""
    cdef str place = described(node.code, node.instruction)
    cdef list parts = [f"recorded at {place}"] if place else []
    cdef object value
    for name, value in zip(node.saved_names(), (node.saved0, node.saved1, node.saved2)):
        if type(value) is SavedTensor:
            value = (<SavedTensor> value).value
        if name and isinstance(value, (Tensor, cnp.ndarray)):
            parts.append(f"saved {name}: {describe(value)}")
    return f"It is the backward of an operation {'; '.join(parts)}." if parts else ""


cdef object gradient_error(Node node, Tensor g, int i, bint of_zeros):
    """The error for a NaN in a node's gradient for input `i`; `of_zeros`: the incoming gradient is zero there."""
    cdef str text = (f"Function '{node.name()}' returned nan values in its {i}th output: the gradient for its input {i} is "
                     f"NaN {place_of(g.array, first_nan(g.array))}. {origin_of(node)}")
    if of_zeros:
        text = (f"{text.rstrip()} The incoming gradient is zero there, and the derivative is infinite or NaN: 0 * inf is NaN. "
                "Where it is zero because a where() took the other branch, autograd.safe_where() keeps it zero.")
    return RuntimeError(text)


cdef object forward_error(Node node, Tensor y, int i, object inputs):
    cdef str name = node.name().partition("Backward")[0]
    cdef list states = [f"input {k}: {describe(x)}" for k, x in enumerate(inputs) if x is not None]
    cdef bint had = any([first_nan((<Tensor> x).array) >= 0 for x in inputs if x is not None and not is_sparse(x)])
    cdef str origin = ("an input had NaN before: it comes from data, from a leaf or from an operation that was not recorded"
                       if had else "the inputs had none")
    return RuntimeError(f"{name} (recorded as {node.name()}) returned nan values in its {i}th output, "
                        f"{place_of(y.array, first_nan(y.array))}; {origin}. " + "; ".join(states))


cdef str place_of(cnp.ndarray array, Py_ssize_t position):
    """The index of an element, and the number of NaNs: `at [1, 0], the first of 3, in torch.float32 [2, 2]`."""
    cdef list index = [int(k) for k in np.unravel_index(position, np.shape(array))]
    cdef Py_ssize_t n = np.count_nonzero(np.isnan(array))
    cdef str number = "" if n < 2 else f", the first of {n},"
    return f"at {index}{number} in {dtype_of(code_of(array))} {list(np.shape(array))}"


cdef str describe(object value):
    """Dtype, shape and range of a tensor, and counts of NaN, inf and 0: `torch.float32 [3], from -1 to 4, 1 zeros`."""
    cdef cnp.ndarray array = (<Tensor> value).array if isinstance(value, Tensor) else value
    cdef str text = f"{dtype_of(code_of(array))} {list(np.shape(array))}"
    cdef object finite
    if array.size == 0:
        return text
    if code_of(array) >= FLOAT16:
        finite = array[np.isfinite(array)]
        for what, count in (("NaN", np.count_nonzero(np.isnan(array))), ("inf", np.count_nonzero(np.isinf(array)))):
            if count:
                text += f", {count} {what}"
    else:
        finite = array
    if code_of(array) < COMPLEX64 and finite.size:
        text += f", from {finite.min():.6g} to {finite.max():.6g}"
    if np.count_nonzero(array) < array.size:
        text += f", {array.size - np.count_nonzero(array)} zeros"
    return text
