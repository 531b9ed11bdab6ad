"""The memory that a graph holds: how much of it only the graph holds, and which nodes hold it.

NOTE [Holdings]
The references of nodes are found through `tp_traverse`, as the garbage collector does: nothing is unpacked, no hook runs, and
node classes need not declare what they keep.
  1. The graph consists of the nodes reachable from the given ones. They count as dying, whatever else refers to them.
  2. References from inside the graph are counted for each reachable object. An object with more references is held from
     outside, and so is everything that it leads to.
  3. Memory belongs to the array that owns it, at the end of the chain of views. So nothing is counted twice.
  4. A node holds what is reachable from it without passing through another node of the graph. At an object held from outside
     only its memory counts. Contents of other objects (packed values, a ctx's attributes) count for the first node that
     reaches them.
  5. Modules, classes, code, frames and global names are not part of a graph.
"""

import types
import weakref
from contextvars import Context, ContextVar

import numpy as np

cimport cython
from cpython.mem cimport PyMem_Free, PyMem_Realloc
from cpython.object cimport PyObject, PyTypeObject

from autograd_cy._core.graph.anomaly cimport first_nan
from autograd_cy._core.graph.node cimport Node, NodeExtras, Packed, SavedTensor
from autograd_cy._core.graph.tensor cimport Tensor, TensorExtras
from autograd_cy._core.inspection.addresses cimport Addresses, forget, number_of, put
from autograd_cy._core.runtime cimport numpy_api as cnp

from autograd_cy._core.graph.memory import Lock

cdef extern from "Python.h":
    ctypedef int (*Visit "visitproc")(PyObject *, void *)
    ctypedef struct TypeObject "PyTypeObject":
        int (*tp_traverse)(PyObject *, Visit, void *)
        const char *tp_name
    TypeObject *Py_TYPE(PyObject *)
    Py_ssize_t Py_REFCNT(PyObject *)
    bint PyType_IS_GC(TypeObject *)
    bint PyType_IsSubtype(PyTypeObject *, PyTypeObject *)
    PyObject *PyFunction_GetClosure(PyObject *)
    PyObject *PyFunction_GetDefaults(PyObject *)
    PyObject *PyFunction_GetKwDefaults(PyObject *)
    PyObject *PyList_GET_ITEM(PyObject *, Py_ssize_t)

cdef enum:                          # the holders of a piece of memory
    GRAPH_ALONE = 0
    SOMEBODY                        # the graph and something outside
    LEAF                            # the same, and the memory is a leaf's

cdef enum:                          # how objects of a type are treated
    SKIPPED = 1
    OWN                             # a part of a node or tensor, or a tuple: visited again from each node
    ARRAY
    TENSOR
    FUNCTION                        # this and the kinds below are visited once
    SHARED                          # of this package, or a container
    FOREIGN

cdef enum:
    MAX_FOREIGN = 200000            # objects of other types; any more are opaque

OPAQUE = (types.ModuleType, type, types.CodeType, types.FrameType, types.GeneratorType, types.CoroutineType,
          types.AsyncGeneratorType, Context, ContextVar, weakref.ref)


cdef struct Numbers:                # a growing list of numbers
    Py_ssize_t *items
    Py_ssize_t n
    Py_ssize_t room


cdef int push(Numbers *numbers, Py_ssize_t number) except -1:
    cdef Py_ssize_t room = numbers.room * 2 if numbers.room else 1024
    cdef void *items
    if numbers.n == numbers.room:
        items = PyMem_Realloc(numbers.items, room * sizeof(Py_ssize_t))
        if items == NULL:
            raise MemoryError()
        numbers.items, numbers.room = <Py_ssize_t *> items, room
    numbers.items[numbers.n] = number
    numbers.n += 1
    return 0


cdef object column(Numbers *numbers):
    """A copy as a NumPy array."""
    cdef Py_ssize_t[::1] copy = np.empty(numbers.n, np.intp)
    cdef Py_ssize_t i
    for i in range(numbers.n):
        copy[i] = numbers.items[i]
    return np.asarray(copy)


cdef int visit(PyObject *x, void *holdings) noexcept:
    """The callback of tp_traverse: note a reference of the object that is visited."""
    if x == <PyObject *> None:
        return 0
    try:
        (<Holdings> holdings).refer(x)
    except BaseException as error:      # tp_traverse passes on a number, not an exception
        (<Holdings> holdings).failure = error
        return -1
    return 0


@cython.final
cdef class Holdings:
    """The memory that the nodes of a graph hold, as columns. Made for one question and then dropped."""
    cdef list objects                   # the nodes, the given tensors, then objects reachable from them
    cdef Addresses numbers              # of the objects
    cdef Addresses treatments           # by the address of a type
    cdef list classes                   # the types, kept alive
    cdef Py_ssize_t n_nodes, n_sources, n_foreign
    cdef Numbers links, starts, found   # k refers to links[starts[k]:starts[k + 1]]; references to it from within
    cdef Numbers kinds                  # how each object is treated
    cdef Numbers pair_nodes, pair_storages
    cdef object failure

    def __dealloc__(self):
        forget(&self.numbers)
        forget(&self.treatments)
        PyMem_Free(self.links.items)
        PyMem_Free(self.starts.items)
        PyMem_Free(self.found.items)
        PyMem_Free(self.kinds.items)
        PyMem_Free(self.pair_nodes.items)
        PyMem_Free(self.pair_storages.items)

    # the objects and their references

    cdef int enter(self, object x, int kind) except -1:
        put(&self.numbers, <PyObject *> x, len(self.objects))
        self.objects.append(x)
        push(&self.found, 0)
        push(&self.kinds, kind)
        return 0

    cdef int refer(self, PyObject *x) except -1:
        """Note a reference to `x` from the object that is visited."""
        cdef Py_ssize_t k = number_of(&self.numbers, x)
        cdef int kind
        if k < 0:
            kind = self.treatment(x)
            if kind == SKIPPED or (kind == TENSOR and (<Tensor> x).is_number):
                return 0
            self.n_foreign += kind == FOREIGN
            k = len(self.objects)
            self.enter(<object> x, kind)
        self.found.items[k] += 1
        return push(&self.links, k)

    cdef int refer_if_any(self, PyObject *x) except -1:
        return 0 if x == NULL else self.refer(x)

    cdef int treatment(self, PyObject *x) except -1:
        cdef TypeObject *kind = Py_TYPE(x)
        cdef Py_ssize_t known = number_of(&self.treatments, kind)
        if known < 0:
            self.classes.append(<object> kind)
            known = treatment_of(<object> kind)
            put(&self.treatments, kind, known)
        return <int> known

    cdef int look_at(self, Py_ssize_t k) except -1:
        cdef PyObject *x = PyList_GET_ITEM(<PyObject *> self.objects, k)
        cdef PyObject *base
        cdef int kind = <int> self.kinds.items[k]
        push(&self.starts, self.links.n)
        if kind == ARRAY:
            base = cnp.PyArray_BASE(<cnp.ndarray> x)
            return self.refer(base) if base != NULL and isinstance(<object> base, cnp.ndarray) else 0
        if kind == FUNCTION:
            self.refer_if_any(PyFunction_GetClosure(x))
            self.refer_if_any(PyFunction_GetDefaults(x))
            self.refer_if_any(PyFunction_GetKwDefaults(x))
            return 0
        if kind == FOREIGN and self.n_foreign > MAX_FOREIGN:
            return 0
        if Py_TYPE(x).tp_traverse != NULL and Py_TYPE(x).tp_traverse(x, visit, <void *> self):
            error, self.failure = self.failure, None
            raise error
        if kind == OWN and type(<object> x) is SavedTensor and (<SavedTensor> x).guard is not None:
            self.refer(<PyObject *> (<SavedTensor> x).guard.array)      # the collector does not see a Guard
            self.refer(<PyObject *> (<SavedTensor> x).guard.locks)
        return 0

    cdef int survey(self, list nodes, list tensors) except -1:
        cdef Py_ssize_t k = 0
        self.objects, self.classes = [], []
        for x in nodes:
            self.enter(x, OWN)
        for x in tensors:
            if number_of(&self.numbers, <PyObject *> x) < 0:
                self.enter(x, TENSOR)
        self.n_nodes, self.n_sources = len(nodes), len(self.objects)
        while k < len(self.objects):
            self.look_at(k)
            k += 1
        return push(&self.starts, self.links.n)

    cdef object held_elsewhere(self):
        """For each object whether it is held from outside: case 2 of NOTE [Holdings]."""
        cdef Py_ssize_t n = len(self.objects), k, i
        cdef char[::1] held = np.zeros(n, np.int8)
        cdef Numbers path = Numbers(NULL, 0, 0)
        try:
            for k in range(self.n_sources, n):
                if type(self.objects[k]) is Lock:       # the list of locks releases it together with the graph
                    continue
                if Py_REFCNT(PyList_GET_ITEM(<PyObject *> self.objects, k)) - 1 > self.found.items[k]:
                    held[k] = True
                    push(&path, k)
            while path.n:
                path.n -= 1
                k = path.items[path.n]
                for i in range(self.starts.items[k], self.starts.items[k + 1]):
                    if self.links.items[i] >= self.n_sources and not held[self.links.items[i]]:
                        held[self.links.items[i]] = True
                        push(&path, self.links.items[i])
        finally:
            PyMem_Free(path.items)
        return np.asarray(held)

    # memory

    cdef Py_ssize_t owner(self, Py_ssize_t k) except -1:
        """The number of the array at the end of the chain of views that begins with array k."""
        while self.starts.items[k] < self.starts.items[k + 1]:
            k = self.links.items[self.starts.items[k]]
        return k

    cdef int walk(self, const char[::1] held) except -1:
        """Note the memory that each node holds: case 4 of NOTE [Holdings]."""
        cdef Py_ssize_t n = len(self.objects), source, k, i, target
        cdef Py_ssize_t[::1] seen = np.full(n, -1, np.intp), stored = np.full(n, -1, np.intp)
        cdef Numbers path = Numbers(NULL, 0, 0)
        try:
            for source in range(self.n_nodes):
                push(&path, source)
                while path.n:
                    path.n -= 1
                    k = path.items[path.n]
                    if self.kinds.items[k] == ARRAY:
                        k = self.owner(k)
                        if stored[k] != source:
                            stored[k] = source
                            push(&self.pair_nodes, source)
                            push(&self.pair_storages, k)
                        continue
                    if held[k] and self.kinds.items[k] >= FUNCTION:
                        continue
                    for i in range(self.starts.items[k], self.starts.items[k + 1]):
                        target = self.links.items[i]
                        if target < self.n_sources or seen[target] == source:
                            continue
                        if held[k] and self.kinds.items[k] == TENSOR and self.kinds.items[target] != ARRAY:
                            continue
                        if seen[target] >= 0 and self.kinds.items[target] >= FUNCTION:
                            continue
                        seen[target] = source
                        push(&path, target)
        finally:
            PyMem_Free(path.items)
        return 0

    cdef tuple storages(self, const char[::1] held):
        """The memory: columns of bytes, kind and computed_by (a node or -1), and the numbers of the owning arrays."""
        cdef Py_ssize_t n = len(self.objects), k, i
        cdef Py_ssize_t[::1] numbers = np.full(n, -1, np.intp), makers = np.full(n, -1, np.intp)
        cdef char[::1] leaves = np.zeros(n, np.int8)
        cdef list found = []
        cdef Tensor x
        for i in range(self.pair_storages.n):
            k = self.pair_storages.items[i]
            if numbers[k] < 0:
                numbers[k] = len(found)
                found.append(k)
            self.pair_storages.items[i] = numbers[k]
        for k in range(self.n_nodes, n):
            if self.kinds.items[k] == TENSOR:
                x = <Tensor> self.objects[k]
                self.note_maker(x, makers, leaves)
        for k in range(self.n_nodes):
            value = (<Node> self.objects[k]).saved2
            if type(value) is SavedTensor:
                value = (<SavedTensor> value).value
            if type(value) is cnp.ndarray:
                i = self.owner(number_of(&self.numbers, <PyObject *> value))
                if makers[i] < 0 or makers[i] > k:
                    makers[i] = k
        sizes = np.array([bytes_of(<cnp.ndarray> self.objects[k]) for k in found], np.int64)
        kinds = np.array([GRAPH_ALONE if not held[k] else LEAF if leaves[k] else SOMEBODY for k in found], np.int8)
        computed_by = np.array([makers[k] for k in found], np.intp)
        return sizes, kinds, computed_by, found

    cdef int note_maker(self, Tensor x, Py_ssize_t[::1] makers, char[::1] leaves) except -1:
        """Note which node computed a tensor's memory, or that it is a leaf's."""
        cdef Py_ssize_t number = number_of(&self.numbers, <PyObject *> x.array), k
        if number < 0:
            return 0
        k = self.owner(number)
        if x.grad_fn is None:
            leaves[k] |= x.needs_grad
            return 0
        number = number_of(&self.numbers, <PyObject *> x.grad_fn)
        if 0 <= number < self.n_nodes and (makers[k] < 0 or makers[k] > number):
            makers[k] = number
        return 0

    cdef object packed_otherwise(self):
        """For each node, the number of saved tensors that hooks packed into anything but arrays."""
        cdef Py_ssize_t[::1] counts = np.zeros(self.n_nodes, np.intp)
        cdef Py_ssize_t source, i
        for source in range(self.n_nodes):
            for i in range(self.starts.items[source], self.starts.items[source + 1]):
                x = self.objects[self.links.items[i]]
                if type(x) is SavedTensor:
                    counts[source] += is_unknown(<SavedTensor> x)
                elif type(x) is list or type(x) is tuple:
                    for item in x:
                        if type(item) is SavedTensor:
                            counts[source] += is_unknown(<SavedTensor> item)
        return np.asarray(counts)


cdef int treatment_of(object cls) except -1:
    """How objects of a class are treated."""
    if issubclass(cls, np.ndarray):
        return ARRAY
    if issubclass(cls, Tensor):
        return TENSOR
    if cls in (NodeExtras, TensorExtras, SavedTensor, Packed, tuple):
        return OWN
    if cls is types.FunctionType:
        return FUNCTION
    if issubclass(cls, OPAQUE) or not PyType_IS_GC(<TypeObject *> cls) or cls.__name__ == "cython_function_or_method":
        return SKIPPED
    if cls in (dict, list, types.CellType) or issubclass(cls, Node) or cls.__module__.startswith("autograd_cy._core"):
        return SHARED
    return FOREIGN


cdef Py_ssize_t bytes_of(cnp.ndarray array):
    return cnp.PyArray_NBYTES(array)


cdef bint is_unknown(SavedTensor saved):
    if type(saved.value) is not Packed:
        return False
    data = (<Packed> saved.value).data
    return not isinstance(data, (Tensor, np.ndarray, type(None)))


def holdings_of(list nodes, list tensors, bint nans=False):
    """The memory that the nodes of a graph hold, as a dict of columns; `tensors` are its roots.

    "bytes", "kind" (0: held by the graph alone, 1: also from outside, 2: also, and it is a leaf's), "computed_by" (a node's
    number, or -1) and, with `nans`, "nan" have a row for each piece of memory. "node" and "storage" have one for each node
    that holds a piece. "unknown" counts for each node the values packed by hooks that are not arrays.
    """
    cdef Holdings holdings = Holdings.__new__(Holdings)
    holdings.survey(nodes, tensors)
    held = holdings.held_elsewhere()
    holdings.walk(held)
    sizes, kinds, computed_by, found = holdings.storages(held)
    columns = {"bytes": sizes, "kind": kinds, "computed_by": computed_by, "node": column(&holdings.pair_nodes),
               "storage": column(&holdings.pair_storages), "unknown": holdings.packed_otherwise()}
    if nans:
        columns["nan"] = np.array([has_nan(holdings.objects[k]) for k in found], np.bool_)
    return columns


cdef bint has_nan(cnp.ndarray array) except -1:
    return first_nan(array) >= 0
