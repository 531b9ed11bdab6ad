"""Padding, and shuffles of pixels and channels."""

from autograd_cy._core.runtime cimport numpy_api as cnp

cnp.import_array()

include "padding/padding.pyx"
include "padding/shuffles.pyx"
