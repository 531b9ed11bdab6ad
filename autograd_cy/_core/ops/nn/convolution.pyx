"""Convolutions, and the columns of their windows."""

from autograd_cy._core.runtime cimport numpy_api as cnp

cnp.import_array()

include "convolution/kept_formats.pyx"
include "convolution/conv_arguments.pyx"
include "convolution/conv_arrays.pyx"
include "convolution/convolution.pyx"
include "convolution/convs.pyx"
include "convolution/conv_tbc.pyx"
include "convolution/folding.pyx"
