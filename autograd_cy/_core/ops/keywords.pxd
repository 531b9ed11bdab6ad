"""Arguments that operations accept although their signatures lack them."""

cdef bint has_another_meaning(object function, list args, tuple names) except -1
cdef object as_numbers(object arguments, bint inside=*)
cdef object called_otherwise(object function, tuple args, dict kwargs)
