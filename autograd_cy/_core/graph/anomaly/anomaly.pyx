"""Anomaly mode: traces on nodes, and the report on a node that failed.

A node keeps the call stack that recorded it as code objects and line numbers; the text is made on demand. `metadata` holds
both entries under PyTorch's names: `traceback_`, and `parent_`, the node whose backward made this one.
"""

cimport cython

import linecache
import sys
import warnings

from autograd_cy._core.graph.memory cimport is_sparse
from autograd_cy._core.graph.node cimport Node, NodeExtras, extras_of, has_node_extras, held_at, metadata_slot
from autograd_cy._core.graph.tensor cimport Tensor
from autograd_cy._core.runtime.state cimport (
    ANOMALY, KEEP_NAN, PACKAGE, described, here, place_of as place_in_code, thread_state)

cdef extern from "Python.h":
    int raise_pending "-!!PyErr_Occurred"() except -1


@cython.final
cdef class Trace:
    """The call stack that recorded a node, outermost first: a sequence of texts like those of traceback.format_list()."""
    cdef list calls             # (code object, line), innermost first
    cdef str nan                # where the result has a NaN that no input has, or None

    def __len__(self):
        return len(self.calls)

    def __getitem__(self, index):
        return self.texts()[index]

    def __iter__(self):
        return iter(self.texts())

    def __repr__(self):
        return repr(self.texts())

    cdef list texts(self):
        cdef list texts = []
        for code, line in reversed(self.calls):
            text = f'  File "{code.co_filename}", line {line}, in {code.co_name}\n'
            source = linecache.getline(code.co_filename, line).strip()
            texts.append(f"{text}    {source}\n" if source else text)
        return texts


cdef int note_trace(Node node, object outputs, object inputs, int mode) except -1:
    """Store on a new node the call stack, the node that runs, and the position of a new NaN."""
    cdef NodeExtras extras = extras_of(node)
    cdef Trace trace = Trace.__new__(Trace)
    trace.calls = []
    frame = sys._getframe()
    while frame is not None:
        if not frame.f_code.co_filename.startswith(PACKAGE):
            trace.calls.append((frame.f_code, frame.f_lineno))
        frame = frame.f_back
        raise_pending()         # without memory, f_back is None and the error is left behind
    if not mode & KEEP_NAN:
        trace.nan = new_nan(outputs, inputs)
    if extras.metadata is None:
        extras.metadata = {}
    extras.metadata["traceback_"] = trace
    if thread_state().node != NULL:
        extras.metadata["parent_"] = <Node> thread_state().node
    return 0


cdef str new_nan(object outputs, object inputs):
    """Where the outputs have a NaN, if no input has one; else None."""
    cdef Py_ssize_t position
    for y in outputs if type(outputs) is tuple else (outputs,):
        if not isinstance(y, Tensor) or is_sparse(y):
            continue
        position = first_nan((<Tensor> y).array)
        if position >= 0:
            for x in inputs:
                if isinstance(x, Tensor) and not is_sparse(x) and first_nan((<Tensor> x).array) >= 0:
                    return None
            return place_of((<Tensor> y).array, position)
    return None


cdef Trace trace_of(Node node):
    """The trace stored when the node was made, or None."""
    cdef object metadata = held_at(metadata_slot(<NodeExtras> node.extras)) if has_node_extras(node) else None
    found = None if metadata is None else metadata.get("traceback_")
    return found if isinstance(found, Trace) else None


# the report


cdef int report(object error, Node node) except -1:
    """Say where the failed node was recorded: in notes on the exception, and in warnings, as PyTorch does."""
    cdef str text = f"Error detected in {node.name()}. "
    cdef set seen = set()
    if trace_of(node) is None:
        text += "No forward pass information available. Enable detect anomaly during forward pass for more information."
        place = described(node.code, node.instruction)
        tell(error, f"{text} It was recorded at {place}." if place else text)
        return 0
    tell(error, f"{text}Traceback of forward call that caused the error:\n{''.join(trace_of(node))}")
    while node not in seen:
        seen.add(node)
        parent = (<NodeExtras> node.extras).metadata.get("parent_")
        if not isinstance(parent, Node) or trace_of(parent) is None:
            break
        node = <Node> parent
        tell(error, f"Previous calculation was induced by {node.name()}. Traceback of forward call that induced the "
                    f"previous calculation:\n{''.join(trace_of(node))}")
    return 0


cdef int tell(object error, str text) except -1:
    """Add a note, and warn at the line that called backward. If a filter raises, the text goes to stderr."""
    cdef int instruction = 0
    cdef object code = here(&instruction)
    cdef tuple place = place_in_code(code, instruction)
    error.add_note(text)
    try:
        if place is None:
            warnings.warn(text, UserWarning)
        else:
            warnings.warn_explicit(text, UserWarning, place[0], place[1])
    except UserWarning:
        print(f"UserWarning: {text}", file=sys.stderr)
    return 0


# NaN before backward


cdef int check_roots_for_nan(tuple roots, tuple seeds, int mode) except -1:
    """Refuse a root or seed with NaN, and name the first NaN of the forward pass if nodes recorded it."""
    cdef Py_ssize_t i
    cdef Node origin
    for i in range(len(roots)):
        try:
            check_root(roots[i], seeds[i], i)
        except RuntimeError as error:
            if mode & ANOMALY and isinstance(roots[i], Tensor) and (<Tensor> roots[i]).grad_fn is not None:
                origin = first_with_nan((<Tensor> roots[i]).grad_fn)
                if origin is not None:
                    error.add_note(f"The forward pass made its first NaN in {origin.name().partition('Backward')[0]}, "
                                   f"{trace_of(origin).nan}.")
                report(error, (<Tensor> roots[i]).grad_fn if origin is None else origin)
            raise
    return 0


cdef Node first_with_nan(Node root):
    """The earliest recorded node, among those reachable from `root`, that made a NaN; None if there is none."""
    cdef list stack = [root]
    cdef set seen = {root}
    cdef Node node, target, first = None
    cdef int i
    while stack:
        node = <Node> stack.pop()
        if trace_of(node) is not None and trace_of(node).nan is not None:
            if first is None or node.sequence_number < first.sequence_number:
                first = node
        for i in range(node.n_edges):
            target = node.next_node(i)
            if target is not None and target not in seen:
                seen.add(target)
                stack.append(target)
    return first
