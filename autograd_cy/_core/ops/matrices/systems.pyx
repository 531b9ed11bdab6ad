"""Systems of linear equations, and the decompositions that solve them: Cholesky, LU, LDL."""

from autograd_cy._core.runtime cimport numpy_api as cnp

cnp.import_array()

include "systems/matrix.pyx"
include "systems/systems.pyx"
include "systems/cholesky.pyx"
include "systems/lu.pyx"
include "systems/lu_systems.pyx"
include "systems/ldl.pyx"
