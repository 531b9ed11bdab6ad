"""The gradients that arrive at a node, summed, and their end in a leaf's `.grad`.

NOTE [Gradient ownership]
Memory may be written in place when nobody else can see it. A gradient travels as a bare array (under create_graph as a
Tensor), and the one who handles it holds exactly one reference; so it is ours alone if that is the array's only
reference, and if it is dense, writable and not a view (`is_owned`). A saved tensor, a user's seed, a hooked, retained or
captured gradient, two inputs that got the same array: each of them is another reference. Therefore:
  1. the first gradient to arrive is kept as it is;
  2. a second one is added in place to the first if that is owned, else into the second if that is owned,
     else the sum is a new array;
  3. an elementwise backward may write over its incoming gradient, if that is owned, for the last of its inputs;
  4. a leaf without `.grad` takes an owned array over and copies any other;
  5. a leaf's `.grad` is added to in place: the same Tensor, its version counted up; not if its memory is read-only;
  6. under create_graph nothing is written in place: the sums are operations themselves.
"""

from cpython.object cimport PyObject
from cpython.ref cimport Py_DECREF, Py_INCREF
cimport numpy as cnp

import numpy as np

cimport autograd_cy._core.node as node_module
from autograd_cy._core.buffers cimport dense_copy, is_owned
from autograd_cy._core.dtypes cimport code_of
from autograd_cy._core.inference cimport check_write
from autograd_cy._core.loops cimport add_into, adding_kernel, evaluate
from autograd_cy._core.node cimport Node, Scratch
from autograd_cy._core.state cimport ANY_LAYOUT, thread_state
from autograd_cy._core.tensor cimport Tensor, bump_version, new_tensor

cnp.import_array()


cdef int add_gradient(Scratch *scratch, Node node, int output, object g, bint recorded) except -1:
    """Add a gradient for one output of a node to what has arrived for it."""
    cdef list several
    if node.n_outputs > 1:
        if scratch.buffer == NULL:
            several = [None] * node.n_outputs
            Py_INCREF(several)
            scratch.buffer = <PyObject *> several
        several = <list> scratch.buffer
        if several[output] is None:
            several[output] = g
        else:
            several[output] = several[output] + g if recorded else sum_of(several[output], g)
        return 0
    if scratch.buffer == NULL:
        Py_INCREF(g)
        scratch.buffer = <PyObject *> g
        return 0
    return add_second(scratch, g, recorded)


cdef int add_second(Scratch *scratch, object g, bint recorded) except -1:
    """Cases 2 and 6 of NOTE [Gradient ownership]; `g` is held by the caller once."""
    cdef object total
    if recorded:
        total = <object> scratch.buffer + g
    elif is_owned(<cnp.ndarray> scratch.buffer):
        add_into(<cnp.ndarray> scratch.buffer, <cnp.ndarray> g)
        return 0
    elif is_owned(<cnp.ndarray> g):
        add_into(<cnp.ndarray> g, <cnp.ndarray> scratch.buffer)
        total = g
    else:
        total = sum_of(<cnp.ndarray> scratch.buffer, <cnp.ndarray> g)
    Py_INCREF(total)
    Py_DECREF(<object> scratch.buffer)
    scratch.buffer = <PyObject *> total
    return 0


cdef cnp.ndarray sum_of(cnp.ndarray a, cnp.ndarray b):
    cdef PyObject *operands[2]
    operands[0] = <PyObject *> a
    operands[1] = <PyObject *> b
    return evaluate(adding_kernel(code_of(a)), operands, 2, code_of(a), None)


cdef int accumulate(Tensor leaf, object g, bint recorded) except -1:
    """Add the gradient to the leaf's `.grad`: cases 4 to 6 of NOTE [Gradient ownership]; `g` is held by the caller once."""
    cdef cnp.ndarray array = (<Tensor> g).array if recorded else <cnp.ndarray> g
    cdef Tensor first
    cdef bint ours = not recorded and is_owned(array, 2)     # held by the caller and by `array`
    if not cnp.PyArray_SAMESHAPE(array, leaf.array):
        raise RuntimeError(f"AccumulateGrad got a gradient of shape {list(new_tensor(array).shape)} for a leaf of shape "
                           f"{list(leaf.shape)}")
    if recorded:
        accumulate_recorded(leaf, <Tensor> g)
        return 0
    if leaf.gradient is not None:
        check_write(leaf.gradient.inference, "AccumulateGrad")
    else:
        if takes_any_layout(leaf):
            first = new_tensor(array if ours else dense_copy(array))
        else:
            first = new_tensor(rearranged(array, leaf.array))
        if leaf.gradient is None:           # while NumPy copies, another thread may have been here
            leaf.gradient = first
            return 0
    if cnp.PyArray_ISWRITEABLE(leaf.gradient.array):
        add_into(leaf.gradient.array, array)
        bump_version(leaf.gradient)
    else:
        leaf.gradient = new_tensor(sum_of(leaf.gradient.array, array))
    return 0


cdef bint takes_any_layout(Tensor leaf) noexcept:
    """Whether a new `.grad` may have its elements in C order: the leaf has, too, or enforce_grad_layout_policy(False)."""
    return cnp.PyArray_IS_C_CONTIGUOUS(leaf.array) or thread_state().mode & ANY_LAYOUT


cdef cnp.ndarray rearranged(cnp.ndarray array, cnp.ndarray leaf):
    """A copy with strides like those of the leaf."""
    copy = np.empty_like(leaf)
    copy[...] = array
    return copy


cdef int accumulate_recorded(Tensor leaf, Tensor g) except -1:
    """Case 6: again if another thread changed the leaf's `.grad` meanwhile."""
    cdef Tensor before, after
    while True:
        before = leaf.gradient
        after = g.clone() if before is None else before + g
        if leaf.gradient is before:
            leaf.gradient = after
            return 0


node_module.accumulate = accumulate
