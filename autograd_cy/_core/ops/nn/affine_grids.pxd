cdef bint aligned_argument(object align_corners) except -1
