"""Views of a part of a tensor, copies of views, and views that take the place of their tensor."""

from autograd_cy._core.runtime cimport numpy_api as cnp

cnp.import_array()

include "slicing/slicing.pyx"
include "slicing/parts.pyx"
include "slicing/view_copy_node.pyx"
include "slicing/strided.pyx"
include "slicing/view_copies.pyx"
include "slicing/inplace_views.pyx"
include "slicing/memory.pyx"
