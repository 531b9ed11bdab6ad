"""A graph as columns: its nodes in order, their edges, and where they were recorded; without recursion or hooks."""

import numpy as np

cimport cython
from cpython.object cimport PyObject

from autograd_cy._core.arrays.buffers cimport sizes_of
from autograd_cy._core.arrays.dtypes cimport code_of, dtype_of
from autograd_cy._core.graph.node cimport (
    INPUT, OUTPUT, OUTPUT_SLOT, AccumulateGrad, Node, NodeExtras, existing_hooks, gradient_node, has_node_extras, held_at,
    leaf_of, metadata_slot, outputs_slot, slot_value)
from autograd_cy._core.graph.tensor cimport Tensor
from autograd_cy._core.inspection.addresses cimport Addresses, forget, number_of, put
from autograd_cy._core.runtime cimport numpy_api as cnp
from autograd_cy._core.runtime.state cimport place_of


def nodes_of(tuple roots):
    """The node of each tensor that requires grad; nodes are returned as they are."""
    return [gradient_node(<Tensor> x) if isinstance(x, Tensor) else <Node?> x for x in roots]


def nodes_in_order(list roots):
    """All nodes reachable from the roots, each one after all of its targets."""
    cdef NumberOf following = NumberOf.__new__(NumberOf)    # for each visited node, the next edge to follow
    cdef list nodes = [], path = []
    cdef Node node, target
    cdef Py_ssize_t i
    for root in roots:
        if number_of(&following.table, <PyObject *> root) < 0:
            path.append(root)
        while path:
            node = <Node> path[-1]
            i = max(number_of(&following.table, <PyObject *> node), 0)
            put(&following.table, <PyObject *> node, i + 1)
            if i == node.n_edges:
                nodes.append(path.pop())
                continue
            target = node.next_node(<int> i)
            if target is not None and number_of(&following.table, <PyObject *> target) < 0:
                path.append(target)
    return nodes


def edges_among(list nodes):
    """The edges of nodes_in_order(): (starts, targets); node k has targets[starts[k]:starts[k + 1]].

    A target is the number of a node, or -1 for an input that needs no gradient.
    """
    cdef NumberOf numbers = numbered(nodes)
    cdef Py_ssize_t[::1] starts = np.zeros(len(nodes) + 1, np.intp), targets
    cdef Py_ssize_t k, end = 0
    cdef Node node, target
    cdef int i
    for k in range(len(nodes)):
        starts[k + 1] = starts[k] + (<Node> nodes[k]).n_edges
    targets = np.empty(starts[len(nodes)], np.intp)
    for node in nodes:
        for i in range(node.n_edges):
            target = node.next_node(i)
            targets[end] = -1 if target is None else number_of(&numbers.table, <PyObject *> target)
            end += 1
    return np.asarray(starts), np.asarray(targets)


@cython.final
cdef class NumberOf:
    """Numbers of nodes by address."""
    cdef Addresses table

    def __dealloc__(self):
        forget(&self.table)


cdef NumberOf numbered(list nodes):
    cdef NumberOf numbers = NumberOf.__new__(NumberOf)
    cdef Py_ssize_t k
    for k in range(len(nodes)):
        put(&numbers.table, <PyObject *> nodes[k], k)
    return numbers


def depths_of(starts_of_edges, targets_of_edges):
    """For each node, the number of nodes on the longest path from it to a leaf, including both."""
    cdef const Py_ssize_t[::1] starts = starts_of_edges, targets = targets_of_edges
    cdef Py_ssize_t n = starts.shape[0] - 1, k, edge
    cdef Py_ssize_t[::1] depths = np.ones(n, np.intp)
    for k in range(n):
        for edge in range(starts[k], starts[k + 1]):
            if targets[edge] >= 0 and depths[targets[edge]] >= depths[k]:
                depths[k] = depths[targets[edge]] + 1
    return np.asarray(depths)


def places_of(list nodes):
    """Where nodes were recorded: a list of places (file, line, function) or None, and for each node an index into it."""
    cdef dict numbers = {None: 0}, known = {}
    cdef Py_ssize_t[::1] found = np.zeros(len(nodes), np.intp)
    cdef Py_ssize_t k
    cdef Node node
    for k in range(len(nodes)):
        node = <Node> nodes[k]
        key = (id(node.code), node.instruction)
        number = known.get(key)
        if number is None:
            number = known[key] = numbers.setdefault(place_of(node.code, node.instruction), len(numbers))
        found[k] = number
    return list(numbers), np.asarray(found)


def regions_of(list nodes):
    """The metadata's "region" of each node: a list of names and None, and for each node an index into it."""
    cdef dict numbers = {None: 0}
    cdef Py_ssize_t[::1] found = np.zeros(len(nodes), np.intp)
    cdef Py_ssize_t k
    cdef Node node
    for k in range(len(nodes)):
        node = <Node> nodes[k]
        metadata = held_at(metadata_slot(<NodeExtras> node.extras)) if has_node_extras(node) else None
        if metadata is not None:
            region = metadata.get("region")
            if type(region) is str:
                found[k] = numbers.setdefault(region, len(numbers))
    return list(numbers), np.asarray(found)


def names_of(list nodes):
    """A list of distinct names, and for each node an index into it."""
    cdef dict numbers = {}
    cdef Py_ssize_t[::1] found = np.zeros(len(nodes), np.intp)
    cdef Py_ssize_t k
    for k in range(len(nodes)):
        found[k] = numbers.setdefault(nodes[k].name(), len(numbers))
    return list(numbers), np.asarray(found)


def outputs_of(list nodes):
    """The first output of each node, if it is known: (shape, dtype's name), else None.

    It is known if the node or a node that took it as an input saved it, or if its `grad_fn` was read.
    """
    cdef NumberOf numbers = numbered(nodes)
    cdef dict alike = {}
    cdef list found = [None] * len(nodes)
    cdef Py_ssize_t k
    cdef Node node
    cdef int slot
    for k in range(len(nodes)):
        node = <Node> nodes[k]
        if found[k] is None:
            found[k] = own_output(node, alike)
        for slot in range(3):
            if node.kinds[slot] == INPUT:
                note_input(<Tensor> slot_value(node, slot), numbers, found, alike)
    return found


cdef object own_output(Node node, dict alike):
    """The first output of a node as far as the node knows it."""
    cdef dict outputs = held_at(outputs_slot(<NodeExtras> node.extras)) if has_node_extras(node) else None
    if type(node) is AccumulateGrad:
        return in_words(leaf_of(node).array, alike)
    if node.kinds[OUTPUT_SLOT] == OUTPUT:
        return in_words(<cnp.ndarray> node.saved2, alike)
    if outputs is not None and 0 in outputs:
        return tuple(outputs[0][0]), outputs[0][1].name
    if node.op != NULL and node.shapes is None and not node.wide:
        return like_inputs(node, alike)
    if node.joint:                          # a Function, which knows all of its outputs
        try:
            like = node._input_metadata[0]
        except NotImplementedError:
            return None
        return None if like is None else (tuple(like.shape), like.dtype.name)
    return None


cdef object like_inputs(Node node, dict alike):
    """The output of an elementwise node without broadcasting and conversion, from a saved input; else None."""
    cdef cnp.ndarray array
    cdef int slot, i
    for slot in range(2):
        if node.kinds[slot] != INPUT or (<Tensor> slot_value(node, slot)).is_number:
            continue
        array = (<Tensor> slot_value(node, slot)).array
        for i in range(min(3, node.n_edges)):
            if node.dtype_codes[i] != code_of(array):
                return None
        return in_words(array, alike)
    return None


cdef int note_input(Tensor x, NumberOf numbers, list found, dict alike) except -1:
    cdef Py_ssize_t number
    if x.grad_fn is not None and x.output_number == 0:
        number = number_of(&numbers.table, <PyObject *> x.grad_fn)
        if number >= 0 and found[number] is None:
            found[number] = in_words(x.array, alike)
    return 0


cdef object in_words(cnp.ndarray array, dict alike):
    """(shape, dtype's name); equal ones are one object."""
    cdef tuple key = (sizes_of(array), dtype_of(code_of(array)).name)
    return alike.setdefault(key, key)


def watched_nodes(list nodes):
    """The numbers of the nodes that may have hooks or retain gradients."""
    cdef Py_ssize_t k
    return [k for k in range(len(nodes)) if existing_hooks(<Node> nodes[k]) is not None]


def leaves_among(list nodes):
    """[(number, leaf), ...] of the nodes at which gradients of leaves arrive."""
    cdef Py_ssize_t k
    return [(k, leaf_of(<Node> nodes[k])) for k in range(len(nodes)) if type(nodes[k]) is AccumulateGrad]


def is_released(Node node):
    """Whether a backward released the node's saved tensors."""
    return bool(node.released)
