"""Loops of convolutions over planes, and of the columns of their windows."""

from autograd_cy._core.runtime cimport numpy_api as cnp

cnp.import_array()

include "convolutions/patches.pyx"
include "convolutions/plane_convolutions.pyx"
include "convolutions/convolutions.pyx"
include "convolutions/convolution_gradients.pyx"
include "convolutions/sliding.pyx"
