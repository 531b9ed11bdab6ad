"""Places of NaN, and the stacks that recorded nodes."""

from autograd_cy._core.runtime cimport numpy_api as cnp

cnp.import_array()

include "anomaly/nans.pyx"
include "anomaly/anomaly.pyx"
