"""Setting handlers of calls: cases 7 to 9 of NOTE [Overrides] in overrides.pyx."""

from contextlib import contextmanager

from cpython.object cimport PyObject

from autograd_cy._core.runtime.entry cimport watch_entries


cdef bint is_last_used = False              # whether a last handler was ever set


def hand_last_to(handler):
    """hand_last_to(handler): set the last handler of this context: case 9 of NOTE [Overrides]; None removes it.

    After the first use calls always look for it: contexts are copied, and nothing tells when the last copy has ended.
    """
    global is_last_used, n_handlers
    last_handler.set(handler)
    if handler is not None and not is_last_used:
        is_last_used = True
        arm()
        n_handlers += 1
        watch_entries(entered, 1)


# What the names of the facade's modules begin with whose public functions make tensors, or are composed of operations: case 8.
cdef tuple MAKERS = tuple([f"autograd_cy.{name}" for name in (
    "_creation. _random.sampling random nn.functional nn._embedding_bag nn._multi_head").split()])


@contextmanager
def calls_handed_to(handler, creations=False):
    """Within it, handler(function, args, kwargs) answers the calls of operations: cases 7 and 8 of NOTE [Overrides].

    With `handler` None the calls are made as they are, even within another handler.
    """
    global n_handlers
    arm()
    token, other = call_handler.set(handler), sees_creations.set(creations)
    n_handlers += 1
    watch_entries(entered, 1)
    try:
        yield
    finally:
        watch_entries(entered, -1)
        n_handlers -= 1
        put_back(call_handler, token)
        put_back(sees_creations, other)


cdef PyObject *entered(PyObject *function, PyObject **args, size_t n, PyObject *names) except? NULL:
    """Case 8: the handler's answer; NULL without an error if the handler does not get the call."""
    if not has_handler():
        return NULL
    if not getattr(<object> function, "_home", "").startswith(MAKERS) or (<object> function).__name__.startswith("_"):
        return NULL
    cdef list arguments = arguments_of(args, n, names)
    cdef object handler = handler_of_creations(arguments)
    return NULL if handler is None else handled(handler, <object> function, arguments, keys_of(names))
