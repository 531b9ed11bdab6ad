"""Random numbers, and dropout."""

from autograd_cy._core.runtime cimport numpy_api as cnp

cnp.import_array()

include "random_loops/random_loops.pyx"
include "random_loops/dropout_loops.pyx"
