"""The memory of tensors as a whole: all bytes of an array, and moving a tensor to other memory (set_)."""

import numpy as np

from cpython.object cimport PyObject

from autograd_cy._core.arrays.buffers cimport measure, typed_view
from autograd_cy._core.graph.memory cimport owner_of
from autograd_cy._core.graph.record cimport new_node, record_all
from autograd_cy._core.graph.tensor cimport Tensor, count_write, moved_into, new_tensor
from autograd_cy._core.runtime cimport numpy_api as cnp
from autograd_cy._core.writes.inplace cimport is_recorded_write, is_view_of_another, previous_of

from autograd_cy._core.ops.pointwise.elementwise import NotImplementedBackward

cdef extern from "Python.h":
    Py_ssize_t Py_REFCNT(PyObject *o)

cdef object BYTES = np.dtype(np.uint8)


def owner_of_memory(cnp.ndarray array):
    """owner_of_memory(array) -> ndarray: the array that owns this one's memory, or its last base that is an array."""
    return owner_of(array)


def bytes_of(cnp.ndarray owner):
    """bytes_of(owner) -> ndarray: all bytes of an array, from the first one in memory to the last, as a view of it."""
    cdef Py_ssize_t below, above
    cdef cnp.npy_intp n, step = 1
    measure(owner, &below, &above)
    n = below + above if cnp.PyArray_SIZE(owner) else 0
    return typed_view(owner, cnp.PyArray_BYTES(owner) - below, BYTES, 1, &n, &step)


def references_besides(list holder, list tensors):
    """references_besides([owner], tensors) -> int: references to an array and its views besides the tensors'.

    The tensors' arrays are the owner or views of it; the reference of the list does not count.
    """
    cdef PyObject *owner = <PyObject *> holder[0]
    cdef Py_ssize_t others = Py_REFCNT(owner) - 1
    cdef dict views = {}
    cdef Tensor x
    cdef PyObject *array
    for x in tensors:
        array = <PyObject *> x.array
        if array == owner:
            others -= 1
        else:
            views[<size_t> array] = views.get(<size_t> array, 0) + 1
    for address, count in views.items():
        array = <PyObject *> <size_t> address
        others += Py_REFCNT(array) - <Py_ssize_t> count
        if cnp.PyArray_BASE(<cnp.ndarray> array) == owner:
            others -= 1
    return others


def take_memory(Tensor self, cnp.ndarray array, source=None):
    """take_memory(tensor, array, source=None) -> Tensor: move a tensor to this array, as set_() does.

    No gradient passes: if the tensor or `source` (a tensor or None) requires grad, the result gets a node that raises in
    backward. RuntimeError for a leaf that requires grad, and for a view of one.
    """
    cdef bint recorded = is_recorded_write(self, source, "set_")
    cdef Tensor y = None
    if recorded:
        y = new_tensor(array)
        record_all(new_node(NotImplementedBackward, ("set_",)), y, (previous_of(self), source))
    count_write(self, "set_")
    self.array = array
    if recorded:
        take_place(self, y)
    if is_view_of_another(self):            # it is no longer a part of its base
        self.extras.base = None
    return self


def taken_into(cls, Tensor tensor):
    """taken_into(cls, tensor) -> Tensor: an instance of a subclass that takes over the contents of an unshared tensor."""
    return moved_into(cls, tensor)
