"""Calls of operations as events of the profiler, with the shapes of operands and results where these are asked for."""

from cpython.object cimport PyObject

from autograd_cy._core.graph.tensor cimport Tensor
from autograd_cy._core.recording.events cimport OPERATION, SHAPES, Span, begin, end, note_operand, note_result, options


cdef Span begin_call(PyObject *function, PyObject **operands, Py_ssize_t n) except *:
    cdef Span span = begin(OPERATION, function)
    cdef Py_ssize_t i
    if options & SHAPES:
        for i in range(n):
            note_operands(span, operands[i])
    return span


cdef int end_call(Span span, PyObject *result) except -1:
    """End the event of a call; `result` is NULL after an error."""
    if options & SHAPES and result != NULL:
        note_results(span, result)
    end(span)
    return 0


cdef int note_operands(Span span, PyObject *value) noexcept:
    """Note a Tensor, or the Tensors in a list or tuple."""
    if isinstance(<object> value, Tensor):
        note_operand(span, (<Tensor> value).array)
    elif type(<object> value) is list or type(<object> value) is tuple:
        for item in <object> value:
            if isinstance(item, Tensor):
                note_operand(span, (<Tensor> item).array)
    return 0


cdef int note_results(Span span, PyObject *value) noexcept:
    """Note a Tensor, or the first of several."""
    if isinstance(<object> value, Tensor):
        note_result(span, (<Tensor> value).array)
    elif isinstance(<object> value, tuple) and (<object> value) and isinstance((<object> value)[0], Tensor):
        note_result(span, (<Tensor> (<object> value)[0]).array)
    return 0
