"""Views of a part of a tensor, and their transposes, which embed a part in zeros."""

cimport cython

from autograd_cy._core.arrays.buffers cimport dense_copy, sizes_of
from autograd_cy._core.arrays.dtypes cimport code_of
from autograd_cy._core.batching.rules cimport of_samples
from autograd_cy._core.graph.node cimport Node, Request
from autograd_cy._core.graph.record cimport needs_node, new_node, record, record_linear, shape_of
from autograd_cy._core.graph.tensor cimport Tensor, link_view, new_tensor
from autograd_cy._core.kernels.loops cimport add_into
from autograd_cy._core.kernels.reduction_loops cimport overlaps_shifted
from autograd_cy._core.kernels.selection_loops cimport selected, sliced, zeros
from autograd_cy._core.runtime cimport numpy_api as cnp

from autograd_cy._core.graph.node import declare_added_to_part

cdef extern from "Python.h":
    int PySlice_Unpack(object, Py_ssize_t *, Py_ssize_t *, Py_ssize_t *) except -1
    Py_ssize_t PySlice_AdjustIndices(Py_ssize_t, Py_ssize_t *, Py_ssize_t *, Py_ssize_t)


cdef cnp.ndarray base_of(const Request *request, tuple sizes):
    """The addend if it has the input's shape, so that the gradient is only added to its part; else None.

    Copied if something else holds it, too: adding zeros around the part would turn -0.0 into 0.0, and results must not depend
    on holders.
    """
    if request.addend == NULL or sizes_of(<cnp.ndarray> request.addend) != sizes:
        return None
    return <cnp.ndarray> request.addend if request.is_ours else dense_copy(<cnp.ndarray> request.addend)


cdef bint add_to_part(cnp.ndarray part, cnp.ndarray g) except -1:
    """Add g to a part of an array in place, without adding zeros around it. False if that is not possible."""
    if code_of(g) != code_of(part) or not cnp.PyArray_SAMESHAPE(g, part) or overlaps_shifted(g, part):
        return False
    add_into(part, g)
    return True


# one int

@cython.final
cdef class SelectBackward0(Node):
    cdef tuple constant_names(self):
        return ("dim", "index", "self_sym_sizes")

    cdef object vjp_array(self, object g, int i, Request *request):
        dim, index, sizes = self.constants
        cdef cnp.ndarray addend = base_of(request, sizes)
        if addend is not None:
            request.added = add_to_part(row_of(addend, dim, index), <cnp.ndarray> g)
            if request.added:
                return addend
        return put_selected(<cnp.ndarray> g, <tuple> self.constants)

    cdef object vjp(self, object g, int i):
        return select_backward(g, <tuple> self.constants)

    cdef object jvp(self, tuple tangents):
        dim, row, _ = self.constants
        return row_view(tangents[0], dim, row)


@cython.final
cdef class SelectBackwardBackward0(Node):
    cdef tuple constant_names(self):
        return ("dim", "index")

    cdef object vjp(self, object g, int i):
        dim, row, _ = self.constants
        return row_view(g, dim, row)

    cdef object jvp(self, tuple tangents):
        return select_backward(tangents[0], <tuple> self.constants)


cdef Tensor row_view(Tensor x, int dim, Py_ssize_t index):
    """The view x[:, ..., index] along `dim`; the index is in range."""
    if x.batched:
        return of_samples(select_of_each, (x,), (dim, index))
    cdef Tensor y = new_tensor(row_of(x.array, dim, index))
    if needs_node(x):
        record(new_node(SelectBackward0, (dim, index, shape_of(x))), y, x)
    link_view(x, y)
    return y


def select_of_each(Tensor xs, tuple constants, Py_ssize_t n):
    dim, index = constants
    return row_view(xs, dim + 1, index)


cdef Tensor select_backward(Tensor g, tuple constants):
    if g.batched:
        return of_samples(select_backward_of_each, (g,), constants)
    return record_linear(SelectBackwardBackward0, constants, g, put_selected(g.array, constants))


def select_backward_of_each(Tensor gs, tuple constants, Py_ssize_t n):
    dim, index, sizes = constants
    return select_backward(gs, (dim + 1, index, (n,) + sizes))


cdef cnp.ndarray row_of(cnp.ndarray array, int dim, Py_ssize_t index):
    return selected(array, dim, index if index >= 0 else index + cnp.PyArray_DIM(array, dim))


cdef cnp.ndarray put_selected(cnp.ndarray g, tuple constants):
    dim, index, sizes = constants
    cdef cnp.ndarray whole = zeros(sizes, code_of(g))
    cnp.PyArray_CopyInto(row_of(whole, dim, index), g)
    return whole


cdef int check_row(Py_ssize_t index, int dim, Py_ssize_t size) except -1:
    if not -size <= index < size:
        raise IndexError(f"index {index} is out of bounds for dimension {dim} with size {size}")
    return 0


# one slice

@cython.final
cdef class SliceBackward0(Node):
    cdef tuple constant_names(self):
        return ("dim", "end", "self_sym_sizes", "start", "step")

    cdef object vjp_array(self, object g, int i, Request *request):
        dim, end, sizes, start, step = self.constants
        cdef cnp.ndarray addend = base_of(request, sizes)
        if addend is not None:
            request.added = add_to_part(part_of(addend, dim, start, end, step), <cnp.ndarray> g)
            if request.added:
                return addend
        return put_part(<cnp.ndarray> g, <tuple> self.constants)

    cdef object vjp(self, object g, int i):
        return slice_backward(g, <tuple> self.constants)

    cdef object jvp(self, tuple tangents):
        dim, end, _, start, step = self.constants
        return part(tangents[0], dim, start, end, step)


@cython.final
cdef class SliceBackwardBackward0(Node):
    cdef tuple constant_names(self):
        return ("dim", "end", None, "start", "step")

    cdef object vjp(self, object g, int i):
        dim, end, _, start, step = self.constants
        return part(g, dim, start, end, step)

    cdef object jvp(self, tuple tangents):
        return slice_backward(tangents[0], <tuple> self.constants)


cdef Tensor part(Tensor x, int dim, Py_ssize_t start, Py_ssize_t end, Py_ssize_t step):
    """The view x[:, ..., start:end:step] along `dim`, with the ends as Python unpacks them."""
    if x.batched:
        return of_samples(part_of_each, (x,), (dim, start, end, step))
    cdef Tensor y = new_tensor(part_of(x.array, dim, start, end, step))
    if needs_node(x):
        record(new_node(SliceBackward0, (dim, end, shape_of(x), start, step)), y, x)
    link_view(x, y)
    return y


def part_of_each(Tensor xs, tuple constants, Py_ssize_t n):
    dim, start, end, step = constants
    return part(xs, dim + 1, start, end, step)


cdef Tensor slice_backward(Tensor g, tuple constants):
    if g.batched:
        return of_samples(slice_backward_of_each, (g,), constants)
    return record_linear(SliceBackwardBackward0, constants, g, put_part(g.array, constants))


def slice_backward_of_each(Tensor gs, tuple constants, Py_ssize_t n):
    dim, end, sizes, start, step = constants
    return slice_backward(gs, (dim + 1, end, (n,) + sizes, start, step))


cdef cnp.ndarray part_of(cnp.ndarray array, int dim, Py_ssize_t start, Py_ssize_t end, Py_ssize_t step):
    cdef Py_ssize_t length = PySlice_AdjustIndices(cnp.PyArray_DIM(array, dim), &start, &end, step)
    return sliced(array, dim, start, length, step)


cdef cnp.ndarray put_part(cnp.ndarray g, tuple constants):
    dim, end, sizes, start, step = constants
    cdef cnp.ndarray whole = zeros(sizes, code_of(g))
    cnp.PyArray_CopyInto(part_of(whole, dim, start, end, step), g)
    return whole


cdef int unpack_slice(object index, Py_ssize_t *start, Py_ssize_t *end, Py_ssize_t *step) except -1:
    PySlice_Unpack(index, start, end, step)
    if step[0] < 0:
        raise ValueError("step must be greater than zero")
    return 0


declare_added_to_part(SelectBackward0)
declare_added_to_part(SliceBackward0)
