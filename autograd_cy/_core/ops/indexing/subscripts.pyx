"""Indexing with brackets: slices, masks and index tensors, read and written."""

from autograd_cy._core.runtime cimport numpy_api as cnp

cnp.import_array()

include "subscripts/index_tensors.pyx"
include "subscripts/getitem.pyx"
include "subscripts/index_put.pyx"
include "subscripts/setitem.pyx"
include "subscripts/batched_index.pyx"
