"""Products: of vectors and matrices, and einsum."""
