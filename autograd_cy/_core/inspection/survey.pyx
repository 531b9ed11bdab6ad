"""The graph as the user reads it: its nodes, their memory, and a listing."""

from autograd_cy._core.runtime cimport numpy_api as cnp

cnp.import_array()

include "survey/survey.pyx"
include "survey/holdings.pyx"
include "survey/listing.pyx"
