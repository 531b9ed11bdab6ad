"""Products of matrices in blocks, triangles, and elimination."""

from autograd_cy._core.runtime cimport numpy_api as cnp

cnp.import_array()

include "gemm/panels.pyx"
include "gemm/gemm.pyx"
include "gemm/block_products.pyx"
include "gemm/triangles.pyx"
include "gemm/elimination.pyx"
include "gemm/distance_loops.pyx"
