"""Functions of the user: the call, its node, its results and intermediates."""

from autograd_cy._core.runtime cimport numpy_api as cnp

cnp.import_array()

include "functions/function_results.pyx"
include "functions/intermediates.pyx"
include "functions/function_node.pyx"
include "functions/function_call.pyx"
include "functions/basic_functions.pyx"
