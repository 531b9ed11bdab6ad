"""Other shapes of the same elements: reshapes, transposes, and other views of a whole tensor."""

from autograd_cy._core.runtime cimport numpy_api as cnp

cnp.import_array()

include "reshaping/shape.pyx"
include "reshaping/overlaps.pyx"
include "reshaping/type_views.pyx"
include "reshaping/shape_views.pyx"
include "reshaping/transposes.pyx"
include "reshaping/other_views.pyx"
