"""Loops of interpolation: weighted elements of lines and grids."""

from autograd_cy._core.runtime cimport numpy_api as cnp

cnp.import_array()

include "sampling_loops/taps.pyx"
include "sampling_loops/grid_loops.pyx"
