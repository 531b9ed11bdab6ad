"""Sums over planes and rows of strided arrays, variances, extremes, and the gradients of reductions."""

from autograd_cy._core.runtime cimport numpy_api as cnp

cnp.import_array()

include "reduction_loops/runs.pyx"
include "reduction_loops/plane_loops.pyx"
include "reduction_loops/partials.pyx"
include "reduction_loops/reduction_loops.pyx"
include "reduction_loops/extended_loops.pyx"
include "reduction_loops/variance_loops.pyx"
include "reduction_loops/broadcast_sums.pyx"
include "reduction_loops/reduction_gradients.pyx"
include "reduction_loops/extreme_gradients.pyx"
