"""Loops that take and add elements and rows by index."""

from autograd_cy._core.runtime cimport numpy_api as cnp

cnp.import_array()

include "selection_loops/take.pyx"
include "selection_loops/along.pyx"
include "selection_loops/embedding_loops.pyx"
