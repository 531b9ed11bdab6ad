"""A graph as lines of text: the order and indentation of its nodes."""

import numpy as np


def lines_of(starts_of_edges, targets_of_edges, depths_of_nodes, roots):
    """The lines of a graph's listing, from edges_among(): the columns (node, level, begins, refers).

    A node appears after all of its predecessors; at earlier places a line refers to it, except that a leaf is repeated. The
    deepest target of a node follows it on the same level, so that a chain stays one. The other targets come before that, one
    level further in, each as a branch whose first line is marked in `begins`.
    """
    cdef const Py_ssize_t[::1] starts = starts_of_edges, targets = targets_of_edges, depths = depths_of_nodes
    cdef Py_ssize_t room = targets.shape[0] + len(roots), count = 0, top = 0, k, i, j, m, target
    cdef Py_ssize_t[::1] waiting = users_of(starts, targets), last_source = np.full(len(waiting), -1, np.intp)
    cdef Py_ssize_t[::1] node = np.empty(room, np.intp), level = np.empty(room, np.intp)
    cdef char[::1] begins = np.zeros(room, np.int8), refers = np.zeros(room, np.int8)
    cdef Py_ssize_t[::1] path = np.empty(room, np.intp), levels = np.empty(room, np.intp)
    cdef char[::1] firsts = np.zeros(room, np.int8)
    for root in reversed(roots):
        k = root
        waiting[k] += 1
        path[top], levels[top], firsts[top] = k, 0, False
        top += 1
    while top:
        top -= 1
        k, m = path[top], levels[top]
        node[count], level[count], begins[count] = k, m, firsts[top]
        waiting[k] -= 1
        refers[count] = waiting[k] > 0 and starts[k] < starts[k + 1]
        count += 1
        if waiting[k] > 0:
            continue
        j = top
        for i in range(starts[k + 1] - 1, starts[k] - 1, -1):
            target = targets[i]
            if target >= 0 and last_source[target] != k:
                last_source[target] = k
                path[top] = target
                top += 1
        put_deepest_first(path, depths, j, top)
        for i in range(j, top):
            levels[i] = m + (i > j)
            firsts[i] = i > j
    return (np.asarray(node[:count]), np.asarray(level[:count]), np.asarray(begins[:count]).astype(bool),
            np.asarray(refers[:count]).astype(bool))


cdef Py_ssize_t[::1] users_of(const Py_ssize_t[::1] starts, const Py_ssize_t[::1] targets):
    """For each node, the number of nodes with an edge to it."""
    cdef Py_ssize_t n = starts.shape[0] - 1, k, i
    cdef Py_ssize_t[::1] counts = np.zeros(n, np.intp), last_source = np.full(n, -1, np.intp)
    for k in range(n):
        for i in range(starts[k], starts[k + 1]):
            if targets[i] >= 0 and last_source[targets[i]] != k:
                last_source[targets[i]] = k
                counts[targets[i]] += 1
    return counts


cdef void put_deepest_first(Py_ssize_t[::1] path, const Py_ssize_t[::1] depths, Py_ssize_t start, Py_ssize_t end) noexcept:
    """Move the deepest node of path[start:end] (the last of several) to the front: it is then popped last."""
    cdef Py_ssize_t i, deepest = start, node
    for i in range(start + 1, end):
        if depths[path[i]] > depths[path[deepest]]:
            deepest = i
    if end > start:
        node = path[deepest]
        for i in range(deepest, start, -1):
            path[i] = path[i - 1]
        path[start] = node
