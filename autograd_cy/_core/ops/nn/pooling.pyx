"""Pooling and unpooling."""

from autograd_cy._core.runtime cimport numpy_api as cnp

cnp.import_array()

include "pooling/pooling_sizes.pyx"
include "pooling/tap_tables.pyx"
include "pooling/tapping.pyx"
include "pooling/max_pooling.pyx"
include "pooling/adaptive_max_pooling.pyx"
include "pooling/average_pooling.pyx"
include "pooling/fractional_pooling.pyx"
include "pooling/unpooling.pyx"
