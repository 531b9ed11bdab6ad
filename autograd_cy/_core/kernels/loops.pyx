"""Elementwise loops over strided arrays, NumPy's and ours: the walk that calls them, copies, sums into an array, choices."""

from autograd_cy._core.runtime cimport numpy_api as cnp

cnp.import_array()

include "loops/loops.pyx"
include "loops/ufunc_loops.pyx"
include "loops/copies.pyx"
include "loops/adding.pyx"
include "loops/choice_loops.pyx"
