"""Joining, copying and converting tensors."""

cdef object zeros_or(object g, object like)
