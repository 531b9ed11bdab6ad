"""Interpolation, and sampling at the points of a grid."""

from autograd_cy._core.runtime cimport numpy_api as cnp

cnp.import_array()

include "sampling/affine_grids.pyx"
include "sampling/grid_tables.pyx"
include "sampling/grid_sampling.pyx"
include "sampling/interpolation.pyx"
