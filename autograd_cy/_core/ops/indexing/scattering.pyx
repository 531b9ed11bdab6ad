"""Elements and rows written, added and reduced where index tensors point."""

from autograd_cy._core.runtime cimport numpy_api as cnp

cnp.import_array()

include "scattering/scatter.pyx"
include "scattering/reducing.pyx"
include "scattering/filling.pyx"
