"""The dtype objects and their promotion."""

from autograd_cy._core.runtime cimport numpy_api as cnp

cnp.import_array()

include "dtypes/promotion.pyx"
include "dtypes/dtypes.pyx"
