"""The override protocol: objects and subclasses of Tensor that define `__torch_function__`."""

cdef object declined(str name, object left, object right)
