"""Products that einsum writes, and operations composed of products."""

from autograd_cy._core.runtime cimport numpy_api as cnp

cnp.import_array()

include "contractions/einsum.pyx"
include "contractions/trilinear.pyx"
include "contractions/composed.pyx"
include "contractions/distances.pyx"
