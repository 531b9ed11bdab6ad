"""QR, eigenvalues, singular values, and what follows from them: least squares, determinants, norms, functions of matrices."""

from autograd_cy._core.runtime cimport numpy_api as cnp

cnp.import_array()

include "decompositions/decompositions.pyx"
include "decompositions/functions.pyx"
include "decompositions/lstsq.pyx"
include "decompositions/reflections.pyx"
include "decompositions/cofactors.pyx"
include "decompositions/determinants.pyx"
include "decompositions/matrix_norms.pyx"
