"""Reductions that compare elements: extremes, sorting, quantiles."""

from autograd_cy._core.runtime cimport numpy_api as cnp

cnp.import_array()

include "ordering/selecting.pyx"
include "ordering/extremes.pyx"
include "ordering/sorting.pyx"
include "ordering/topk.pyx"
include "ordering/hashes.pyx"
include "ordering/statistics.pyx"
