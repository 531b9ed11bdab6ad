"""What puts tensors together, copies and converts them."""

cdef object zeros_or(object g, object like)
