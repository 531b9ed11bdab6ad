"""Sums over dimensions, and what follows from them: means, products, variances, norms."""

from autograd_cy._core.runtime cimport numpy_api as cnp

cnp.import_array()

include "sums/reduction_node.pyx"
include "sums/scaling.pyx"
include "sums/reductions.pyx"
include "sums/variance.pyx"
include "sums/norms.pyx"
include "sums/covariances.pyx"
