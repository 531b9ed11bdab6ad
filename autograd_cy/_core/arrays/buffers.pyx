"""Arrays of results: memory from the pool, spare arrays, conversions, orders and regions of memory."""

from autograd_cy._core.runtime cimport numpy_api as cnp

cnp.import_array()

include "buffers/conversions.pyx"
include "buffers/pool.pyx"
include "buffers/buffers.pyx"
include "buffers/orders.pyx"
include "buffers/region.pyx"
include "buffers/row_zeros.pyx"
include "buffers/channels.pyx"
