"""The ready nodes, which have all of their gradients: a heap, the latest recorded on top (knows only sequence numbers)."""

from cpython.mem cimport PyMem_Free, PyMem_Realloc
from cpython.object cimport PyObject


cdef struct Ready:
    unsigned long long sequence_number
    PyObject *node                  # borrowed: the roots keep the graph alive


cdef struct ReadyQueue:
    Ready *items
    Py_ssize_t size
    Py_ssize_t room


cdef inline int push(ReadyQueue *queue, unsigned long long sequence_number, PyObject *node) except -1:
    cdef Ready *items = queue.items
    cdef Py_ssize_t k = queue.size, parent
    if k == queue.room:
        items = <Ready *> PyMem_Realloc(items, (2 * k + 16) * sizeof(Ready))
        if items == NULL:
            raise MemoryError("no memory for the ready queue")
        queue.items = items
        queue.room = 2 * k + 16
    queue.size += 1
    while k > 0:
        parent = (k - 1) // 2
        if items[parent].sequence_number >= sequence_number:
            break
        items[k] = items[parent]
        k = parent
    items[k] = Ready(sequence_number, node)
    return 0


cdef inline PyObject *pop(ReadyQueue *queue) noexcept:
    """Remove and return the node with the largest number; the queue must not be empty."""
    cdef Ready *items = queue.items
    cdef PyObject *top = items[0].node
    cdef Ready last
    cdef Py_ssize_t k = 0, child
    queue.size -= 1
    last = items[queue.size]
    while True:
        child = 2 * k + 1
        if child >= queue.size:
            break
        if child + 1 < queue.size and items[child + 1].sequence_number > items[child].sequence_number:
            child += 1
        if items[child].sequence_number <= last.sequence_number:
            break
        items[k] = items[child]
        k = child
    items[k] = last
    return top


cdef inline void free_queue(ReadyQueue *queue) noexcept:
    PyMem_Free(queue.items)
    queue.items = NULL
    queue.size = queue.room = 0
