"""Writes in place: views, CopySlices, and all or nothing."""

from autograd_cy._core.runtime cimport numpy_api as cnp

cnp.import_array()

include "inplace/views.pyx"
include "inplace/copy_slices.pyx"
include "inplace/change.pyx"
include "inplace/inplace.pyx"
