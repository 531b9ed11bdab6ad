"""Products of matrices and vectors, alone and added to another tensor."""

from autograd_cy._core.runtime cimport numpy_api as cnp

cnp.import_array()

include "matmul/mm.pyx"
include "matmul/linalg.pyx"
include "matmul/matmul.pyx"
include "matmul/scaled_sums.pyx"
