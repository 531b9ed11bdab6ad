"""Loops that compare elements in order: top elements, keys of sorting, scans."""

from autograd_cy._core.runtime cimport numpy_api as cnp

cnp.import_array()

include "ordering_loops/selection.pyx"
include "ordering_loops/sorting_keys.pyx"
include "ordering_loops/scan_loops.pyx"
