"""Which backward freed a graph, and how that graph is linked to a new one.

Each backward that frees its graph gets a number, which is stored in the nodes that it frees; the places of the last ones in
the user's code are kept. Everything else is determined when a backward reaches a freed node.
"""

from cpython.object cimport PyObject
from cpython.ref cimport Py_INCREF, Py_XDECREF

from autograd_cy._core.graph.tensor cimport Tensor
from autograd_cy._core.runtime.free_threading cimport Spin, add_number, spin, unspin
from autograd_cy._core.runtime.state cimport described, here, thread_state

cdef enum:
    KEPT = 1024                     # number of backwards kept
    LARGEST = 0x40000000

cdef struct Backward:
    Spin lock
    int number
    int instruction
    PyObject *code                  # owned: the user's code that called it, or NULL
    unsigned long long sequence_number      # number of the next node at that time

cdef Backward[KEPT] backwards
cdef unsigned long long latest = 0


cdef int note_backward() except -1:
    """Store a backward that frees its graph. Returns its number."""
    cdef Backward *entry
    cdef PyObject *old
    cdef int instruction = 0, number
    cdef object code = here(&instruction)
    number = <int> (add_number(&latest, 1) % LARGEST) + 1
    entry = &backwards[number % KEPT]
    Py_INCREF(code)
    spin(&entry.lock)
    old = entry.code
    entry.number = number
    entry.instruction = instruction
    entry.sequence_number = thread_state().sequence_nr
    entry.code = <PyObject *> code
    unspin(&entry.lock)
    Py_XDECREF(old)
    return number


cdef class TaskRoots:
    pass


cdef str history(Node node):
    """The part of the error for a freed node that describes the node, and the running task's path to it."""
    cdef void *task = thread_state().graph_task
    return account_of(node, None if task == NULL else (<TaskRoots> task).roots)


cdef str account_of(Node node, list roots):
    """Where a freed node was recorded and freed, and how the walk from `roots` (None: no walk) reached it."""
    cdef Backward *entry = &backwards[node.freed_by % KEPT]
    cdef Backward noted
    cdef object code
    cdef str text = f"It was {node.name()}{recorded_at(node)} whose saved values are freed"
    spin(&entry.lock)
    noted = entry[0]
    code = <object> noted.code if noted.code != NULL else None
    unspin(&entry.lock)
    if node.freed_by <= 0 or noted.number != node.freed_by:
        return text + "."
    place = described(code, noted.instruction)
    text += f", by the backward at {place}." if place else "."
    if roots is None:
        return text
    link = link_to(node, roots, noted.sequence_number)
    if link is None:
        return text + " This backward starts from the same graph: give the first one retain_graph=True, or compute anew."
    user, maker, output = link
    return (f"{text} A tensor ties that graph to the new one: output {output} of {maker.name()}{recorded_at(maker)}, used by "
            f"{user.name()}{recorded_at(user)}. If gradients are not to flow on into the old graph, detach() it before it is "
            "used there.")


cdef str recorded_at(Node node):
    cdef str place = described(node.code, node.instruction)
    return f" (recorded at {place})" if place else ""


cdef tuple link_to(Node freed, list roots, unsigned long long boundary):
    """On a path to the freed node, the first edge from a node recorded after the boundary to one recorded before it.

    (node, target of its edge, output number), or None if a root is in the old graph itself.
    """
    cdef list stack = [(root, None) for root in roots]
    cdef set seen = set(roots)
    cdef Node node, target
    cdef int i
    while stack:
        node, link = stack.pop()
        if node is freed:
            return link
        for i in range(node.n_edges):
            target = node.next_node(i)
            if target is None or target in seen:
                continue
            seen.add(target)
            if link is None and node.sequence_number >= boundary and target.sequence_number < boundary:
                stack.append((target, (node, target, node.next_number(i))))
            else:
                stack.append((target, link))
    return None


def sequence_number():
    """sequence_number() -> int: the sequence number of this thread's next node."""
    return thread_state().sequence_nr


def is_freed_since(Tensor y, number):
    """is_freed_since(y, number) -> bool: whether y's graph has a freed node with at least that sequence number."""
    cdef unsigned long long boundary = number
    cdef object own = (<object> y).grad_fn
    cdef list stack = [] if own is None else [own]
    cdef set seen = set(stack)
    cdef Node node, target
    cdef int i
    while stack:
        node = stack.pop()
        if node.released:
            return True
        for i in range(node.n_edges):
            target = node.next_node(i)
            if target is not None and target not in seen and target.sequence_number >= boundary:
                seen.add(target)
                stack.append(target)
    return False
