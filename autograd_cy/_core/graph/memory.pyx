"""Memory that tensors share: guards, versions, layouts, gradients of zeros."""

from autograd_cy._core.runtime cimport numpy_api as cnp

cnp.import_array()

include "memory/guard.pyx"
include "memory/versions.pyx"
include "memory/layouts.pyx"
include "memory/zeros.pyx"
