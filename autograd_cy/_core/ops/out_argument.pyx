"""Results that are written into `out`."""

from autograd_cy._core.runtime cimport numpy_api as cnp

cnp.import_array()

include "out_argument/out_overlaps.pyx"
include "out_argument/out_types.pyx"
include "out_argument/out_argument.pyx"
