"""Interpolation, and sampling at the points of a grid."""

# in affine_grids.pyx
cdef bint aligned_argument(object align_corners) except -1

# in grid_tables.pyx
cdef tuple grid_table(object grid, tuple sizes, tuple options)
